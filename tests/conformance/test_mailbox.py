"""What every adapter of the mailbox port does (decisions 35 and 36)."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC
from itertools import chain
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

import httpx2
import pytest

from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox
from orrery.adapters.sample_mailbox.mailbox import SampleMailbox
from orrery.ports.comms.errors import RowGone
from orrery.ports.comms.mailboxes import Mailbox, MessageBatch, ReplyRequest
from orrery.ports.comms.messages import MailboxMessage, Person, Source
from orrery.syntax.lines import one_line
from orrery.syntax.track import Track
from orrery.tenants.account_tokens import AccountTokens
from tests.conformance.microsoft.signed_in import microsoft_mailbox, signed_in_at
from tests.support.clock import ManualClock
from tests.support.dovecot import Dovecot
from tests.support.graph import GraphBox, graph
from tests.support.imap import ImapTestAccount
from tests.support.mailboxes import ScriptedMailbox, a_message, reply_to
from tests.support.tracks import ANN_A

SENDING = re.compile("send|sent|deliver|submit|dispatch|forward|transmit|post|smtp")


@dataclass(frozen=True)
class Kept:
    """What became of a draft, read past the port; `others` are the addresses that it goes to besides."""

    to: str
    subject: str
    text: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    """A mailbox, the same one as another process has it, and how to look at what it keeps."""

    mailbox: Mailbox
    elsewhere: Mailbox
    drafts: Callable[[], list[Kept]]
    is_unread: Callable[[MailboxMessage], bool]
    sources: frozenset[Source] = frozenset({"mail", "teams", "meeting"})


def sample(folder: Path, track: Track, messages: int = 0) -> Subject:
    """Return the made-up mailbox of a track."""

    def opened() -> SampleMailbox:
        return SampleMailbox("ann@corp.example", track, folder, ManualClock(), messages)

    def drafts() -> list[Kept]:
        found = [json.loads(one.read_text("utf-8")) for one in folder.glob("*")]
        return [kept(one, *one["to"].split(", "), *one.get("cc", "").split(", ")) for one in found]

    def kept(one: dict[str, str], to: str, *others: str) -> Kept:
        return Kept(to, one["subject"], one["text"], tuple(filter(None, others)))

    mailbox = opened()
    return Subject(mailbox, opened(), drafts, lambda one: mailbox.is_unread(one.source, one.source_id))


def scripted() -> Subject:
    """Return the mailbox that the tests of the cockpit use."""
    sources: list[Source] = ["mail", "teams", "meeting"]
    held = [a_message(number, source) for number in range(1, 6) for source in sources]
    mailbox = ScriptedMailbox(held=held, batch=2, unread={one.source_id for one in held[::2]})

    def drafts() -> list[Kept]:
        return [kept(reply) for reply in mailbox.drafts.values()]

    def kept(reply: ReplyRequest) -> Kept:
        message = reply.message
        subject = message.subject if message.source == "teams" else f"Re: {message.subject}"
        others = tuple(one.address for one in (*reply.to[1:], *reply.cc))
        return Kept(reply.to[0].address, subject, reply.text.content, others)

    return Subject(mailbox, mailbox, drafts, lambda one: one.source_id in mailbox.unread)


@pytest.fixture(scope="module")
def graph_account(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[GraphBox, httpx2.Client, AccountTokens]]:
    """Return the sandbox's Microsoft Graph, and an account of it by the web and by its tokens."""
    folder = tmp_path_factory.mktemp("graph")
    with graph(folder) as box, box.client(ANN_A) as web:
        web.headers["Prefer"] = 'IdType="ImmutableId", outlook.body-content-type="text"'
        yield box, web, signed_in_at(box, folder)


@pytest.fixture
def microsoft(graph_account: tuple[GraphBox, httpx2.Client, AccountTokens]) -> Subject:
    """Return the mailbox of that account as it was at first."""
    box, web, signed_in = graph_account
    drafting = asyncio.Lock()
    box.lever("reset", ANN_A)

    def opened() -> MicrosoftMailbox:
        return replace(microsoft_mailbox(box, signed_in), drafting=drafting)

    def drafts() -> list[Kept]:
        answer = web.get("/me/mailFolders/drafts/messages", params={"$top": "50"}).raise_for_status()
        return [kept(one) for one in answer.json()["value"]]

    def kept(one: dict[str, Any]) -> Kept:
        named = (*one["toRecipients"], *one["ccRecipients"])
        to, *others = (each["emailAddress"]["address"] for each in named)
        return Kept(to, one["subject"], one["body"]["content"], tuple(others))

    def is_unread(message: MailboxMessage) -> bool:
        path = f"/me/messages/{message.source_id}"
        return message.source == "mail" and web.get(path).json()["isRead"] is False

    return Subject(opened(), opened(), drafts, is_unread)


