"""`expand[]`: puts whole objects where an answer has ids."""

from typing import cast

from orrery.sandbox.processor.errors import ApiError, invalid
from orrery.sandbox.processor.lists import page
from orrery.sandbox.processor.world import World
from orrery.sandbox.state import Document

MAX_DEPTH = 4
"""The vendor's published limit."""

_KIND_OF = {
    "charge": "charge",
    "customer": "customer",
    "latest_charge": "charge",
    "payment_intent": "payment_intent",
    "review": "review",
}


def expand(world: World, answer: Document, paths: list[str]) -> Document:
    """Return the answer with each path (`line_items`, `data.payment_intent.latest_charge`) expanded."""
    for path in paths:
        steps = path.split(".")
        if len(steps) > MAX_DEPTH:
            raise invalid(f"You cannot expand more than {MAX_DEPTH} levels of a property.", "expand")
        answer = _expand(world, answer, steps, path)
    return answer


def _expand(world: World, subject: Document, steps: list[str], path: str) -> Document:
    name, *below = steps
    if name == "data" and subject["object"] == "list":
        return subject | {"data": [_expand(world, one, below, path) for one in subject["data"]]}
    if name == "line_items" and subject["object"] == "checkout.session":
        if below:
            raise invalid(
                f"The sandbox does not simulate the expansion {path}.", "expand", "sandbox_not_simulated"
            )
        return subject | {"line_items": line_items(world, subject)}
    if name not in _KIND_OF or name not in subject:
        raise _not_expandable(path)
    found = _object(world, name, subject[name])
    if found is None:
        return subject
    return subject | {name: _expand(world, found, below, path) if below else found}


def _object(world: World, name: str, there: object) -> Document | None:
    if isinstance(there, dict):
        return cast("Document", there)
    return world.state.get(_KIND_OF[name], str(there)) if there is not None else None


def _not_expandable(path: str) -> ApiError:
    return invalid(f"This property cannot be expanded ({path}).", "expand")


def line_items(world: World, session: Document, params: Document | None = None) -> Document:
    """Return a page of the session's line items."""
    stored = world.state.get("_line_items", session["id"])
    items: list[Document] = stored["items"] if stored else []
    return page(items, params or {}, f"/v1/checkout/sessions/{session['id']}/line_items")
