"""The levers that are on: what the identity provider does wrongly, until they are undone."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from orrery.sandbox.ground import Document, DocumentStore
from orrery.sandbox.identity.directory import TENANTS

PARTS = ("id", "access", "client_info", "answer", "discovery")
"""What can be changed: the claims of either token, client_info, and the members of the answer and of the discovery
document."""

SIGNERS = ("foreign", "none")
"""How an id token can be signed wrongly: with a key that is not published, or not at all."""


def changed_members(members: Mapping[str, object], changes: Iterable[Mapping[str, Any]]) -> str:
    """Return a JSON text with the members, some dropped, set or doubled: a doubled one is there twice."""
    pairs = list(members.items())
    for change in changes:
        pairs = _changed(pairs, change)
    return "{" + ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in pairs) + "}"


def _changed(pairs: list[tuple[str, object]], change: Mapping[str, Any]) -> list[tuple[str, object]]:
    known = dict(pairs)
    match change:
        case {"drop": name}:
            return [one for one in pairs if one[0] != name]
        case {"set": name}:
            return [*(one for one in pairs if one[0] != name), (name, change.get("value"))]
        case {"double": name}:
            return [*pairs, (name, change.get("value", known.get(name)))]
        case _:
            return pairs


def signed_by(changes: Iterable[Mapping[str, Any]]) -> str:
    """Return who signs an id token by a change; empty without one."""
    return next((one["sign"] for one in reversed(list(changes)) if "sign" in one), "")


def why_refused(change: Mapping[str, Any]) -> str:
    """Return why a change cannot be made; empty when it can."""
    asked = [one for one in ("drop", "set", "double", "sign") if one in change]
    if change.get("part") not in PARTS or len(asked) != 1:
        return f"`part` is one of {', '.join(PARTS)}; with it comes one of drop, set, double and sign."
    if "sign" in change and (change["part"] != "id" or change["sign"] not in SIGNERS):
        return f"`sign` is for `id` only, and one of {', '.join(SIGNERS)}."
    return ""


_KIND = "_identity_lever"

SWITCHES = {
    "consent": "Every grant is refused for want of consent (AADSTS65001).",
    "device_code": "Conditional Access blocks an approved device code (AADSTS53003).",
    "confidential": "The application is not a public client (AADSTS7000218).",
    "keys": "The signing key is rotated, and the one before it is gone from the list.",
    "skew": "The times in tokens are late by seconds, or early.",
    "slow_down": "The next poll for a device code is too fast, or the next ones by count.",
    "scopes": "Scopes are granted that were not asked for: those in add.",
    "opaque": "Access tokens are opaque, as those of a personal account.",
    "doctor": "A part of each token answer is changed: id, access, client_info or answer.",
}
"""Each lever with what it does. With `tenant`, the first two hold for that tenant only."""

BY_JSON = frozenset({"doctor", "scopes", "skew"})
"""Those that need values: the page has no form for them."""


class Switches:
    """The levers that are on, with their values."""

    def __init__(self, state: DocumentStore) -> None:
        self._state = state

    def on(self) -> Document:
        """Return the levers that are on, each with its values."""
        return {one["id"]: one["values"] for one in reversed(list(self._state.newest_first(_KIND)))}

    def values(self, name: str) -> dict[str, Any] | None:
        """Return the values of a lever that is on, or None."""
        found = self._state.get(_KIND, name)
        return None if found is None else found["values"]

    def holds(self, name: str, tenant: str) -> bool:
        """Return whether a lever is on for a tenant."""
        values = self.values(name)
        return values is not None and values.get("tenant", tenant) == tenant

    def pull(self, name: str, given: Document) -> None:
        """Turn a lever on: `keys` rotates once more, `doctor` adds a change. Raises `ValueError`."""
        if name not in SWITCHES:
            raise ValueError(f"A lever is one of {', '.join(SWITCHES)}.")
        self.turn_on(name, _values(name, given, self.values(name) or {}))

    def turn_on(self, name: str, values: Document) -> None:
        self._state.save({"object": _KIND, "id": name, "values": values})

    def turn_off(self, name: str) -> None:
        self._state.remove(_KIND, name)

    def key(self) -> str:
        """Return the name of the key that signs now."""
        return str((self.values("keys") or {}).get("rotated", 0))

    def changes(self, part: str) -> list[dict[str, Any]]:
        """Return the changes to one part of an answer, oldest first."""
        asked: list[dict[str, Any]] = (self.values("doctor") or {}).get("changes", [])
        return [one for one in asked if one["part"] == part]


def _values(name: str, given: Document, before: Document) -> Document:
    """Return what a lever is turned on with."""
    match name:
        case "keys":
            return {"rotated": before.get("rotated", 0) + 1}
        case "skew":
            return {"seconds": int(given["seconds"])}
        case "slow_down":
            return {"count": int(given.get("count", 1)), "status": int(given.get("status", 400))}
        case "scopes":
            return {"add": str(given["add"]).split() if isinstance(given["add"], str) else list(given["add"])}
        case "doctor":
            if why := why_refused(given):
                raise ValueError(why)
            return {"changes": [*before.get("changes", []), given]}
        case _:
            if (tenant := given.get("tenant")) not in {None, *TENANTS}:
                raise ValueError(f"{tenant!r} is no tenant: one of {', '.join(TENANTS)}.")
            return {} if tenant is None else {"tenant": tenant}
