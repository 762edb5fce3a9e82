"""Items of Microsoft Graph of which a field is missing, null or malformed: none hides another, or is hidden."""

from collections.abc import AsyncGenerator, Mapping
from copy import deepcopy
from typing import Any

import pytest

from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox, Part
from orrery.adapters.microsoft_mailbox.shapes import Chat, ChatMessage, GraphMail, GraphShape, Meeting
from orrery.cockpit.waiting import Reason, own_reason_of
from orrery.ports.comms.errors import MailboxUnreachable
from orrery.ports.comms.messages import MailboxMessage
from tests.conformance.microsoft.malformed_graph import Answer, OddGraph, malformed_graph
from tests.support.tables import each_case

ANN = "ann@lab.example"
LIST = frozenset({"course.lab.example"})


def person(address: str) -> dict[str, Any]:
    """Return a recipient."""
    return {"emailAddress": {"name": address.partition("@")[0], "address": address}}


MAIL: dict[str, Any] = {
    "id": "m1",
    "receivedDateTime": "2026-03-01T11:00:00Z",
    "subject": "Noon",
    "from": person("bo@lab.example"),
    "toRecipients": [person(ANN)],
    "ccRecipients": [person("cy@lab.example")],
    "replyTo": [person("bo@lab.example")],
    "importance": "high",
    "bodyPreview": "Is noon well?",
    "webLink": "https://mail.example/m1",
    "isDraft": False,
    "conversationId": "c1",
    "flag": {"flagStatus": "notFlagged"},
    "internetMessageHeaders": [{"name": "Subject", "value": "Noon"}],
    "singleValueExtendedProperties": [{"id": "Integer 0x1081", "value": "104"}],
}
CHAT: dict[str, Any] = {
    "id": "c1",
    "topic": "Lunch",
    "webUrl": "https://chat.example/c1",
    "members": [{"userId": "bo", "displayName": "Bo", "email": "bo@lab.example"}],
    "lastMessagePreview": {
        "id": "1",
        "createdDateTime": "2026-03-01T11:00:00Z",
        "from": {"user": {"id": "bo", "displayName": "Bo"}},
        "messageType": "message",
        "isDeleted": False,
        "body": {"contentType": "text", "content": "Noon?"},
    },
}
MEETING: dict[str, Any] = {
    "id": "e1",
    "subject": "Review",
    "start": {"dateTime": "2026-03-01T13:00:00", "timeZone": "UTC"},
    "end": {"dateTime": "2026-03-01T14:00:00", "timeZone": "UTC"},
    "isAllDay": False,
    "isCancelled": False,
    "isOrganizer": False,
    "organizer": person("bo@lab.example"),
    "attendees": [{"type": "required", **person(ANN)}],
    "responseStatus": {"response": "accepted"},
    "importance": "normal",
    "location": {"displayName": "Room 1"},
    "webLink": "https://calendar.example/e1",
}
KINDS: Mapping[Part, tuple[dict[str, Any], type[GraphShape]]] = {
    "mail": (MAIL, GraphMail),
    "teams": (CHAT, Chat),
    "meeting": (MEETING, Meeting),
}
ODD: dict[str, object] = {
    "missing": None,
    "null": None,
    "a number": 5,
    "a text": "x",
    "a list": [None],
    "an object": {"x": []},
}
NEEDED = {"id", "receivedDateTime", "start"}
"""Without these an item has no place in the list: it is counted as unreadable."""


def aliases(shape: type[GraphShape]) -> list[str]:
    """Return the fields of a shape by the vendor's names."""
    return [str(one.alias) for one in shape.model_fields.values()]


FIELDS: list[tuple[Part, str]] = [(part, name) for part, (_, shape) in KINDS.items() for name in aliases(shape)]
UNSAID = ("missing", "null")


@pytest.fixture
async def graph() -> AsyncGenerator[OddGraph]:
    """Return a vendor that answers as a test asks."""
    async with malformed_graph() as found:
        yield found


def other(item: dict[str, Any], **changes: object) -> dict[str, Any]:
    """Return an item with another id, which is as documented."""
    return {**deepcopy(item), "id": "well", **changes}


def changed(item: dict[str, Any], name: str, how: str) -> dict[str, Any]:
    """Return an item with one field as it should not be."""
    odd = deepcopy(item)
    if how == "missing":
        del odd[name]
    else:
        odd[name] = ODD[how]
    return odd


async def read(graph: OddGraph, part: Part, *items: dict[str, Any]) -> tuple[list[MailboxMessage], int]:
    """Return what a mailbox lists of these items, and how many it counts as unreadable."""
    graph.answer = lambda _: (200, {"value": list(items), "@odata.deltaLink": f"{graph.url}/v1.0/me?token=z"})
    batches = [one async for one in graph.mailbox(part).messages()]
    return [one for batch in batches for one in batch.messages], sum(one.unreadable for one in batches)


