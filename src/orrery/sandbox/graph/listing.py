"""Messages of a folder as a query asks for them: filtered, ordered, counted, a page at a time."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from orrery.sandbox.graph import rendering
from orrery.sandbox.graph.call import Call
from orrery.sandbox.graph.conditions import Comparison, Condition, Getter, at, conditions_of, parsed
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


def page_of(mailbox: Mailbox, folder: str, call: Call) -> tuple[list[Document], int | None, int | None]:
    """Return a page of a folder, where the next one begins if there is one, and the count if it is asked for."""
    top, skip = call.number("$top", 10, 1, 1000), call.number("$skip", 0, 0, 1 << 31)
    found = _found(mailbox, folder, call)
    counted = None
    if call.query.get("$count", "").lower() == "true":
        found = list(found)
        counted = len(found)
    page = list(islice(found, skip, skip + top + 1))
    return page[:top], skip + top if len(page) > top else None, counted


def condition_of(call: Call) -> Condition | None:
    """Return the filter of a query, whose order must begin with the properties that it is sorted by."""
    text = call.query.get("$filter", "")
    condition = parsed(text) if text else None
    if condition is not None:
        order = [path for path, _ in _order(call)]
        filtered = list(dict.fromkeys(condition.paths()))
        if filtered[: len(order)] != order:
            raise inefficient()
    return condition


def _found(mailbox: Mailbox, folder: str, call: Call) -> Iterable[Document]:
    condition, order = condition_of(call), _order(call) or [(RECEIVED, True)]
    since, until = (None, None) if condition is None else _bounds(condition)
    newest_first = order[0] != (RECEIVED, False)
    numbers = mailbox.numbers(folder, since=since, until=until, newest_first=newest_first)
    messages: Iterable[Document] = (one for number in numbers if (one := mailbox.get(number)) is not None)
    if condition is not None:
        messages = (one for one in messages if condition.holds(_getter(mailbox, one, call)))
    if order[0][0] == RECEIVED:
        return messages
    return _sorted(mailbox, messages, order, call)


def _sorted(
    mailbox: Mailbox, messages: Iterable[Document], order: Sequence[tuple[str, bool]], call: Call
) -> list[Document]:
    found = list(messages)
    for path, reverse in reversed(order):
        found.sort(key=lambda one, path=path: str(_getter(mailbox, one, call)(path)), reverse=reverse)
    return found


def _order(call: Call) -> list[tuple[str, bool]]:
    """Return the properties to sort by, each with whether it is sorted from the end."""
    found: list[tuple[str, bool]] = []
    for one in call.names("$orderby"):
        path, _, direction = one.partition(" ")
        if path.partition("/")[0] not in rendering.PROPERTIES or direction.strip().lower() not in {
            "",
            "asc",
            "desc",
        }:
            raise bad_query(f"Could not find a property named '{path}' on type '{rendering.MESSAGE}'.")
        found.append((path, direction.strip().lower() == "desc"))
    return found


def _bounds(condition: Condition) -> tuple[int | None, int | None]:
    """Return the times between which a message must have been received, as far as the filter says so."""
    since: int | None = None
    until: int | None = None
    for one in conditions_of(condition):
        if isinstance(one, Comparison) and one.path == RECEIVED and isinstance(one.value, str):
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
