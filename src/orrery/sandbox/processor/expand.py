"""`expand[]`: puts the line items into sessions, which is all that we have expanded."""

from orrery.sandbox.processor.errors import invalid
from orrery.sandbox.processor.lists import page
from orrery.sandbox.processor.world import World
from orrery.sandbox.state import Document


def expand(world: World, answer: Document, paths: list[str]) -> Document:
    """Return the answer with each path expanded: `line_items`, or `data.line_items` in a list."""
    for path in paths:
        subjects = answer["data"] if path.startswith("data.") else [answer]
        if path.removeprefix("data.") != "line_items" or any(
            one["object"] != "checkout.session" for one in subjects
        ):
            raise invalid(f"This property cannot be expanded ({path}).", "expand")
        shown = [one | {"line_items": line_items(world, one)} for one in subjects]
        answer = answer | {"data": shown} if path.startswith("data.") else shown[0]
    return answer


def line_items(world: World, session: Document) -> Document:
    """Return the session's line items."""
    stored = world.state.get("_line_items", session["id"])
    items: list[Document] = stored["items"] if stored else []
    return page(items, {}, f"/v1/checkout/sessions/{session['id']}/line_items")
