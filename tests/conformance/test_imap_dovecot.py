"""A mailbox by IMAP on Debian's dovecot: what is listed, what moves, drafts, TLS; see the port's suite, too."""

from collections.abc import Generator
from dataclasses import replace

import pytest

from orrery.adapters.imap_mailbox.connection import MailHost
from orrery.adapters.imap_mailbox.mailbox import ImapAccount, ImapMailbox
from orrery.ports.comms.errors import MailboxRefused, MailboxUnreachable, RowGone, SignInNeeded
from orrery.ports.comms.messages import MailboxMessage
from orrery.trust import Trust
from tests.support.dovecot import DRAFTS, PASSWORD, Dovecot, running_dovecot, skip_without_dovecot
from tests.support.imap import ImapTestAccount, mail
from tests.support.mailboxes import reply_to

DAY = 24 * 60
HOSTILE = (
    b"Subject: " + b"x" * 1_000_000 + b"\r\n\r\nText.\r\n",
    b'Subject: =?utf-8?q?a=0D=0ABcc:_eve@lab.example?=\r\nReply-To: "a\r\n b" <b@lab.example>\r\n\r\nText.\r\n',
    b"Subject: gr\xfc\xdfe\r\nFrom: \xff\xfe <a@lab.example>\r\n\r\nText.\r\n",
    b"References: " + b"<1@lab.example>\r\n " * 50_000 + b"\r\n\r\nText.\r\n",
    b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(10_000)),
    b"Content-Type: text/plain; charset=no-such\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!\r\n",
    b"Content-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\nText.\r\n",
)


@pytest.fixture
def account(dovecot: Dovecot) -> ImapTestAccount:
    """Return a new account."""
    return ImapTestAccount(dovecot)


async def listed(mailbox: ImapMailbox) -> list[MailboxMessage]:
    """Return every message."""
    return [one async for batch in mailbox.messages() for one in batch.messages]


async def test_what_is_listed(account: ImapTestAccount) -> None:
    """What came in the last days, read or not, and is not deleted; with whether it is marked as answered."""
    for number, flags in enumerate(("", r"(\Seen)", r"(\Answered)", r"(\Deleted)"), 1):
        account.receive(mail(number), number, flags=flags)
    account.receive(mail(5), 40 * DAY)
    found = await listed(account.mailbox())
    assert [(one.subject, one.standing.is_answered) for one in found] == [
        ("Subject 1", False),
        ("Subject 2", False),
        ("Subject 3", True),
    ]
    assert len(await listed(account.mailbox(days=60))) == 4


async def test_several_folders(account: ImapTestAccount) -> None:
    """The messages of several folders are one list, and nothing is listed of a folder that is not named."""
    account.dovecot.make_folder(account.name, "Z&APw-rich &- mehr")
    account.receive(mail(1), 2)
    account.receive(mail(2), 1, folder="Z&APw-rich &- mehr")
    mailbox = account.mailbox(("INBOX", "Zürich & mehr"))
    found = await listed(mailbox)
    assert [one.subject for one in found] == ["Subject 2", "Subject 1"]
    assert [(await mailbox.body("mail", one.source_id)).content for one in found] == [
        "Text of number 2.\n",
        "Text of number 1.\n",
    ]
    assert len(await listed(account.mailbox())) == 1


async def test_a_folder_that_is_not_there(account: ImapTestAccount) -> None:
    """The sentence names it, at the check too."""
    mailbox = account.mailbox(("INBOX", "Todo"))
    for call in (mailbox.check(), listed(mailbox)):
        with pytest.raises(MailboxRefused, match="Todo"):
            await call


async def test_a_message_that_is_moved(account: ImapTestAccount) -> None:
    """Its row goes, and a call for it finds that it is gone; the others stay."""
    account.fill(3)
    mailbox = account.mailbox()
    first, *others = await listed(mailbox)
    with account.dovecot.opened(account.name) as client:
        client.uid("MOVE", first.source_id.split(".")[1], DRAFTS)
    for call in (mailbox.body("mail", first.source_id), mailbox.draft(reply_to("a-key", first))):
        with pytest.raises(RowGone):
            await call
    assert await listed(mailbox) == others


