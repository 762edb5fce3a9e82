"""What answers in Microsoft Graph's place and is not as documented: no row is lost, and nothing is made twice."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox, Part
from orrery.outside import LONGEST_ANSWER
from orrery.ports.comms.errors import MailboxError, MailboxUnreachable, RowGone
from orrery.ports.comms.mailboxes import MessageBody
from orrery.ports.comms.messages import UNKNOWN, MailboxMessage, Standing
from orrery.ports.comms.tasks import NewTask
from tests.conformance.microsoft.malformed_graph import Answer, OddGraph, malformed_graph
from tests.support.clock import START
from tests.support.mailboxes import reply_to
from tests.support.tables import each_case

DELTA = "/v1.0/me/mailFolders/inbox/messages/delta"
NEXT, DONE = "@odata.nextLink", "@odata.deltaLink"


@pytest.fixture
async def graph() -> AsyncGenerator[OddGraph]:
    """Return a vendor that answers as a test asks."""
    async with malformed_graph() as found:
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


def a_message(source_id: str = "m1") -> MailboxMessage:
    """Return mail that can be answered."""
    return MailboxMessage("mail", source_id, "Bo", "bo@lab.example", "Hi", "", START)


def a_task() -> NewTask:
    """Return a task."""
    return NewTask("B", "mail", "m1", "Hi", "Bo", 50, "answer", "Inbox")


@pytest.mark.parametrize("status", [500, 502, 504])
async def test_a_draft_that_may_have_been_made(graph: OddGraph, status: int) -> None:
    """What creates something is not repeated when it is unknown whether it was done: there would be two."""

    def answer(asked: str) -> Answer:
        return (200, {"value": [], "isRead": True, "conversationId": "c"}) if "GET" in asked else (status, {})

    graph.answer = answer
    with pytest.raises(MailboxUnreachable):
        await graph.mailbox().draft(reply_to("k", a_message(), "Yes"))
    assert [one for one in graph.asked if one.startswith("POST")] == ["POST /v1.0/me/messages/m1/createReply"]


@each_case("content", [{}, {"value": None}, {"value": {"id": "m1"}}, {"value": [], NEXT: 5}])
@each_case("part", ["mail", "teams", "meeting"])
async def test_a_page_that_is_none(graph: OddGraph, part: Part, content: object) -> None:
    """An object without the list that was asked for is no empty list: that would take away every row."""
    graph.answer = lambda asked: (200, {"id": "me"} if "/me?" in asked else content)
    with pytest.raises(MailboxUnreachable, match="not as documented"):
        await ids(graph.mailbox(part))


async def test_a_list_of_drafts_that_is_none(graph: OddGraph) -> None:
    """Whether a draft is there must be known before one is made, and whether a task is, too."""
    graph.answer = lambda _: (200, {"id": "x"})
    with pytest.raises(MailboxUnreachable):
        await graph.mailbox().draft(reply_to("k", a_message(), "Yes"))
    with pytest.raises(MailboxUnreachable):
        await graph.to_do().add(a_task())
    assert not [one for one in graph.asked if one.startswith("POST")]


async def test_mail_without_an_end(graph: OddGraph) -> None:
    """The last page has the link of the changes; without that, what leaves would stay listed."""
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
    """One sentence; and the next reading begins again, or the mailbox would never be read again."""
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
    """Whatever the vendor calls it, a link of before that it does not take is forgotten, and all is read again."""

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
        await graph.mailbox().draft(reply_to("k", a_message(), "Yes"))


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000])
@pytest.mark.parametrize("status", [200, 400])
async def test_an_answer_too_deep(graph: OddGraph, status: int, body: bytes) -> None:
    """It is not as documented, or gives no reason for its refusal."""
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


async def test_a_change_of_what_is_too_old_to_be_listed(graph: OddGraph) -> None:
    """A change has only what is changed: of a message that is not listed it is no unreadable message."""
    pages: list[list[dict[str, Any]]] = [
        [mail(1), mail(2), mail(3, isDraft=True)],
        [{"id": "m3", "subject": "still a draft"}],
        [{"id": "m1", "importance": "high"}, {"id": "m3", "@removed": {}}],
        [mail(1)],
    ]
    graph.answer = lambda _: (200, {"value": pages.pop(0), DONE: f"{graph.url}{DELTA}?token={len(pages)}"})
    mailbox = graph.mailbox(days=30)
    for listed in (["m2", "m1"], ["m2", "m1"], [], []):
        found = [one async for one in mailbox.messages()]
        assert [one.source_id for batch in found for one in batch.messages] == listed
        assert not sum(batch.unreadable for batch in found)
        if len(pages) == 2:
            graph.clock.advance(40 * 86_400)


async def test_a_change_with_its_moment(graph: OddGraph) -> None:
    """A change may have more than what is changed: the rest stays as it was."""
    pages = [[mail(1)], [{"id": "m1", "receivedDateTime": mail(1)["receivedDateTime"], "importance": "high"}]]
    graph.answer = lambda _: (200, {"value": pages.pop(0), DONE: f"{graph.url}{DELTA}?token={len(pages)}"})
    mailbox = graph.mailbox()
    await ids(mailbox)
    [found] = [one async for batch in mailbox.messages() for one in batch.messages]
    assert (found.subject, found.priority) == ("1", "high")


async def test_a_cut_list_with_one_that_cannot_be_read(graph: OddGraph) -> None:
    """What the vendor counts is what it lists, not what can be read of it: then the rest is asked for."""
    page = [*({"id": f"m{one}", "receivedDateTime": "2026-03-01T11:00:00Z"} for one in range(4999)), {"id": "odd"}]

    def answer(asked: str) -> Answer:
        if "/delta" in asked:
            return 200, {"value": page, DONE: f"{graph.url}{DELTA}?token=z"}
        return 200, {"value": [mail(1), {"id": "m1"}]}

    graph.answer = answer
    assert len(await ids(graph.mailbox(days=30))) == 4999
    assert "receivedDateTime+le+2026-03-01T11%3A00%3A00Z" in graph.asked[-1]


@pytest.mark.parametrize("fails", ["createReply", "PATCH"])
async def test_an_original_stays_unread_though_the_draft_fails(graph: OddGraph, fails: str) -> None:
    """The vendor marks it as read as soon as the reply is made: it is put back whatever comes after."""
    read, unread = False, list[str]()

    def answer(asked: str) -> Answer:
        nonlocal read
        if asked.startswith("GET"):
            return 200, {"value": [], "isRead": read, "conversationId": "c", "@odata.etag": "W/1"}
        if "createReply" in asked:
            read = True
            return (200, b"{") if fails in asked else (201, {"id": "d"})
        if asked.endswith("/d"):
            return 503, {}
        unread.append(asked)
        return 200, {}

    graph.answer = answer
    with pytest.raises(MailboxUnreachable):
        await graph.mailbox().draft(reply_to("k", a_message(), "Yes"))
    assert unread == ["PATCH /v1.0/me/messages/m1"]


async def test_plain_text_is_quoted_as_text(graph: OddGraph) -> None:
    """Mark-up in a text without mark-up stays text: it would fetch what it names when the draft is opened."""
    body = MessageBody("text/plain", 'a <img src="https://tracker.example/">\nb')
    graph.answer = lambda _: (200, {"value": [], "id": "d", "conversationId": "c"})
    _ = await graph.mailbox().draft(reply_to("k", a_message(), "Yes,\nI do", body))
    [sent] = [json.loads(one)["message"]["body"] for one in graph.sent if b"tracker" in one]
    assert sent["contentType"] == "text"
    assert sent["content"].startswith("Yes,\nI do\n\nOn ")
    assert sent["content"].endswith('> a <img src="https://tracker.example/">\n> b\n')


async def test_a_chat_message_that_is_none(graph: OddGraph) -> None:
    """A draft for it is refused with an error of the port."""
    graph.answer = lambda _: (200, {"value": [], "id": 5})
    message = replace(a_message("chat message"), source="teams")
    with pytest.raises(MailboxUnreachable):
        await graph.mailbox().draft(reply_to("k", message, "Yes"))


def chat(number: int, user: str = "bo", at: str = "2026-03-01T11:00:00Z", **other: object) -> dict[str, Any]:
    """Return a chat as the vendor lists it."""
    members = [{"userId": one, "displayName": one.title(), "email": f"{one}@lab.example"} for one in ("me", "bo")]
    last = {"id": f"{number}", "createdDateTime": at, "from": {"user": {"id": user}}, "body": {}, **other}
    return {"id": f"c{number}", "lastMessagePreview": last, "members": members}


async def test_which_chats_are_rows(graph: OddGraph) -> None:
    """Each with who has the last word, within 30 days; older pages are not asked for."""
    chats = [
        chat(1),
        chat(2, "me"),
        chat(3, isDeleted=True),
        chat(4, messageType="systemEventMessage"),
        chat(5, at="2026-01-01T00:00:00Z"),
    ]
    page = {"value": chats, NEXT: f"{graph.url}/v1.0/me/chats?$skiptoken=z"}
    graph.answer = lambda asked: (200, {"id": "me"} if "/me?" in asked else page)
    found = [one async for batch in graph.mailbox("teams").messages() for one in batch.messages]
    assert [(one.source_id, one.subject, one.standing) for one in found] == [
        ("c1 1", "Bo", UNKNOWN),
        ("c2 2", "Bo", Standing(is_answered=True)),
        ("c3 3", "Bo", Standing(is_notice=True)),
        ("c4 4", "Bo", Standing(is_notice=True)),
    ]
    assert len(graph.asked) == 1


async def test_a_redirection(graph: OddGraph) -> None:
    """It is followed nowhere."""
    graph.answer = lambda _: (307, {})
    graph.headers = "Location: /elsewhere\r\n"
    with pytest.raises(MailboxError, match="status 307"):
        await ids(graph.mailbox())
    assert len(graph.asked) == 1


async def test_an_answer_too_long(graph: OddGraph) -> None:
    """It is read up to a bound."""
    graph.answer = lambda _: (
        200,
        b'{"value": [], "@odata.deltaLink": "x", "a": "' + b"a" * LONGEST_ANSWER + b'"}',
    )
    with pytest.raises(MailboxUnreachable):
        await ids(graph.mailbox())


@pytest.mark.parametrize(("status", "code"), [(404, "ErrorItemNotFound"), (400, "ErrorInvalidIdMalformed")])
async def test_an_id_that_was_never_given(graph: OddGraph, status: int, code: str) -> None:
    """Both of the vendor's answers mean that the row is gone."""
    graph.answer = lambda _: (status, {"error": {"code": code}})
    with pytest.raises(RowGone):
        await graph.mailbox().body("mail", "m1")


