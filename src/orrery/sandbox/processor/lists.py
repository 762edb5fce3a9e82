"""List objects: filters, cursors and pages, newest first."""

from collections.abc import Callable, Iterable
from itertools import islice

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
_PAGING = {"limit", "starting_after", "ending_before", "expand", "created"}


def page(documents: Iterable[Document], params: Document, url: str) -> Document:
    """Return one page of `documents` (newest first), filtered by `created` and by equal fields."""
    limit = params.get("limit", DEFAULT_LIMIT)
    if not 1 <= limit <= MAX_LIMIT:
        raise invalid(
            f"Invalid limit: it must be between 1 and {MAX_LIMIT}.", "limit", "parameter_invalid_integer"
        )
    if "starting_after" in params and "ending_before" in params:
        message = "You may only specify one of these parameters: starting_after, ending_before."
        raise invalid(message, "starting_after", "parameters_exclusive")
    matching = [document for document in documents if _matches(document, params)]
    found, has_more = _cut(matching, params, limit)
    return {"object": "list", "data": found, "has_more": has_more, "url": url}


def _matches(document: Document, params: Document) -> bool:
    created = params.get("created", {})
    if not all(_COMPARISONS[how](document["created"], bound) for how, bound in created.items()):
        return False
    return all(document.get(name) == wanted for name, wanted in params.items() if name not in _PAGING)


def _cut(documents: list[Document], params: Document, limit: int) -> tuple[list[Document], bool]:
    if "ending_before" in params:
        before = documents[: _place(documents, params, "ending_before")]
        return before[-limit:], len(before) > limit
    start = _place(documents, params, "starting_after") + 1 if "starting_after" in params else 0
    found = list(islice(documents, start, start + limit))
    return found, len(documents) > start + limit


def _place(documents: list[Document], params: Document, cursor: str) -> int:
    for place, document in enumerate(documents):
        if document["id"] == params[cursor]:
            return place
    raise no_such("object", params[cursor], cursor, status=400)