@pytest.mark.parametrize("rest", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_messages(rest: bytes, account: ImapTestAccount) -> None:
    """What anybody may send is listed, read and answered, beside a message that is as it should be."""
    account.receive(mail(1), 2)
    account.receive(b"From: Eve <eve@lab.example>\r\n" + rest, 1)
    mailbox = account.mailbox()
    hostile, well = await listed(mailbox)
    assert well.subject == "Subject 1"
    assert len(hostile.subject) < 10_000
    await mailbox.body("mail", hostile.source_id)
    await mailbox.draft(reply_to("a-key", hostile, "No."))
    (draft,) = account.drafts()
    assert "bcc" not in draft.headers
    assert draft.to == hostile.address


async def test_a_draft_in_another_mail_program(account: ImapTestAccount) -> None:
    """It is marked as a draft that was seen, is in the thread of its original, and has its key."""
    account.receive(mail(1, head=b"References: <0@lab.example>\r\n"))
    mailbox = account.mailbox()
    (one,) = await listed(mailbox)
    draft = await mailbox.draft(reply_to("a-key", one, "Yes."))
    (flags,) = account.dovecot.flags(account.name, DRAFTS).values()
    assert all(flag in flags for flag in ("Draft", "Seen"))
    (kept,) = account.drafts()
    assert kept.headers["references"] == "<0@lab.example> <1@lab.example>"
    assert kept.headers["x-orrery-draft"] == "a-key"
    assert draft.web_link == ""


async def test_a_draft_that_was_deleted(account: ImapTestAccount) -> None:
    """It is no draft any more: the next call makes a new one."""
    account.receive(mail())
    mailbox = account.mailbox()
    (one,) = await listed(mailbox)
    await mailbox.draft(reply_to("a-key", one))
    with account.dovecot.opened(account.name, DRAFTS) as client:
        client.store("1", "+FLAGS", r"(\Deleted)")
    assert (await mailbox.draft(reply_to("a-key", one))).is_new


async def test_another_folder_for_drafts(account: ImapTestAccount) -> None:
    """A folder that the settings name goes before the server's own; one that is not there is said."""
    account.receive(mail())
    (one,) = await listed(account.mailbox())
    await account.mailbox(drafts="INBOX").draft(reply_to("a-key", one))
    assert account.drafts() == []
    assert len(account.dovecot.held(account.name, "INBOX")) == 2
    with pytest.raises(MailboxRefused, match="folder for drafts"):
        await account.mailbox(drafts="Nowhere").draft(reply_to("a-key", one))


@pytest.fixture
def full() -> Generator[ImapTestAccount]:
    """Return an account that may hold one message."""
    skip_without_dovecot()
    with running_dovecot("*:messages=1") as dovecot:
        yield ImapTestAccount(dovecot)


async def test_a_full_mailbox(full: ImapTestAccount) -> None:
    """A draft that does not fit is refused with what to do, and reading goes on."""
    full.receive(mail())
    mailbox = full.mailbox()
    (one,) = await listed(mailbox)
    with pytest.raises(MailboxRefused, match="is full"):
        await mailbox.draft(reply_to("a-key", one))
    assert len(await listed(mailbox)) == 1


async def test_starttls(account: ImapTestAccount) -> None:
    """A connection that begins in clear is encrypted before the password is shown."""
    dovecot = account.dovecot
    server = MailHost("localhost", account.name, PASSWORD, dovecot.plain_port, "starttls")
    await ImapMailbox(ImapAccount(account.name), server, account.clock, Trust(dovecot.certificate)).check()


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_a_certificate_that_is_not_believed(security: str, account: ImapTestAccount) -> None:
    """An unknown authority, and a certificate for another name, are refused before the password is shown."""
    dovecot = account.dovecot
    port = dovecot.tls_port if security == "tls" else dovecot.plain_port
    server = MailHost("localhost", account.name, PASSWORD, port, "tls" if security == "tls" else "starttls")
    other = replace(server, host="127.0.0.1")
    for one, trust in ((server, Trust()), (other, Trust(dovecot.certificate))):
        with pytest.raises(MailboxUnreachable, match="certificate"):
            await ImapMailbox(ImapAccount(account.name), one, account.clock, trust).check()


async def test_a_wrong_password(account: ImapTestAccount) -> None:
    """The person must act, and no sentence has the password."""
    dovecot = account.dovecot
    server = MailHost("localhost", account.name, "wrong-pass-word", dovecot.tls_port)
    mailbox = ImapMailbox(ImapAccount(account.name), server, account.clock, Trust(dovecot.certificate))
    with pytest.raises(SignInNeeded, match="imap_passwords") as refused:
        await mailbox.check()
    assert "wrong-pass-word" not in f"{refused.value} {server!r}"


def test_it_is_of_the_public_track(dovecot: Dovecot) -> None:
    """It has two locks only, says so, and is of no track that would need the third (decision 36)."""
    mailbox = ImapTestAccount(dovecot).mailbox()
    assert mailbox.track == "B"
    assert "Two locks only" in mailbox.caution
