"""Lists as the vendor answers them: chosen properties, a page, and the link to the next one."""

from collections.abc import Sequence
from urllib.parse import quote

from orrery.sandbox.graph.call import Call
from orrery.sandbox.graph.errors import bad_query
from orrery.sandbox.state import Document

_ALWAYS = frozenset({"id", "@odata.etag", "@odata.type"})


def selected(document: Document, names: Sequence[str]) -> Document:
    """Return the properties that are asked for, with those that always come; all when none are named."""
    if not names:
        return document
    return {name: value for name, value in document.items() if name in _ALWAYS or name in names}


def check_selected(names: Sequence[str], known: frozenset[str], kind: str) -> None:
    """Refuse a property that the kind does not have."""
    for name in names:
        if name not in known and name != "id":
            raise bad_query(f"Could not find a property named '{name}' on type '{kind}'.")


def link(address: str, query: Sequence[tuple[str, object]]) -> str:
    """Return an address with a query, written as the vendor writes it."""
    return f"{address}?{'&'.join(f'{quote(name)}={quote(str(value))}' for name, value in query)}"


def next_link(address: str, call: Call, name: str, value: object) -> str:
    """Return the address of the next page: the same query with the place where it begins."""
    kept = [(one, text) for one, text in call.query.items() if one != name]
    return link(address, [*kept, (name, value)])
