"""The filters and expansions that we send."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from orrery.sandbox.graph.call import GraphCall, refusal
from orrery.sandbox.ground import Document

EXTENDED = "singleValueExtendedProperties"
RECEIVED = "receivedDateTime"
_GUID = r"\{[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}"
_TEXT = r"'((?:[^']|'')*)'"
_PERIOD = re.compile(rf"{RECEIVED} ge ([^ ]+)(?: and {RECEIVED} le ([^ ]+))?")
_CONVERSATION = re.compile(rf"conversationId eq {_TEXT}")
_PROPERTY = re.compile(rf"{EXTENDED}/Any\(ep: ep/id eq {_TEXT} and ep/value eq {_TEXT}\)")
_EXPANSION = re.compile(rf"{EXTENDED}\(\$filter=id eq {_TEXT}(?: or id eq {_TEXT})?\)")


@dataclass(frozen=True, slots=True)
class Filter:
    """What a query asks of messages: times of receipt (Unix), a conversation's id, or an extended property."""

    since: int | None = None
    until: int | None = None
    conversation: str = ""
    mark: tuple[str, str] | None = None


def filter_of(call: GraphCall) -> Filter:
    """Return the filter of a query, which must begin with the property that it is sorted by, if it is."""
    text, order = call.query.get("$filter", ""), call.query.get("$orderby", "")
    if order not in {"", f"{RECEIVED} desc"}:
        raise refusal("bad_query", f"The sandbox does not sort by '{order}'.")
    if order and text and not text.startswith(RECEIVED):
        raise refusal("inefficient")
    return _parsed(text) if text else Filter()


def _parsed(text: str) -> Filter:
    if found := _PERIOD.fullmatch(text):
        since, until = (_seconds(one) if one else None for one in found.groups())
        return Filter(since, until)
    if found := _CONVERSATION.fullmatch(text):
        return Filter(conversation=_unquoted(found[1]))
    if found := _PROPERTY.fullmatch(text):
        return Filter(mark=(_property(_unquoted(found[1])), _unquoted(found[2])))
    raise refusal("bad_query", f"The sandbox does not read the filter '{text}'.")


def given_properties(body: Document) -> dict[str, str]:
    """Return the properties that a body sets, by their ids; the GUID in an id is kept in lower case."""
    given = cast("list[Document]", body.get(EXTENDED) or [])
    return {_property(str(one.get("id", ""))): str(one.get("value", "")) for one in given}


def expanded_properties(text: str, properties: Mapping[str, str]) -> Document:
    """Return what `$expand` adds to a message: nothing where it has none of the properties."""
    if not text:
        return {}
    asked = _EXPANSION.fullmatch(text)
    if asked is None:
        raise refusal("bad_query", f"$expand takes {EXTENDED}($filter=id eq '...') here, not '{text}'.")
    names = {_property(one) for one in asked.groups("")}
    found = [{"id": name, "value": value} for name, value in properties.items() if name in names]
    return {EXTENDED: found} if found else {}


def _property(name: str) -> str:
    return re.sub(_GUID, lambda guid: guid[0].lower(), name)


def _unquoted(text: str) -> str:
    return text.replace("''", "'")


def _seconds(time: str) -> int:
    return int(datetime.fromisoformat(time).timestamp())
