"""Changes to what stands in a token or an answer, as a lever asks for them."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

PARTS = ("id", "access", "client_info", "answer", "discovery")
"""What can be changed: the claims of either token, what client_info says, the answer's own members, and those of
the discovery document."""

SIGNERS = ("foreign", "none")
"""How an id token can be signed wrongly: with a key that is not published, or not at all."""


def doctored(members: Mapping[str, object], changes: Iterable[Mapping[str, Any]]) -> str:
    """Return a JSON text with the members, some dropped, set or doubled: a doubled one stands there twice."""
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
    """Return who signs an id token, where a change says so."""
    return next((one["sign"] for one in reversed(list(changes)) if "sign" in one), "")


def refused(change: Mapping[str, Any]) -> str:
    """Return why a change cannot be made; empty when it can."""
    asked = [one for one in ("drop", "set", "double", "sign") if one in change]
    if change.get("part") not in PARTS or len(asked) != 1:
        return f"`part` is one of {', '.join(PARTS)}; with it comes one of drop, set, double and sign."
    if "sign" in change and (change["part"] != "id" or change["sign"] not in SIGNERS):
        return f"`sign` is for `id` only, and one of {', '.join(SIGNERS)}."
    return ""
