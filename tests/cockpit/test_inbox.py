"""What one mailbox's rows are while it answers, hangs, throttles, or answers half."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from orrery.cockpit.inbox import LATE, Inbox
from orrery.cockpit.settings import SCORES
from orrery.ports.comms.errors import MailboxRefused, MailboxUnreachable, SignInNeeded
from orrery.runtime.tasks import Tasks
from tests.support.clock import ManualClock, settled
from tests.support.logged import logged
from tests.support.mailboxes import ScriptedMailbox, a_message


class Desk:
    """An inbox over a mailbox that does as the test says."""

    def __init__(self, count: int = 3) -> None:
        self.clock = ManualClock()
        self.mailbox = ScriptedMailbox(held=[a_message(number) for number in range(1, count + 1)], batch=1)
        self.inbox = Inbox(self.mailbox, self.clock, Tasks(), SCORES)

    @property
    def subjects(self) -> list[str]:
        """The subjects of the rows, in order."""
        return [one.message.subject for one in self.inbox.rows]


@pytest.fixture
def desk() -> Desk:
    """Return an inbox that was not read yet."""
    return Desk()


async def test_before_the_first_reading(desk: Desk) -> None:
    """There is nothing, and it says that it is not known yet."""
    assert (desk.inbox.state, desk.inbox.rows, desk.inbox.at) == ("loading", (), None)


async def test_a_whole_reading(desk: Desk) -> None:
    """Every row, newest first, and when that was."""
    await desk.inbox.read()
    assert desk.subjects == ["Subject 1", "Subject 2", "Subject 3"]
    assert (desk.inbox.state, desk.inbox.why, desk.inbox.at) == ("fresh", "", desk.clock.now())
    assert desk.inbox.asked_at is None


async def test_the_first_reading_shows_what_came(desk: Desk) -> None:
    """Batch by batch, while the rest is awaited; since when is said."""
    desk.mailbox.hangs_after = 2
    reading = asyncio.ensure_future(desk.inbox.read())
    await settled()
    assert desk.subjects == ["Subject 1", "Subject 2"]
    assert (desk.inbox.state, desk.inbox.asked_at) == ("loading", desk.clock.now())
    _ = reading.cancel()


async def test_a_later_reading_replaces_all_at_its_end(desk: Desk) -> None:
    """What was deleted is gone then, and not before; until then the rows of before stay."""
    await desk.inbox.read()
    desk.mailbox.held = [a_message(4), a_message(5)]
    desk.mailbox.hangs_after = 1
    reading = asyncio.ensure_future(desk.inbox.read())
    await settled()
    assert desk.subjects == ["Subject 1", "Subject 2", "Subject 3"]
    assert desk.inbox.state == "fresh"
    _ = reading.cancel()
    other = Desk()
    await other.inbox.read()
    other.mailbox.held = [a_message(4)]
    await other.inbox.read()
    assert other.subjects == ["Subject 4"]


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (MailboxUnreachable("Too many requests."), "stale"),
        (MailboxRefused("It said no."), "stale"),
        (SignInNeeded("The sign-in has run out."), "sign-in-needed"),
    ],
)
async def test_an_error_keeps_the_rows(desk: Desk, error: Exception, state: str) -> None:
    """The rows of before stay, with the reason and the time of the last whole reading; a success ends that."""
    await desk.inbox.read()
    at = desk.inbox.at
    desk.mailbox.broken = error
    desk.clock.advance(60)
    await desk.inbox.read()
    assert (desk.inbox.state, desk.inbox.why, desk.inbox.at) == (state, str(error), at)
    assert len(desk.subjects) == 3
    desk.mailbox.broken = None
    await desk.inbox.read()
    assert (desk.inbox.state, desk.inbox.why, desk.inbox.at) == ("fresh", "", desk.clock.now())


async def test_a_mailbox_that_hangs(desk: Desk) -> None:
    """After a few seconds its rows are stale, though nothing has failed; the reading goes on, and ends that."""
    await desk.inbox.read()
    desk.mailbox.gate.clear()
    reading = asyncio.ensure_future(desk.inbox.read())
    await settled()
    desk.clock.advance(LATE.total_seconds() - 0.1)
    assert (desk.inbox.state, desk.inbox.why) == ("fresh", "")
    desk.clock.advance(0.1)
    assert (desk.inbox.state, desk.inbox.why) == ("stale", "It was asked, and has not answered yet.")
    assert len(desk.subjects) == 3
    desk.mailbox.gate.set()
    await reading
    assert (desk.inbox.state, desk.inbox.why) == ("fresh", "")


async def test_a_first_reading_that_takes_long(desk: Desk) -> None:
    """Rows come: nobody is told that there is no answer. Before the first ones somebody is."""
    desk.mailbox.hangs_after = 2
    for gate, rows, why in ((False, 0, "It was asked, and has not answered yet."), (True, 2, "")):
        (desk.mailbox.gate.set if gate else desk.mailbox.gate.clear)()
        reading = asyncio.ensure_future(desk.inbox.read())
        await settled()
        desk.clock.advance(LATE.total_seconds())
        assert (desk.inbox.state, len(desk.subjects), desk.inbox.why) == ("loading", rows, why)
        _ = reading.cancel()


@pytest.mark.parametrize("hangs_after", [0, 2])
async def test_a_reading_that_never_ends_is_given_up(hangs_after: int) -> None:
    """At the next batch that does not come; what came is kept, and the next reading starts anew."""
    mailbox = ScriptedMailbox(held=[a_message(1), a_message(2), a_message(3)], batch=1, hangs_after=hangs_after)
    inbox = Inbox(mailbox, ManualClock(), Tasks(), SCORES, batch_seconds=0.01)
    await inbox.read()
    assert (inbox.why, len(inbox.rows)) == ("It gave no answer for 0.01 s.", hangs_after)
    assert mailbox.listings == 0
    mailbox.hangs_after = None
    await inbox.read()
    assert (inbox.state, len(inbox.rows)) == ("fresh", 3)


async def test_an_error_without_rows(desk: Desk) -> None:
    """Nothing was ever read: that is another state than stale rows."""
    desk.mailbox.broken = MailboxUnreachable("It is off.")
    await desk.inbox.read()
    assert (desk.inbox.state, desk.inbox.why) == ("failed", "It is off.")


async def test_half_an_answer_adds_to_the_rows(desk: Desk) -> None:
    """What came is shown, what did not come stays as it was, and the reason is said."""
    await desk.inbox.read()
    desk.mailbox.held = [a_message(0), a_message(1), a_message(2)]
    desk.mailbox.breaks_after = 2
    await desk.inbox.read()
    assert desk.subjects == ["Subject 0", "Subject 1", "Subject 2", "Subject 3"]
    assert desk.inbox.state == "stale"


async def test_half_an_answer_and_half_again_lose_no_row(desk: Desk) -> None:
    """Before the first whole reading, too: what came stays while it is read again, and when that fails earlier."""
    desk.mailbox.breaks_after = 2
    await desk.inbox.read()
    desk.mailbox.breaks_after, desk.mailbox.hangs_after = None, 1
    reading = asyncio.ensure_future(desk.inbox.read())
    await settled()
    assert desk.subjects == ["Subject 1", "Subject 2"]
    _ = reading.cancel()
    other = Desk()
    for breaks_after in (2, 1):
        other.mailbox.breaks_after = breaks_after
        await other.inbox.read()
    assert other.subjects == ["Subject 1", "Subject 2"]


async def test_a_bug_empties_no_list(desk: Desk) -> None:
    """An unexpected error is a state like any other; the log has where it was, and nothing of a message."""
    await desk.inbox.read()
    desk.mailbox.broken = KeyError("Dear Ann, the offer")
    with logged() as logs:
        await desk.inbox.read()
    assert (desk.inbox.state, len(desk.subjects)) == ("stale", 3)
    assert desk.inbox.why == "The mailbox could not be read: unexpected KeyError."
    [crash] = logs
    assert (crash["event"], crash["kind"]) == ("mailbox crashed", "KeyError")
    assert "mailboxes.py:" in crash["where"][-1]
    assert "offer" not in str(crash)


async def test_readings_at_the_same_time_are_one(desk: Desk) -> None:
    """Ten callers, one listing; a caller who goes away does not end it for the others."""
    desk.mailbox.gate.clear()
    readers = [asyncio.ensure_future(desk.inbox.read()) for _ in range(10)]
    await settled()
    _ = readers[0].cancel()
    desk.mailbox.gate.set()
    _ = await asyncio.gather(*readers[1:])
    assert desk.mailbox.calls == ["messages"]
    assert desk.inbox.state == "fresh"


async def test_what_cannot_be_read_is_counted(desk: Desk) -> None:
    """One message that is not as documented hides none of the others."""
    desk.mailbox.unreadable = 2
    await desk.inbox.read()
    assert (desk.inbox.unreadable, len(desk.subjects)) == (2, 3)


async def test_a_message_of_no_time(desk: Desk) -> None:
    """A date that no calendar has costs its own row only."""
    early = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    desk.mailbox.held += [replace(a_message(4), received_at=early)]
    await desk.inbox.read()
    assert (desk.inbox.state, desk.inbox.unreadable, len(desk.subjects)) == ("fresh", 1, 3)


async def test_a_message_that_comes_twice_is_one_row(desk: Desk) -> None:
    """A page of a vendor may repeat what the one before had."""
    desk.mailbox.held += [a_message(3)]
    await desk.inbox.read()
    assert len(desk.subjects) == 3


async def test_one_source_that_is_never_read(desk: Desk) -> None:
    """An account without chats still loses the mail that has left: only the rows of what failed stay."""
    desk.mailbox.held = [a_message(1), a_message(2), a_message(3, "teams")]
    await desk.inbox.read()
    desk.mailbox.held = [a_message(1)]
    desk.mailbox.breaks_after = 1
    desk.mailbox.breaks_with = MailboxRefused("Chats: no.", unread=frozenset({"teams"}))
    await desk.inbox.read()
    assert desk.subjects == ["Subject 1", "Subject 3"]
    assert (desk.inbox.state, desk.inbox.why) == ("stale", "Chats: no.")


async def test_a_row_that_did_not_change(desk: Desk) -> None:
    """It is not made anew at each reading: of 50,000, that would hold up the others."""
    await desk.inbox.read()
    before = {one.message.subject: one for one in desk.inbox.rows}
    desk.mailbox.held = [replace(one) for one in desk.mailbox.held[:2]] + [a_message(4)]
    desk.mailbox.held[0] = replace(desk.mailbox.held[0], preview="Other")
    await desk.inbox.read()
    assert [before.get(one.message.subject) is one for one in desk.inbox.rows] == [False, True, False]
    assert desk.inbox.rows[0].message.preview == "Other"
