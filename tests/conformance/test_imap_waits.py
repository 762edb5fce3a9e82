"""What waits in a mailbox by IMAP: what other programs do there shows at the next refresh (decision 57)."""

from collections.abc import Generator

import pytest

from orrery.adapters.imap_mailbox.mailbox import NO_SENT_MAIL, ImapMailbox
from orrery.cockpit.waiting import Reason, own_reason_of
from orrery.ports.comms.errors import MailboxRefused
from tests.conformance.imap_server import ImapServer, misbehaving_server
from tests.support.dovecot import SENT, Dovecot
from tests.support.imap import PLAIN, ImapTestAccount, mail
from tests.support.waiting import PATIENCE

WATCHED = frozenset({"course.lab.example"})
ALIAS = "ann.lind@lab.example"


@pytest.fixture
def account(dovecot: Dovecot) -> ImapTestAccount:
    """Return a new account."""
    return ImapTestAccount(dovecot)


@pytest.fixture
def server() -> Generator[ImapServer]:
    """Return a server with one message, which says what it offers without being asked."""
    with misbehaving_server() as server:
        server.unasked = True
        yield server


async def reasons(mailbox: ImapMailbox) -> dict[str, Reason | None]:
    """Return why each message does not wait, by its subject."""
    found = [one async for batch in mailbox.messages() for one in batch.messages]
    return {one.subject: own_reason_of(one, WATCHED) for one in found}


def reply(number: int, *names: str, head: str = "In-Reply-To") -> bytes:
    """Return a message that was sent, which names others in a header."""
    return mail(number, head=f"{head}: {' '.join(names)}\r\n".encode())


async def test_marked_as_answered(account: ImapTestAccount) -> None:
    """What another program marks so waits no more at the next refresh, and waits again without the mark."""
    account.receive(mail(1))
    mailbox = account.mailbox()
    for change, reason in (("+FLAGS", "answered"), ("-FLAGS", None)):
        with account.dovecot.opened(account.name) as client:
            client.store("1", change, r"(\Answered)")
        assert await reasons(mailbox) == {"Subject 1": reason}


@pytest.mark.parametrize("when", ["before", "meanwhile"])
@pytest.mark.parametrize(
    ("header", "answered"),
    [
        (("In-Reply-To", "<1@lab.example>"), {"Subject 1"}),
        (("References", "<0@lab.example>\r\n <1@lab.example>\r\n\t<2@lab.example>"), {"Subject 1", "Subject 2"}),
        (("In-Reply-To", "<other@lab.example>"), set[str]()),
        (("X-Other", "<1@lab.example>"), set[str]()),
    ],
)
async def test_answered_by_a_message_that_was_sent(
    account: ImapTestAccount, header: tuple[str, str], answered: set[str], when: str
) -> None:
    """A message in the folder of sent mail answers those that it names, whichever program has put it there."""
    for number in (1, 2):
        account.receive(mail(number), number)
    mailbox = account.mailbox()
    if when == "meanwhile":
        assert {*(await reasons(mailbox)).values()} == {None}
    account.receive(reply(9, header[1], head=header[0]), folder=SENT)
    found = await reasons(mailbox)
    assert {name for name, why in found.items() if why == "answered"} == answered
    assert len(found) == 2


async def test_sent_mail_is_read_once(account: ImapTestAccount) -> None:
    """What came later is found, and what was found stays, also when the folder is made anew."""
    for number in (1, 2):
        account.receive(mail(number), number)
    mailbox = account.mailbox()
    account.receive(reply(8, "<1@lab.example>"), folder=SENT)
    assert (await reasons(mailbox))["Subject 1"] == "answered"
    with account.dovecot.opened(account.name) as client:
        client.delete(SENT)
        client.create(SENT)
    account.receive(reply(9, "<2@lab.example>"), folder=SENT)
    assert {*(await reasons(mailbox)).values()} == {"answered"}