def test_every_field_is_in_the_items() -> None:
    """What the tests leave out or alter is what the adapter reads."""
    for item, shape in (*KINDS.values(), (CHAT["lastMessagePreview"], ChatMessage)):
        assert {*item} == {*aliases(shape)}


def of_odd(found: list[MailboxMessage], how: str) -> list[MailboxMessage]:
    """Return what is listed of the item whose field is so."""
    return [one for one in found if one.source_id.partition(" ")[0] == how]


@each_case(("part", "name"), FIELDS)
async def test_one_field(graph: OddGraph, part: Part, name: str) -> None:
    """The item waits, or is counted; the one beside it is as ever. Nothing is hidden for want of a fact."""
    item, _ = KINDS[part]
    odd = [changed({**item, "id": how}, name, how) for how in ODD]
    found, unreadable = await read(graph, part, *odd, other(item))
    assert len(of_odd(found, "well")) == 1
    if name == "lastMessagePreview":  # a chat without a message is none
        assert len(found) == 1
        return
    assert len(found) + unreadable == len(odd) + 1
    for how in UNSAID if name not in NEEDED else ():
        assert [own_reason_of(one, frozenset()) for one in of_odd(found, how)] == [None], how


@pytest.mark.parametrize("name", aliases(ChatMessage))
async def test_one_field_of_the_last_word(graph: OddGraph, name: str) -> None:
    """The same for the last message of a chat; without a writer it has none."""
    last = CHAT["lastMessagePreview"]
    odd = [{**CHAT, "id": how, "lastMessagePreview": changed(last, name, how)} for how in ODD]
    found, unreadable = await read(graph, "teams", *odd, other(CHAT))
    too_old = int(name == "createdDateTime")  # a number is a moment of 1970
    assert len(found) + unreadable == len(odd) + 1 - too_old
    for how in UNSAID if name not in {"id", "createdDateTime"} else ():
        wanted = "no-message" if name == "from" else None
        assert [own_reason_of(one, frozenset()) for one in of_odd(found, how)] == [wanted], how


@pytest.mark.parametrize("part", KINDS)
async def test_items_without_an_id(graph: OddGraph, part: Part) -> None:
    """Each is counted once, however often it is read."""
    item, _ = KINDS[part]
    nameless = changed(item, "id", "missing")
    found, unreadable = await read(graph, part, nameless, other(item), nameless)
    assert (len(found), unreadable) == (1, 2)


RECIPIENTS: dict[str, tuple[dict[str, object], Reason | None]] = {
    "to me": ({"toRecipients": [person("cy@lab.example"), person("ANN@lab.example")]}, None),
    "to an address of mine": ({"toRecipients": [person("also.ann@lab.example")]}, None),
    "a copy": ({"toRecipients": [person("cy@lab.example")], "ccRecipients": [person(ANN)]}, "not-to-you"),
    "a blind copy": ({"toRecipients": [], "ccRecipients": []}, "not-to-you"),
    "to others": ({"toRecipients": [person("cy@lab.example")]}, "not-to-you"),
    "unknown": ({"toRecipients": None, "ccRecipients": None}, None),
    "from me": ({"from": person(ANN)}, "own"),
    "complete": ({"flag": {"flagStatus": "complete"}}, "done"),
    "flagged": ({"flag": {"flagStatus": "flagged"}}, None),
    "replied": ({"singleValueExtendedProperties": [{"id": "Integer 0x1081", "value": "102"}]}, "answered"),
    "replied to all": ({"singleValueExtendedProperties": [{"id": "Integer 0x1081", "value": "103"}]}, "answered"),
    "forwarded": ({"singleValueExtendedProperties": [{"id": "Integer 0x1081", "value": "104"}]}, None),
    "a list": ({"internetMessageHeaders": [{"name": "List-Id", "value": "A <other.lab.example>"}]}, "bulk"),
    "a list that is watched": (
        {"toRecipients": [], "internetMessageHeaders": [{"name": "LIST-ID", "value": "<course.lab.example>"}]},
        None,
    ),
    "a machine": ({"internetMessageHeaders": [{"name": "Auto-Submitted", "value": "auto-generated"}]}, "bulk"),
}


@each_case("name", RECIPIENTS)
async def test_what_a_message_says(graph: OddGraph, name: str) -> None:
    """Whom it names, its flags and its headers decide."""
    changes, reason = RECIPIENTS[name]
    [found], _ = await read(graph, "mail", {**MAIL, **changes})
    assert own_reason_of(found, LIST) == reason


CHANGES: dict[str, tuple[dict[str, object], Reason | None]] = {
    "answered": ({"singleValueExtendedProperties": [{"id": "Integer 0x1081", "value": "102"}]}, "answered"),
    "complete": ({"flag": {"flagStatus": "complete"}}, "done"),
    "read": ({"isRead": True, "parentFolderId": "inbox"}, None),
    "another subject": ({"subject": "New"}, None),
}


