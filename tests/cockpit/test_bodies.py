"""Texts that were read lately: 100 entries for ten minutes, one load for all callers at the same time."""

import asyncio

import pytest

from orrery.cockpit.bodies import Bodies
from orrery.ports.comms.errors import MailboxUnreachable, RowGone
from orrery.ports.comms.mailboxes import MessageBody
from orrery.ports.comms.messages import Source
from orrery.runtime.tasks import Tasks
from tests.support.clock import ManualClock, settled
from tests.support.mailboxes import LOST, ScriptedMailbox, a_message

ONE = a_message().source_id


@pytest.fixture
def clock() -> ManualClock:
    """Return a clock that the test moves."""
    return ManualClock()


@pytest.fixture
def tasks() -> Tasks:
    """Return the owner of the loads."""
    return Tasks()


@pytest.fixture
def bodies(clock: ManualClock, tasks: Tasks) -> Bodies:
    """Return an empty cache."""
    return Bodies(clock, tasks)


@pytest.fixture
def mailbox() -> ScriptedMailbox:
    """Return a mailbox with more messages than are kept."""
    return ScriptedMailbox(held=[a_message(number) for number in range(1, 102)])


async def read(bodies: Bodies, mailbox: ScriptedMailbox, numbers: range) -> None:
    """Read the texts of several messages."""
    for number in numbers:
        text = await bodies.text(mailbox, "mail", f"mail-{number}")
        assert text.strip() == f"Text of mail-{number}"


@pytest.mark.parametrize(("others", "loads"), [(99, 1), (100, 2)])
async def test_a_hundred_entries(bodies: Bodies, mailbox: ScriptedMailbox, others: int, loads: int) -> None:
    """The hundredth entry pushes nothing out; the one behind it pushes out the oldest."""
    await read(bodies, mailbox, range(1, others + 2))
    await read(bodies, mailbox, range(1, 2))
    assert mailbox.calls.count(f"body {ONE}") == loads
    assert mailbox.asked("body") == others + loads


@pytest.mark.parametrize(("seconds", "loads"), [(599, 1), (601, 2)])
async def test_ten_minutes(
    bodies: Bodies, mailbox: ScriptedMailbox, clock: ManualClock, seconds: int, loads: int
) -> None:
    """An entry is good for ten minutes from its load, however often it is read."""
    await bodies.text(mailbox, "mail", ONE)
    clock.advance(seconds / 2)
    await bodies.text(mailbox, "mail", ONE)
    clock.advance(seconds / 2)
    await bodies.text(mailbox, "mail", ONE)
    assert mailbox.asked("body") == loads


async def test_the_same_id_elsewhere(bodies: Bodies) -> None:
    """The id of another track, account or source is another message."""
    places: list[tuple[ScriptedMailbox, Source]] = [
        (ScriptedMailbox("A", "ann@corp.example"), "mail"),
        (ScriptedMailbox("B", "ann@corp.example"), "mail"),
        (ScriptedMailbox("A", "ben@corp.example"), "mail"),
        (ScriptedMailbox("A", "ann@corp.example"), "teams"),
    ]
    for place, source in places:
        place.held = [a_message(1, source, source_id="the-same")]
    for _ in range(2):
        for place, source in places:
            await bodies.text(place, source, "the-same")
    assert [place.asked("body") for place, _ in places] == [1, 1, 1, 1]


async def test_one_load_for_all(bodies: Bodies, mailbox: ScriptedMailbox) -> None:
    """Ten callers at the same time share one load; two messages are loaded side by side."""
    mailbox.gate.clear()
    callers = [asyncio.create_task(bodies.text(mailbox, "mail", f"mail-{each % 2 + 1}")) for each in range(10)]
    await settled()
    assert sorted(mailbox.calls) == ["body mail-1", "body mail-2"]
    mailbox.gate.set()
    assert {text.strip() for text in await asyncio.gather(*callers)} == {"Text of mail-1", "Text of mail-2"}
    assert mailbox.asked("body") == 2


@pytest.mark.parametrize("gone", [0, 1])
async def test_a_caller_that_goes_away(bodies: Bodies, mailbox: ScriptedMailbox, gone: int) -> None:
    """One cancelled caller, the first one too, does not stop the load for the others."""
    mailbox.gate.clear()
    callers = [asyncio.create_task(bodies.text(mailbox, "mail", ONE)) for _ in range(3)]
    await settled()
    callers[gone].cancel()
    await settled()
    assert callers[gone].cancelled()
    mailbox.gate.set()
    texts = await asyncio.gather(*(one for one in callers if one is not callers[gone]))
    assert [text.strip() for text in texts] == [f"Text of {ONE}"] * 2
    assert mailbox.asked("body") == 1


async def test_a_load_that_nobody_waits_for(bodies: Bodies, mailbox: ScriptedMailbox, tasks: Tasks) -> None:
    """Once its only caller went away the load goes on, and the next caller has its text."""
    mailbox.gate.clear()
    caller = asyncio.create_task(bodies.text(mailbox, "mail", ONE))
    await settled()
    caller.cancel()
    await settled()
    mailbox.gate.set()
    await tasks.finish()
    await bodies.text(mailbox, "mail", ONE)
    assert mailbox.asked("body") == 1


@pytest.mark.parametrize("error", [LOST, RowGone("Gone."), ValueError("a bug")])
async def test_a_failure_is_not_kept(bodies: Bodies, mailbox: ScriptedMailbox, error: Exception) -> None:
    """A load that fails, fails all its callers; the next call loads again."""
    mailbox.gate.clear()
    mailbox.troubles = [error]
    callers = [asyncio.create_task(bodies.text(mailbox, "mail", ONE)) for _ in range(10)]
    await settled()
    mailbox.gate.set()
    assert await asyncio.gather(*callers, return_exceptions=True) == [error] * 10
    await read(bodies, mailbox, range(1, 2))
    assert mailbox.asked("body") == 2


async def test_a_message_that_comes_back(bodies: Bodies, mailbox: ScriptedMailbox) -> None:
    """What was gone at one call and is there at the next is read then."""
    held, mailbox.held = mailbox.held, []
    with pytest.raises(RowGone):
        await bodies.text(mailbox, "mail", ONE)
    mailbox.held = held
    await read(bodies, mailbox, range(1, 2))


async def test_a_text_outlives_its_mailbox(bodies: Bodies, mailbox: ScriptedMailbox) -> None:
    """What was read is shown while the mailbox does not answer; what was not read is an error."""
    await bodies.text(mailbox, "mail", ONE)
    mailbox.broken = LOST
    await read(bodies, mailbox, range(1, 2))
    with pytest.raises(MailboxUnreachable):
        await bodies.text(mailbox, "mail", "mail-2")


async def test_an_empty_text_is_a_text(bodies: Bodies, mailbox: ScriptedMailbox) -> None:
    """A message without any text is read once, as any other."""
    mailbox.bodies[ONE] = MessageBody("text/plain", "")
    for _ in range(2):
        assert "empty" in await bodies.text(mailbox, "mail", ONE)
    assert mailbox.asked("body") == 1