def imap(dovecot: Dovecot) -> Subject:
    """Return a new account of a real server, with read and unread mail."""
    account = ImapTestAccount(dovecot)
    account.fill()

    def drafts() -> list[Kept]:
        return [Kept(one.to, one.subject, one.text, one.others) for one in account.drafts()]

    return Subject(account.mailbox(), account.mailbox(), drafts, account.is_unread, frozenset({"mail"}))


MAILBOXES: dict[str, Callable[[pytest.FixtureRequest], Subject]] = {
    "sample A": lambda request: sample(request.getfixturevalue("tmp_path") / "drafts", "A"),
    "sample B": lambda request: sample(request.getfixturevalue("tmp_path") / "drafts", "B"),
    "sample large": lambda request: sample(request.getfixturevalue("tmp_path") / "drafts", "A", 600),
    "scripted": lambda _: scripted(),
    "imap": lambda request: imap(request.getfixturevalue("dovecot")),
    "microsoft": lambda request: request.getfixturevalue("microsoft"),
}


@pytest.fixture(params=MAILBOXES)
def subject(request: pytest.FixtureRequest) -> Subject:
    """Return a mailbox of each adapter, with several messages of each source."""
    return MAILBOXES[request.param](request)


@pytest.fixture
def key() -> str:
    """Return a key that no other test has."""
    return uuid4().hex


async def batches_of(mailbox: Mailbox) -> list[MessageBatch]:
    """Read a mailbox to its end."""
    return [batch async for batch in mailbox.messages()]


async def listed(mailbox: Mailbox) -> list[MailboxMessage]:
    """Return every message of a mailbox."""
    return [*chain.from_iterable(batch.messages for batch in await batches_of(mailbox))]


async def replyable(mailbox: Mailbox) -> list[MailboxMessage]:
    """Return one message of each source that has somebody to reply to."""
    found = {one.source: one for one in await listed(mailbox) if one.address}
    return [*found.values()]


async def test_newest_first(subject: Subject) -> None:
    """The messages of each source come newest first, across the batches too, and all of them can be read."""
    for source in get_args(Source):
        moments = [one.received_at for one in await listed(subject.mailbox) if one.source == source]
        assert moments == sorted(moments, reverse=True)
    assert not sum(batch.unreadable for batch in await batches_of(subject.mailbox))


async def test_messages_are_of_a_mailbox(subject: Subject) -> None:
    """What the mailbox has is there, each with an id and a time in a time zone; no item of the ledger."""
    found = await listed(subject.mailbox)
    assert {one.source for one in found} == subject.sources
    assert all(one.source_id and one.received_at.tzinfo for one in found)


async def test_ids(subject: Subject) -> None:
    """An id is that of one message, and stays: at the next reading and in the next process."""
    ids = [(one.source, one.source_id) for one in await listed(subject.mailbox)]
    assert len(set(ids)) == len(ids)
    for mailbox in (subject.mailbox, subject.elsewhere):
        assert [(one.source, one.source_id) for one in await listed(mailbox)] == ids


async def test_every_body_can_be_read(subject: Subject) -> None:
    """Whatever is listed has a text, or names what it has instead."""
    for one in await listed(subject.mailbox):
        body = await subject.mailbox.body(one.source, one.source_id)
        assert body.content.strip() or body.attachments or body.invitation
        assert body.media_type in {"text/plain", "text/html"}


async def test_a_body_that_is_not_there(subject: Subject) -> None:
    """The text of a message that is gone is an error of its own; the id of another source finds nothing."""
    first = (await listed(subject.mailbox))[0]
    other: Source = "mail" if first.source != "mail" else "teams"
    gone: list[tuple[Source, str]] = [(other, first.source_id), (first.source, f"{first.source_id}-gone")]
    for source, source_id in gone:
        with pytest.raises(RowGone):
            await subject.mailbox.body(source, source_id)


async def test_a_draft_is_kept(subject: Subject, key: str) -> None:
    """A draft goes to the message's address and holds the comment above the quoted original.

    The answer to mail and meetings is a reply, that to a chat a new mail.
    """
    for one in await replyable(subject.mailbox):
        comment = f"Is noon well? {one.source}"
        body = await subject.mailbox.body(one.source, one.source_id)
        draft = await subject.mailbox.draft(reply_to(f"{key}-{one.source}", one, comment, body))
        assert draft.is_new
        kept = next(each for each in subject.drafts() if comment in each.text)
        assert kept.to == one.address
        assert kept.subject.startswith("Re: ") is (one.source != "teams")
        assert kept.subject.endswith(one.subject)
        quoted = kept.text.partition(comment)[2]
        assert all(word in quoted for word in re.sub(r"<[^>]*>", " ", body.content).split()[:1])


