"""What answers in Microsoft Graph's place and is not as documented: no row is lost, and nothing is made twice."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox, Part
from orrery.errors import MailboxError, MailboxUnreachable, RowGone
from orrery.ports.comms.mailboxes import Reply
from orrery.ports.comms.messages import Message
from orrery.ports.comms.tasks import NewTask
from tests.support.clock import START
from tests.support.odd_graph import Answer, OddGraph, odd_graph

pytestmark = pytest.mark.anyio

DELTA = "/v1.0/me/mailFolders/inbox/messages/delta"
NEXT, DONE = "@odata.nextLink", "@odata.deltaLink"


@pytest.fixture
async def graph() -> AsyncGenerator[OddGraph]:
    """Return what answers as a test says."""
    async with odd_graph() as found:
        yield found


def mail(number: int, **other: object) -> dict[str, Any]:
    """Return a message as the vendor lists it."""
    return {
        "id": f"m{number}",
        "receivedDateTime": f"2026-03-01T11:{number:02}:00Z",
        "subject": f"{number}",
        **other,
    }


async def ids(mailbox: MicrosoftMailbox) -> list[str]:
    """Return the id of every message."""
    return [one.source_id async for batch in mailbox.messages() for one in batch.messages]


def a_message(source_id: str = "m1") -> Message:
    """Return mail that can be answered."""
    return Message("mail", source_id, "Bo", "bo@lab.example", "Hi", "", START)


def a_task() -> NewTask:
    """Return a task."""
    return NewTask("B", "mail", "m1", "Hi", "Bo", 50, "answer", "Inbox")


@pytest.mark.parametrize("status", [500, 502, 504])
async def test_a_draft_that_may_have_been_made(graph: OddGraph, status: int) -> None:
    """What creates something is not repeated when nobody knows whether it was done: there would be two."""

    def answer(asked: str) -> Answer:
        return (200, {"value": [], "isRead": True, "conversationId": "c"}) if "GET" in asked else (status, {})

    graph.answer = answer
    with pytest.raises(MailboxUnreachable):
        await graph.mailbox().draft(Reply("k", a_message(), "Yes"))
    assert [one for one in graph.asked if one.startswith("POST")] == ["POST /v1.0/me/messages/m1/createReply"]


@pytest.mark.parametrize("content", [{}, {"value": None}, {"value": {"id": "m1"}}, {"value": [], NEXT: 5}])
@pytest.mark.parametrize("part", ["mail", "teams", "meeting"])
async def test_a_page_that_is_none(graph: OddGraph, part: Part, content: object) -> None:
    """An object without the list that was asked for is no empty list: that would take away every row."""
    graph.answer = lambda asked: (200, {"id": "me"} if "/me?" in asked else content)
    with pytest.raises(MailboxUnreachable, match="not as documented"):
        await ids(graph.mailbox(part))


async def test_a_list_of_drafts_that_is_none(graph: OddGraph) -> None:
    """Whether a draft is there must be known before one is made, and whether a task is, too."""
    graph.answer = lambda _: (200, {"id": "x"})
    with pytest.raises(MailboxUnreachable):
        await graph.mailbox().draft(Reply("k", a_message(), "Yes"))
    with pytest.raises(MailboxUnreachable):
        await graph.to_do().add(a_task())
    assert not [one for one in graph.asked if one.startswith("POST")]


async def test_mail_without_an_end(graph: OddGraph) -> None:
    """The last page says how changes are asked for; without that, what leaves would stay listed."""
    graph.answer = lambda _: (200, {"value": [mail(1)]})
    with pytest.raises(MailboxUnreachable, match="not as documented"):
        await ids(graph.mailbox())


@pytest.mark.parametrize("part", ["mail", "teams", "meeting"])
async def test_pages_in_a_circle(graph: OddGraph, part: Part) -> None:
    """A page that leads back to one of before ends the reading with an error."""

    def answer(asked: str) -> Answer:
        other = "b" if asked.endswith("=a") else "a"
        return 200, {"value": [], NEXT: f"{graph.url}{DELTA}?$skiptoken={other}", "id": "me"}

    graph.answer = answer
    with pytest.raises(MailboxUnreachable, match="circle"):
        await ids(graph.mailbox(part))
    assert len(graph.asked) < 9


async def test_lists_of_tasks_in_a_circle(graph: OddGraph) -> None:
    """The page waits for a task: it must end."""
    graph.answer = lambda _: (200, {"value": [], NEXT: f"{graph.url}/v1.0/me/todo/lists?$skip=1"})
    with pytest.raises(MailboxUnreachable, match="circle"):
        await graph.to_do().add(a_task())


@pytest.mark.parametrize("link", ["http://[", "{url}:x/", "{url}/v1.0/me\x00", "//elsewhere.example/", "x"])
async def test_a_next_page_that_is_no_address(graph: OddGraph, link: str) -> None:
    """One sentence; and the next reading begins anew, or the mailbox would never be read again."""
    graph.answer = lambda _: (200, {"value": [mail(1)], NEXT: link.format(url=graph.url)})
    mailbox = graph.mailbox()
    for _ in range(2):
        with pytest.raises(MailboxUnreachable):
            await ids(mailbox)
    graph.answer = lambda _: (200, {"value": [mail(2)], DONE: f"{graph.url}{DELTA}?$deltatoken=z"})
    assert "m2" in await ids(mailbox)


@pytest.mark.parametrize(
    ("status", "code"), [(400, "syncStateNotFound"), (400, "BadRequest"), (404, "x"), (410, "SyncStateInvalid")]
)
async def test_a_state_that_is_refused(graph: OddGraph, status: int, code: str) -> None:
    """Whatever the vendor calls it, a link of before that it does not take is forgotten, and all is read anew."""

    def answer(asked: str) -> Answer:
        if "token=" in asked:
            return status, {"error": {"code": code}}
        return 200, {"value": [mail(1)], DONE: f"{graph.url}{DELTA}?$deltatoken=z"}

    graph.answer = answer
    mailbox = graph.mailbox()
    assert await ids(mailbox) == await ids(mailbox) == ["m1"]


async def test_a_state_that_is_lost_for_ever(graph: OddGraph) -> None:
    """It is an error after one more try, of the port's own."""
    graph.answer = lambda _: (410, {})
    with pytest.raises(MailboxUnreachable):
        await ids(graph.mailbox())
    assert len(graph.asked) == 2
    with pytest.raises(MailboxUnreachable):
        await graph.mailbox().draft(Reply("k", a_message(), "Yes"))


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000])
@pytest.mark.parametrize("status", [200, 400])
async def test_an_answer_too_deep(graph: OddGraph, status: int, body: bytes) -> None:
    """It is not as documented, or says nothing about why it refuses."""
    graph.answer = lambda _: (status, body)
    with pytest.raises(MailboxError):
        await ids(graph.mailbox())


@pytest.mark.parametrize("source_id", ["..", ".", "\ud800", "../.. ..", "a ..", ".. a"])
async def test_an_id_that_is_a_path(graph: OddGraph, source_id: str) -> None:
    """The page's ids are anything: none leads to another call."""
    mailbox = graph.mailbox()
    for source in ("mail", "teams", "meeting"):
        with pytest.raises(RowGone):
            await mailbox.body(source, source_id)
    ours = ("GET /v1.0/me/messages/", "GET /v1.0/me/events/", "GET /v1.0/chats/")
    assert all(one.startswith(ours) for one in graph.asked)
