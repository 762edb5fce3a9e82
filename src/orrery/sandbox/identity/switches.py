"""The levers that are on: what the identity provider does wrongly, until they are undone or the sandbox ends."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from orrery.sandbox.ground import Document

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


SWITCHES = {
    "consent": "Every grant is refused for want of consent (AADSTS65001).",
    "device_code": "Conditional Access blocks an approved device code (AADSTS53003).",
    "confidential": "The application is not a public client (AADSTS7000218).",
    "keys": "The signing key is rotated, and the one before it is gone from the list.",
    "skew": "The times in tokens are late by seconds, or early.",
    "scopes": "Scopes are granted that were not asked for: those in add.",
    "opaque": "Access tokens are opaque, as those of a personal account.",
    "doctor": "A part of each token answer is changed: id, access, client_info or answer.",
}
"""Each lever with what it does."""

BY_JSON = ("doctor", "scopes", "skew")
"""Those that need values: the page has no form for them."""


class Switches:
    """The levers: `on` has those that are on, with their values."""

    def __init__(self) -> None:
        self.on: dict[str, Document] = {}

    def pull(self, name: str, given: Document) -> None:
        """Turn a lever on: `keys` rotates once more, `doctor` adds a change. Raises `ValueError`."""
        if name not in SWITCHES:
            raise ValueError(f"A lever is one of {', '.join(SWITCHES)}.")
        self.on[name] = _VALUES.get(name, lambda given, _: given)(given, self.values(name))

    def values(self, name: str) -> Document:
        """Return the values of a lever, none of one that is off."""
        return self.on.get(name, {})

    def changes(self, part: str) -> list[dict[str, Any]]:
        """Return the changes to one part of an answer, oldest first."""
        asked: list[dict[str, Any]] = self.values("doctor").get("changes", [])
        return [one for one in asked if one["part"] == part]


def _doctored(given: Document, before: Document) -> Document:
    if given.get("part") not in PARTS or sum(one in given for one in _HOW) != 1:
        raise ValueError(f"`part` is one of {', '.join(PARTS)}; with it comes one of {', '.join(_HOW)}.")
    return {"changes": [*before.get("changes", []), given]}


_VALUES: dict[str, Callable[[Document, Document], Document]] = {
    "keys": lambda _, before: {"rotated": before.get("rotated", 0) + 1},
    "skew": lambda given, _: {"seconds": int(given["seconds"])},
    "scopes": lambda given, _: {"add": list(given["add"])},
    "doctor": _doctored,
}
"""What a lever is turned on with, of what is given and what it was turned on with before."""
