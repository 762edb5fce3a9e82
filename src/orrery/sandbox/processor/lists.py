"""List objects: filters, cursors and pages, newest first."""

from collections.abc import Callable, Iterable

from orrery.sandbox.processor.errors import invalid, no_such
from orrery.sandbox.state import Document

DEFAULT_LIMIT, MAX_LIMIT = 10, 100
"""facts/checkout.md, Lists."""

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "gt": lambda a, b: a > b,
    "gte": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "lte": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
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