@each_case("name", CHANGES)
@each_case("first", ["a list", "to me"])
async def test_what_changes(graph: OddGraph, name: str, first: str) -> None:
    """A change has only what is changed: what decided before decides on."""
    changes, reason = CHANGES[name]
    before, was = RECIPIENTS[first]
    pages = [[{**MAIL, **before}], [{"id": "m1", **changes}]]
    graph.answer = lambda _: (
        200,
        {"value": pages.pop(0), "@odata.deltaLink": f"{graph.url}/v1.0/x?t={len(pages)}"},
    )
    mailbox = graph.mailbox()
    assert [own_reason_of(one, frozenset()) for one in await listed(mailbox)] == [was]
    assert [own_reason_of(one, frozenset()) for one in await listed(mailbox)] == [reason or was]


async def listed(mailbox: MicrosoftMailbox) -> list[MailboxMessage]:
    """Return every message."""
    return [one async for batch in mailbox.messages() for one in batch.messages]


MEETINGS: dict[str, tuple[dict[str, object], Reason | None]] = {
    "with others": (
        {"isOrganizer": True, "organizer": person(ANN), "attendees": [person("bo@lab.example")]},
        None,
    ),
    "alone": ({"isOrganizer": True, "organizer": person(ANN), "attendees": []}, "own"),
    "alone in a room": (
        {"organizer": person(ANN), "attendees": [{"type": "resource", **person("room1@lab.example")}]},
        "own",
    ),
    "alone, it seems": ({"isOrganizer": True, "organizer": person(ANN), "attendees": None}, None),
    "of somebody else, alone": ({"attendees": []}, None),
    "declined": ({"responseStatus": {"response": "declined"}}, "declined"),
    "not answered": ({"responseStatus": {"response": "notResponded"}}, None),
    "cancelled": ({"isCancelled": True}, "cancelled"),
}


@each_case("name", MEETINGS)
async def test_which_meetings_wait(graph: OddGraph, name: str) -> None:
    """Own time without anybody else, and what was declined or cancelled, does not."""
    changes, reason = MEETINGS[name]
    [found], _ = await read(graph, "meeting", {**MEETING, **changes})
    assert own_reason_of(found, LIST) == reason


async def test_removed_in_the_first_reading(graph: OddGraph) -> None:
    """What leaves while it is read for the first time is taken back, and one that comes again is there."""
    first: Answer = (200, {"value": [MAIL, other(MAIL)], "@odata.nextLink": f"{graph.url}/v1.0/me/x?page=2"})
    rest: list[dict[str, Any]] = [
        {"id": "m1", "@removed": {"reason": "deleted"}},
        {"id": "m9", "@removed": {}},
        {"id": "well", "@removed": {}},
        other(MAIL),
        {"@removed": {}},
    ]
    last: Answer = (200, {"value": rest, "@odata.deltaLink": f"{graph.url}/v1.0/me/x?token=z"})
    graph.answer = lambda asked: last if "page=2" in asked else first
    batches = [one async for one in graph.mailbox().messages()]
    assert [[one.source_id for one in batch.messages] for batch in batches] == [["m1", "well"], ["well"], []]
    assert batches[1].gone == frozenset({"m1", "m9"})
    assert batches[2].unreadable == 1


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ("2", 2),
        ("1.5", 1.5),
        ("Sun, 01 Mar 2026 12:00:04 GMT", 4),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.5),
        ("-5", 1),
        ("soon", 1),
        ("0", 0.5),
    ],
)
async def test_how_long_is_waited(graph: OddGraph, asked: str, seconds: float) -> None:
    """As long as is asked for in any of the ways; what is no time is one second."""
    begin = graph.clock.now()

    def answer(_: str) -> Answer:
        busy = len(graph.asked) < 2
        graph.headers = f"Retry-After: {asked}\r\n" if busy else ""
        return (429, {}) if busy else (200, {"value": [MAIL], "@odata.deltaLink": f"{graph.url}/v1.0/x?token=z"})

    graph.answer = answer
    assert len(await listed(graph.mailbox())) == 1
    assert (graph.clock.now() - begin).total_seconds() == seconds


@pytest.mark.parametrize("asked", ["3600", "3600.5", "Sun, 01 Mar 2026 13:00:00 GMT", "9" * 400])
async def test_a_wait_that_is_too_long(graph: OddGraph, asked: str) -> None:
    """The sentence has the wait; the next refresh asks again."""
    graph.headers = f"Retry-After: {asked}\r\n"
    graph.answer = lambda _: (503, {})
    with pytest.raises(MailboxUnreachable, match="asks to wait for"):
        await listed(graph.mailbox())
    assert len(graph.asked) == 1