async def test_a_draft_to_all(subject: Subject, key: str) -> None:
    """It goes to the people that it was made for, and to nobody else; one to the sender alone goes to one."""
    one = next(each for each in await replyable(subject.mailbox) if each.source == "mail")
    bo, di = Person('Bo, the "second"', "bo@corp.example"), Person("Dí", "di@corp.example")
    own = Person("Ann", next(iter(subject.mailbox.own_addresses)))
    message = replace(one, to=(own, bo), cc=(di, own))
    for to_all, others in ((True, ("bo@corp.example", "di@corp.example")), (False, ())):
        reply = reply_to(f"{key}-{to_all}", message, f"To all: {to_all}", to_all=to_all, own=[own.address])
        assert (await subject.mailbox.draft(reply)).is_new
        [kept] = [each for each in subject.drafts() if f"To all: {to_all}" in each.text]
        assert (kept.to, kept.others) == (one.address, others)


async def test_every_mailbox_quotes_alike(subject: Subject, key: str) -> None:
    """The comment, one line with who wrote and when, the original."""
    one = next(each for each in await replyable(subject.mailbox) if each.source == "mail")
    await subject.mailbox.draft(reply_to(key, one, "Yes."))
    [kept] = subject.drafts()
    intro = f"On {one.received_at.astimezone(UTC):%Y-%m-%d at %H:%M UTC}, {one_line(one.sender)[:100]} wrote:"
    assert kept.text.replace("\r\n", "\n") == f"Yes.\n\n{intro}\n> Is noon well?\n"


async def test_a_draft_without_a_comment(subject: Subject, key: str) -> None:
    """A comment may be empty."""
    one = (await replyable(subject.mailbox))[0]
    assert (await subject.mailbox.draft(reply_to(key, one))).is_new
    assert len(subject.drafts()) == 1


async def test_one_key_one_draft(subject: Subject, key: str) -> None:
    """A second call with a key finds the draft of the first, in another process too, and changes nothing."""
    one = (await replyable(subject.mailbox))[0]
    first = await subject.mailbox.draft(reply_to(key, one, "first"))
    before = subject.drafts()
    for mailbox in (subject.mailbox, subject.elsewhere):
        assert await mailbox.draft(reply_to(key, one, "second")) == replace(first, is_new=False)
    assert subject.drafts() == before


async def test_another_key_another_draft(subject: Subject, key: str) -> None:
    """Each key has a draft of its own, for one message too."""
    one = (await replyable(subject.mailbox))[0]
    drafts = [await subject.mailbox.draft(reply_to(f"{key}-{each}", one, each)) for each in "abc"]
    assert all(draft.is_new for draft in drafts)
    assert len({draft.id for draft in drafts}) == len(subject.drafts()) == 3


async def test_drafts_at_once(subject: Subject, key: str) -> None:
    """Of ten calls at the same time, from two processes, one makes the draft, and all return it."""
    one = (await replyable(subject.mailbox))[0]
    mailboxes = [subject.mailbox, subject.elsewhere] * 5
    drafts = await asyncio.gather(*(mailbox.draft(reply_to(key, one, "yes")) for mailbox in mailboxes))
    assert len({draft.id for draft in drafts}) == len(subject.drafts()) == 1
    assert sum(draft.is_new for draft in drafts) == 1


async def test_a_draft_for_what_is_not_there(subject: Subject, key: str) -> None:
    """A reply to a message that is gone is refused, and leaves nothing."""
    one = (await replyable(subject.mailbox))[0]
    with pytest.raises(RowGone):
        await subject.mailbox.draft(reply_to(key, replace(one, source_id=f"{one.source_id}-gone")))
    assert subject.drafts() == []


async def test_unread_stays_unread(subject: Subject, key: str) -> None:
    """Listing, reading and drafting leave every message as it was: unread or read."""
    found = await listed(subject.mailbox)
    before = [subject.is_unread(one) for one in found]
    assert set(before) == {True, False}
    for one in found[:40]:
        await subject.mailbox.body(one.source, one.source_id)
    for one in await replyable(subject.mailbox):
        await subject.mailbox.draft(reply_to(f"{key}-{one.source}", one))
    assert [subject.is_unread(one) for one in await listed(subject.mailbox)] == before


async def test_nothing_sends(subject: Subject) -> None:
    """No public name of the mailbox speaks of sending."""
    names = [name.lower() for name in dir(subject.mailbox) if not name.startswith("_")]
    assert [name for name in names if SENDING.search(name)] == []


async def test_the_check(subject: Subject) -> None:
    """A mailbox that can be read passes its check, and the check leaves no draft."""
    await subject.mailbox.check()
    assert subject.drafts() == []
