"""Messages of a folder as a query asks for them: filtered, ordered, counted, a page at a time."""

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice
from typing import Any

from orrery.sandbox.graph import rendering
from orrery.sandbox.graph.call import Call
from orrery.sandbox.graph.conditions import Condition, Getter, at, parsed
from orrery.sandbox.graph.errors import bad_query, inefficient
from orrery.sandbox.graph.mailbox import Mailbox
from orrery.sandbox.state import Document

RECEIVED = "receivedDateTime"
_EXTENDED = "singleValueExtendedProperties"

_STORED: dict[str, Callable[[Document], object]] = {
    RECEIVED: lambda message: rendering.utc(message["received"]),
    "isRead": lambda message: message["read"],
    "isDraft": lambda message: message["draft"],
    "subject": lambda message: message["subject"],
    "importance": lambda message: message["importance"],
    _EXTENDED: lambda message: [{"id": name, "value": value} for name, value in message["properties"].items()],
}
"""What a filter reads without showing the whole message: a mailbox may have 50,000."""


def page_of(mailbox: Mailbox, folder: str, call: Call) -> tuple[list[Document], int | None]:
    """Return a page of a folder, newest first, and where the next one begins if there is one."""
    top, skip = call.number("$top", 10, 1, 1000), call.number("$skip", 0, 0, 1 << 31)
    page = list(islice(_found(mailbox, folder, call), skip, skip + top + 1))
    return page[:top], skip + top if len(page) > top else None


def condition_of(call: Call) -> Condition | None:
    """Return the filter of a query, which must begin with the property that it is sorted by, if it is."""
    text, order = call.query.get("$filter", ""), call.query.get("$orderby", "").lower()
    if order not in {"", "receiveddatetime desc"}:
        raise bad_query(f"The sandbox does not sort by '{order}'.")
    condition = parsed(text) if text else None
    if condition is not None and order and condition.paths()[0] != RECEIVED:
        raise inefficient()
    return condition


def _found(mailbox: Mailbox, folder: str, call: Call) -> Iterable[Document]:
    condition = condition_of(call)
    since, until = (None, None) if condition is None else _bounds(condition)
    numbers = mailbox.numbers(folder, since=since, until=until)
    messages: Iterable[Document] = (one for number in numbers if (one := mailbox.get(number)) is not None)
    if condition is None:
        return messages
    return (one for one in messages if condition.holds(_getter(mailbox, one, call)))


def _bounds(condition: Condition) -> tuple[int | None, int | None]:
    """Return the times between which a message must have been received, as far as the filter says so."""
    since: int | None = None
    until: int | None = None
    for one in condition.comparisons if condition.word == "and" else ():
        if one.path == RECEIVED and isinstance(one.value, str):
            seconds = seconds_of(one.value)
            if one.operator in {"ge", "gt", "eq"}:
                since = seconds if since is None else max(since, seconds)
            if one.operator in {"le", "lt", "eq"}:
                until = seconds if until is None else min(until, seconds)
    return since, until


def seconds_of(time: str) -> int:
    """Return the Unix time of a time in a filter."""
    return int(datetime.fromisoformat(time).timestamp())


def _getter(mailbox: Mailbox, message: Document, call: Call) -> Getter:
    def get(path: str) -> Any:  # noqa: ANN401  whatever the property is
        if path in _STORED:
            return _STORED[path](message)
        if path.partition("/")[0] not in rendering.PROPERTIES:
            raise bad_query(f"Could not find a property named '{path}' on type '{rendering.MESSAGE}'.")
        return at(rendering.rendered(mailbox, message, call), path)

    return get