HEADERS: dict[str, tuple[str, Reason | None]] = {
    "to me": ("To: Ann <{own}>", None),
    "to many": ("To: cy@lab.example, Ann <{upper}>, bo@lab.example", None),
    "to an address of mine": (f"To: {ALIAS}", None),
    "folded": ("To: cy@lab.example,\r\n Ann <{own}>", None),
    "a copy": ("To: cy@lab.example\r\nCc: {own}", "not-to-you"),
    "to others": ("To: cy@lab.example", "not-to-you"),
    "undisclosed": ("To: undisclosed-recipients:;", "not-to-you"),
    "nothing said": ("X-Other: 1", None),
    "a list": ("To: {own}\r\nList-Id: Others <others.lab.example>", "bulk"),
    "a list that is watched": ("To: x@lab.example\r\nList-ID: The course <Course.Lab.example>", None),
    "it can be left": ("To: {own}\r\nList-Unsubscribe: <https://list.example/leave>", "bulk"),
    "bulk": ("To: {own}\r\nPrecedence: bulk", "bulk"),
    "first class": ("To: {own}\r\nPrecedence: first-class", None),
    "a machine": ("To: {own}\r\nAuto-Submitted: auto-replied; owner-email=x", "bulk"),
    "no machine": ("To: {own}\r\nAuto-Submitted: no", None),
}


async def test_what_the_headers_say(account: ImapTestAccount) -> None:
    """Whom they name, and whether it went to many or a machine wrote it."""
    for number, (head, _) in enumerate(HEADERS.values()):
        written = head.format(own=account.name, upper=account.name.upper())
        account.receive(mail(number, head=written.encode() + b"\r\n"), number)
    found = await reasons(account.mailbox(addresses=(ALIAS.title(),)))
    assert found == {f"Subject {number}": reason for number, (_, reason) in enumerate(HEADERS.values())}


async def test_my_own_words(account: ImapTestAccount) -> None:
    """What the account wrote itself does not wait for it."""
    account.receive(b"From: Ann <%s>\r\nSubject: Note\r\n" % account.name.upper().encode() + PLAIN % 1)
    assert await reasons(account.mailbox()) == {"Note": "own"}


async def test_another_folder_of_sent_mail(account: ImapTestAccount) -> None:
    """The one of the settings goes before the server's own; one that is not there is said."""
    account.receive(mail(1))
    account.dovecot.make_folder(account.name, "Out")
    account.receive(reply(9, "<1@lab.example>"), folder="Out")
    assert await reasons(account.mailbox()) == {"Subject 1": None}
    assert await reasons(account.mailbox(sent="Out")) == {"Subject 1": "answered"}
    with pytest.raises(MailboxRefused, match="folder of sent mail"):
        await reasons(account.mailbox(sent="Nowhere"))


async def test_a_server_that_names_no_sent_mail(server: ImapServer) -> None:
    """The page says so beside the mailbox: then only the mark shows what was answered."""
    server.unasked = False
    mailbox = server.mailbox()
    await reasons(mailbox)
    assert mailbox.caution.endswith(NO_SENT_MAIL)


async def test_a_refresh_is_six_commands(server: ImapServer) -> None:
    """What the server says unasked is not asked for, and sent mail is one command while nothing is new in it."""
    mailbox = server.mailbox()
    await reasons(mailbox)
    assert NO_SENT_MAIL not in mailbox.caution
    assert server.gone.wait(PATIENCE)
    server.lines.clear()
    server.gone.clear()
    await reasons(mailbox)
    assert server.gone.wait(PATIENCE)
    names = [line.split()[2 if b" UID " in line else 1].decode() for line in server.lines]
    assert names == ["AUTHENTICATE", "STATUS", "EXAMINE", "SEARCH", "SEARCH", "LOGOUT"]


@pytest.mark.parametrize(
    "text", [b"", b"* STATUS Sent\r\n", b"* STATUS Sent (UIDNEXT x)\r\n", b"* STATUS Sent ((()))\r\n"]
)
async def test_an_odd_answer_about_sent_mail(server: ImapServer, text: bytes) -> None:
    """It is an error of the port."""
    server.answers["STATUS"] = text + b"TAG NO not this one\r\n"
    with pytest.raises(MailboxRefused, match="folder of sent mail"):
        await reasons(server.mailbox())
