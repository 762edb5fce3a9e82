"""A mailbox by IMAP, and a server that fails it in every way (decision 0070)."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import ExitStack
from dataclasses import replace

import pytest

from orrery.adapters.imap_mailbox.connection import ImapConnection, MailHost, translated
from orrery.adapters.imap_mailbox.listing import MANY
from orrery.adapters.imap_mailbox.mailbox import ImapMailbox
from orrery.ports.comms.errors import MailboxError, MailboxRefused, MailboxUnreachable, RowGone, SignInNeeded
from orrery.ports.comms.messages import MailboxMessage
from orrery.trust import Trust
from tests.conformance.imap_server import (
    PASSWORD,
    ImapServer,
    Misbehaviour,
    chatters,
    closes,
    hangs,
    misbehaving_server,
    says,
    trickles,
)
from tests.support.clock import START
from tests.support.mailboxes import reply_to
from tests.support.tables import each_case
from tests.support.waiting import eventually

SOON = 0.3
"""Seconds of a mailbox whose server never answers; whoever is slower fails in the same way."""

READING = ("GREETING", "CAPABILITY", "AUTHENTICATE", "EXAMINE", "SEARCH", "FETCH")
DRAFTING = (*READING, "LIST", "APPEND")
ROW = MailboxMessage(
    source="mail",
    source_id="7.1.INBOX",
    sender="Cy",
    address="cy@lab.example",
    subject="Noon",
    preview="",
    received_at=START,
)


@pytest.fixture
def server() -> Generator[ImapServer]:
    """Return a server with one message."""
    with misbehaving_server() as server:
        yield server


async def listed(mailbox: ImapMailbox) -> list[MailboxMessage]:
    """Return every message."""
    return [one async for batch in mailbox.messages() for one in batch.messages]


CALLS: Mapping[str, Callable[[ImapMailbox], Awaitable[object]]] = {
    "messages": listed,
    "draft": lambda mailbox: mailbox.draft(reply_to("a-key", ROW, "Yes.")),
}
STEPS = [*(("messages", step) for step in READING), *(("draft", step) for step in DRAFTING)]


async def test_it_works(server: ImapServer) -> None:
    """The server of these tests is one that the mailbox can read when it behaves."""
    (one,) = await listed(server.mailbox())
    assert (one.sender, one.subject, one.preview) == ("Cy", "Noon", "Is noon well?")
    assert (await server.mailbox().draft(reply_to("a-key", one))).is_new


@each_case(
    ("call", "step", "misbehaviour"),
    [
        *((call, step, hangs) for call, step in STEPS),
        *(("messages", step, endless) for step in ("GREETING", "FETCH") for endless in (trickles, chatters)),
    ],
)
async def test_no_end(call: str, step: str, misbehaviour: Misbehaviour, server: ImapServer) -> None:
    """A server that never comes to the end of an answer is given up, wherever it is asked."""
    server.instead[step] = misbehaviour
    with pytest.raises(MailboxUnreachable, match=r"no answer|unusable answer"):
        await CALLS[call](server.mailbox(SOON))


def test_the_time_ends_before_a_command_is_sent(server: ImapServer) -> None:
    """A deadline that passes then has the same words: the library makes an error of its own of it."""
    host = MailHost("127.0.0.1", "cy@lab.example", PASSWORD, server.port, "none")
    with ExitStack() as stack:
        connection = ImapConnection(host, Trust().mail, lambda _: None)
        stack.callback(connection.shutdown)
        connection.within(0)
        with pytest.raises(MailboxUnreachable, match="no answer"), translated():
            _ = connection.noop()


@each_case(("call", "step"), STEPS)
async def test_a_connection_that_ends(call: str, step: str, server: ImapServer) -> None:
    """A server that hangs up is unreachable, and never a crash."""
    server.instead[step] = closes
    with pytest.raises(MailboxUnreachable):
        await CALLS[call](server.mailbox())


@each_case(
    "text",
    [
        b"\0\xff\r\n",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"* 1 FETCH (UID 1 BODY[] {4294967296}\r\nx",
        b"* 1 FETCH (UID 1 BODY[] {" + b"9" * 5000 + b"}\r\n",
        b"* " + b"(" * 50_000 + b"\r\n",
        b"* 1 FETCH ((((((((((((\r\n",
        b"* CAPABILITY {3}\r\nabc\r\n",
        b"* SEARCH x\r\n",
        b"* BYE\r\n",
    ],
)
@each_case("step", READING)
async def test_nonsense(text: bytes, step: str, server: ImapServer) -> None:
    """Whatever a server says, and however much it announces, is an error of the port, or nothing to list."""
    server.instead[step] = says(text)
    with pytest.raises(MailboxError):
        await listed(server.mailbox())


@pytest.mark.parametrize("size", [b"4294967296", b"99999999999999999999"])
async def test_more_than_was_asked_for(size: bytes, server: ImapServer) -> None:
    """What is announced as larger than anything that is asked for is refused before a byte of it is read."""
    server.answers["FETCH"] = b"* 1 FETCH (UID 1 BODY[] {" + size + b"}\r\nx"
    with pytest.raises(MailboxUnreachable, match="unusable answer"):
        await listed(server.mailbox())


async def test_who_waits_no_longer(server: ImapServer) -> None:
    """A caller that is cancelled ends its connection at once, in the middle of the log-in."""
    server.instead["AUTHENTICATE"] = hangs
    call = asyncio.ensure_future(listed(server.mailbox()))
    await asyncio.to_thread(eventually, lambda: _require(bool(server.said("AUTHENTICATE"))))
    call.cancel()
    await asyncio.to_thread(eventually, lambda: _require(server.gone.is_set()))


def _require(condition: bool) -> None:  # noqa: FBT001  what is waited for
    assert condition


async def test_a_refused_password(server: ImapServer) -> None:
    """A person must act: the sentence says where, and has no password."""
    server.answers["AUTHENTICATE"] = b"TAG NO [AUTHENTICATIONFAILED] no\r\n"
    with pytest.raises(SignInNeeded, match="secret file imap_passwords") as refused:
        await listed(server.mailbox())
    assert PASSWORD not in str(refused.value)
    assert PASSWORD not in repr(server.mailbox().__dict__)


async def test_passwords_that_cannot_be_checked(server: ImapServer) -> None:
    """A server that cannot look at passwords now is no reason to sign in anew."""
    server.answers["AUTHENTICATE"] = b"TAG NO [UNAVAILABLE] later\r\n"
    with pytest.raises(MailboxUnreachable) as failed:
        await listed(server.mailbox())
    assert not isinstance(failed.value, SignInNeeded)


async def test_no_password(server: ImapServer) -> None:
    """Without a password nothing is said to the server."""
    with pytest.raises(SignInNeeded, match="no password"):
        await server.mailbox(password=None).check()
    assert server.lines == []


@pytest.mark.parametrize("capabilities", ["IMAP4rev1 LOGINDISABLED", "IMAP4rev1 AUTH=PLAIN LOGINDISABLED"])
async def test_no_password_in_clear(capabilities: str, server: ImapServer) -> None:
    """A server that forbids it is shown no password."""
    server.capabilities = capabilities
    with pytest.raises(MailboxRefused, match="security"):
        await listed(server.mailbox())
    assert server.said("LOGIN") + server.said("AUTHENTICATE") == []


async def test_a_server_without_plain(server: ImapServer) -> None:
    """Where there is no other way, the password is a quoted string."""
    server.capabilities = "IMAP4rev1"
    assert await listed(server.mailbox())
    assert server.said("LOGIN")[0].endswith(f'LOGIN "cy@lab.example" "{PASSWORD}"\r\n'.encode())


async def test_nothing_is_fetched_twice(server: ImapServer) -> None:
    """A second reading fetches what is new, and only that; what was deleted is no longer listed."""
    server.uids = [1, 2, 3]
    mailbox = server.mailbox()
    await listed(mailbox)
    server.uids = [2, 3, 9]
    server.lines.clear()
    found = await listed(mailbox)
    assert {one.source_id for one in found} == {"7.2.INBOX", "7.3.INBOX", "7.9.INBOX"}
    assert all(b"FETCH 9 " in line for line in server.said("FETCH"))
    server.lines.clear()
    assert await listed(mailbox) == found
    assert server.said("FETCH") == []


async def test_a_renumbered_folder(server: ImapServer) -> None:
    """When the numbers mean something else, everything is read anew, and the ids of before are gone."""
    mailbox = server.mailbox()
    (before,) = await listed(mailbox)
    server.validity, server.message = 8, server.message.replace(b"Noon", b"Dusk")
    (after,) = await listed(mailbox)
    assert (before.subject, after.subject) == ("Noon", "Dusk")
    assert before.source_id != after.source_id
    with pytest.raises(RowGone):
        await mailbox.body("mail", before.source_id)


async def test_ids_that_stay(server: ImapServer) -> None:
    """Where the server has ids of its own for messages, rows have these, renumbered or not."""
    server.capabilities += " OBJECTID"
    mailbox = server.mailbox()
    (before,) = await listed(mailbox)
    server.validity = 8
    (after,) = await listed(mailbox)
    assert before.source_id == after.source_id == "id.M1"
    assert (await mailbox.body("mail", "id.M1")).content == "Is noon well?\n"
    assert b"EMAILID M1 " in server.said("SEARCH")[-1]


@each_case("source_id", ["", "1", "7.1", "7.1.Other", "7.01.INBOX", "id.", "id.M1 ALL", "7.1.INBOX\n"])
async def test_an_id_of_no_message(source_id: str, server: ImapServer) -> None:
    """What no listing shows is gone, and reaches no command."""
    with pytest.raises(RowGone):
        await server.mailbox().body("mail", source_id)
    assert server.said("SEARCH") + server.said("FETCH") == []


async def test_a_lost_answer(server: ImapServer) -> None:
    """The server took the draft and its answer was lost: the next call finds it."""
    server.instead["APPEND"] = closes
    reply = reply_to("a-key", ROW)
    with pytest.raises(MailboxUnreachable):
        await server.mailbox().draft(reply)
    server.instead.clear()
    assert not (await server.mailbox().draft(reply)).is_new
    assert len(server.drafts) == 1


async def test_a_key_inside_of_another(server: ImapServer) -> None:
    """A search finds parts of words: a longer key is that of another draft."""
    mailbox = server.mailbox()
    await mailbox.draft(reply_to("a-key-2", ROW))
    assert (await mailbox.draft(reply_to("a-key", ROW))).is_new
    assert len(server.drafts) == 2


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [(b"[OVERQUOTA] full", "is full"), (b"[TRYCREATE] no", "is not there"), (b"no", "takes no draft")],
)
async def test_a_draft_that_is_refused(answer: bytes, sentence: str, server: ImapServer) -> None:
    """The sentence says why the server takes no draft, as far as it says that."""
    server.answers["APPEND"] = b"TAG NO " + answer + b"\r\n"
    with pytest.raises(MailboxRefused, match=sentence):
        await server.mailbox().draft(reply_to("a-key", ROW))


async def test_no_folder_for_drafts(server: ImapServer) -> None:
    """A server that names none needs the setting; nothing is written anywhere."""
    server.answers["LIST"] = b"TAG NO there is none\r\n"
    for call in (server.mailbox().check(), server.mailbox().draft(reply_to("a-key", ROW))):
        with pytest.raises(MailboxRefused, match="set drafts_folder"):
            await call
    assert server.said("APPEND") == []


async def test_what_it_says_to_a_server(server: ImapServer) -> None:
    """It says nothing that could change a message, and opens no folder to write."""
    mailbox = server.mailbox()
    (one,) = await listed(mailbox)
    await mailbox.body("mail", one.source_id)
    await mailbox.draft(reply_to("a-key", replace(one), "Yes."))
    await mailbox.check()
    names = {line.split()[2 if b" UID " in line else 1].decode() for line in server.lines}
    assert names - {"LOGOUT"} == {"CAPABILITY", "AUTHENTICATE", "EXAMINE", "SEARCH", "FETCH", "LIST", "APPEND"}
    assert all(b".PEEK[" in line for line in server.said("FETCH") if b"BODY" in line)


async def test_the_last_that_arrived_come_first(server: ImapServer) -> None:
    """Of very many new messages some are there before the times of all are asked for; none comes twice."""
    server.uids = [*range(1, MANY + 100)]
    mailbox = server.mailbox()
    batches = mailbox.messages()
    first = await anext(batches)
    asked = len(server.said("FETCH"))
    rest = [one async for batch in batches for one in batch.messages]
    assert [one.source_id for one in first.messages[:1]] == [f"7.{MANY + 99}.INBOX"]
    assert (asked, len(server.said("EXAMINE"))) == (2, 1)
    assert len({one.source_id for one in [*first.messages, *rest]}) == len(first.messages) + len(rest) == MANY + 99