@pytest.mark.parametrize(
    ("comment", "other"),
    [
        ("Yes", {"bodyPreview": "No, never"}),
        ("Yes", {"bodyPreview": "Yes", "singleValueExtendedProperties": [{"value": "another key"}]}),
        ("", {"bodyPreview": "", "createdDateTime": "2026-03-01T11:00:00Z"}),
        ("", {"bodyPreview": "", "createdDateTime": "yesterday"}),
    ],
)
async def test_a_draft_that_is_not_ours(graph: OddGraph, comment: str, other: dict[str, Any]) -> None:
    """A person's own draft in the conversation, with another text or of an hour ago, is left alone."""

    def answer(asked: str) -> Answer:
        if asked.startswith("GET"):
            found = [{"id": "theirs", **other}] if "filter=conversationId" in asked else []
            return 200, {"value": found, "conversationId": "it's"}
        return 201, {"id": "ours"}

    graph.answer = answer
    made = await graph.mailbox().draft(reply_to("k", a_message(), comment))
    assert (made.id, made.is_new) == ("ours", True)
    assert [one for one in graph.asked if "it%27%27s" in one]
    assert not [one for one in graph.asked if "theirs" in one]


async def test_a_reply_that_is_no_draft(graph: OddGraph) -> None:
    """What is marked as none is not shown as one."""
    graph.answer = lambda _: (200, {"value": [], "id": "d", "isDraft": False})
    with pytest.raises(MailboxUnreachable):
        await graph.mailbox().draft(reply_to("k", a_message(), "Yes"))
