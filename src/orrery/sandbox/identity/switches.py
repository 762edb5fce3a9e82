"""The levers that are on: what the identity provider does wrongly, until they are undone."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from orrery.sandbox.ground import Document, DocumentStore

PARTS = ("id", "access", "client_info", "answer", "discovery")
"""What can be changed: the claims of either token, client_info, and the members of the answer and of the discovery
document."""

_HOW = ("drop", "set", "double", "sign")
"""How: `sign` is for the id token, with a key that is not published (`foreign`), or not at all (`none`)."""


def changed_members(members: Mapping[str, object], changes: Iterable[Mapping[str, Any]]) -> str:
    """Return a JSON text with the members, some dropped, set or doubled: a doubled one is there twice."""
    pairs = list(members.items())
    for change in changes:
        [(how, name)] = [(one, change[one]) for one in _HOW if one in change]
        others = [one for one in pairs if one[0] != name]
        changed = (name, change.get("value", dict(pairs).get(name)))
        pairs = {"drop": others, "set": [*others, changed], "double": [*pairs, changed], "sign": pairs}[how]
    return "{" + ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in pairs) + "}"


def signed_by(changes: Iterable[Mapping[str, Any]]) -> str:
    """Return who signs an id token by a change; empty without one."""
    return next((one["sign"] for one in reversed(list(changes)) if "sign" in one), "")


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
        self.turn_on(name, _VALUES.get(name, lambda given, _: given)(given, self.values(name) or {}))

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


def _doctored(given: Document, before: Document) -> Document:
    if given.get("part") not in PARTS or sum(one in given for one in _HOW) != 1:
        raise ValueError(f"`part` is one of {', '.join(PARTS)}; with it comes one of {', '.join(_HOW)}.")
    return {"changes": [*before.get("changes", []), given]}


_VALUES: dict[str, Callable[[Document, Document], Document]] = {
    "keys": lambda _, before: {"rotated": before.get("rotated", 0) + 1},
    "skew": lambda given, _: {"seconds": int(given["seconds"])},
    "slow_down": lambda given, _: {"count": int(given.get("count", 1)), "status": int(given.get("status", 400))},
    "scopes": lambda given, _: {"add": list(given["add"])},
    "doctor": _doctored,
}
"""What a lever is turned on with, of what is given and what it was turned on with before."""
