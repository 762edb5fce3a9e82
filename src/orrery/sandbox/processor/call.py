"""One checked request to the processor, and lists and expansions of what it is answered."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from orrery.sandbox.ground import Document
from orrery.sandbox.processor.parameters import Shape
from orrery.sandbox.processor.world import World, invalid, no_such


@dataclass(frozen=True, slots=True)
class ApiCall:
    """`params` are typed by the operation's description, `id` is that in the path, `version` is the API's."""

    world: World
    path: str
    id: str
    params: Document
    version: str


@dataclass(frozen=True, slots=True)
class ApiRun:
    """What an operation takes, and what it does."""

    parameters: Shape
    run: Callable[[ApiCall], Document]


DEFAULT_LIMIT, MAX_LIMIT = 10, 100
"""facts/checkout.md, Lists."""

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "gt": lambda a, b: a > b,
    "gte": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "lte": lambda a, b: a <= b,
}
_PAGING = {"limit", "starting_after", "expand", "created"}


def page(documents: Iterable[Document], params: Document, url: str) -> Document:
    """Return one page of `documents` (newest first), filtered by `created` and by equal fields."""
    limit = params.get("limit", DEFAULT_LIMIT)
    if not 1 <= limit <= MAX_LIMIT:
        raise invalid(
            f"Invalid limit: it must be between 1 and {MAX_LIMIT}.", "limit", "parameter_invalid_integer"
        )
    matching = [document for document in documents if _matches(document, params)]
    found, has_more = _cut(matching, params, limit)
    return {"object": "list", "data": found, "has_more": has_more, "url": url}


def _matches(document: Document, params: Document) -> bool:
    created = params.get("created", {})
    if not all(_COMPARISONS[how](document["created"], bound) for how, bound in created.items()):
        return False
    return all(document.get(name) == wanted for name, wanted in params.items() if name not in _PAGING)


def _cut(documents: list[Document], params: Document, limit: int) -> tuple[list[Document], bool]:
    start = 0
    if (cursor := params.get("starting_after")) is not None:
        places = (place for place, one in enumerate(documents, 1) if one["id"] == cursor)
        start = next(places, -1)
        if start < 0:
            raise no_such("object", cursor, "starting_after", status=400)
    return documents[start : start + limit], len(documents) > start + limit


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
