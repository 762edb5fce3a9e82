"""A preflight that is killed anywhere: the next ones find its sessions, and leave none open (issue 4, item 1)."""

import asyncio

import pytest

from orrery.checkout import keys
from orrery.ports.processor.errors import ProcessorUnreachable
from orrery.ports.store import Put
from tests.support.checkout import PRODUCT
from tests.support.killed import Fuse, Killed
from tests.support.till import Rehearsal

pytestmark = pytest.mark.anyio

LOST = ProcessorUnreachable("No answer within 10.0 s.", same_key=True)
UNDER_WAY = 121
"""Seconds after which what was started is no longer under way."""

DAY = 24 * 3600


async def approved() -> Rehearsal:
    """Return a deployment whose run is approved and has not begun."""
    rehearsal = Rehearsal()
    await rehearsal.sign((await rehearsal.run()).to_sign)
    return rehearsal


async def killed_after(rehearsal: Rehearsal, steps: int) -> bool:
    """Run in a process that is killed after so many steps; return whether it was."""
    try:
        await rehearsal.again(fuse=Fuse(steps)).run()
    except Killed:
        return True
    return False


async def steps_of_a_run() -> int:
    """Return how many steps a whole run takes."""
    rehearsal = await approved()
    fuse = Fuse()
    await rehearsal.again(fuse=fuse).run()
    return fuse.steps


async def see_cleaned_up(rehearsal: Rehearsal) -> None:
    """See that the next runs, of the same approval, end well: nothing open, no second session, a true log."""
    survivor = rehearsal.again()
    for _ in range(2):
        if (await survivor.run()).is_well:
            break
        survivor.clock.advance(UNDER_WAY)
    report = await survivor.run()
    assert survivor.till.open() == []
    assert len(survivor.till.sessions) == 2
    assert await survivor.receipt(PRODUCT) is not None
    assert report.to_sign is not None, "the run came to its end, so the next one wants a word of its own"
    assert (await survivor.approvals.verify()).holds
    assert sorted(survivor.till.expiries) == ["cs_1", "cs_2"]


async def test_killed_at_every_step() -> None:
    """After a kill at any step, before or after any call and any commit, the run is taken up again to its end."""
    kills = 0
    for steps in range(1, await steps_of_a_run() + 1):
        rehearsal = await approved()
        kills += await killed_after(rehearsal, steps)
        await see_cleaned_up(rehearsal)
    assert kills > 20


async def test_killed_twice() -> None:
    """A run that is killed, taken up and killed again comes to its end all the same."""
    whole = await steps_of_a_run()
    for first in range(1, whole + 1, 3):
        for second in range(1, whole + 1, 5):
            rehearsal = await approved()
            await killed_after(rehearsal, first)
            rehearsal.clock.advance(UNDER_WAY)
            await killed_after(rehearsal, second)
            await see_cleaned_up(rehearsal)


async def test_killed_and_changed() -> None:
    """When the parameters changed after the kill, the next run closes what was left before it asks for a word."""
    for steps in range(1, await steps_of_a_run() + 1):
        rehearsal = await approved()
        await killed_after(rehearsal, steps)
        rehearsal.clock.advance(UNDER_WAY)
        changed = rehearsal.again(api_version="2026-09-30.endive")
        report = await changed.run()
        assert report.to_sign is not None
        assert changed.till.open() == []
        assert all(one.result == "cleaned up" for one in report.cleaned)


async def test_killed_and_forgotten_for_a_day() -> None:
    """When the approval is over, what is left open is queued for the owner."""
    for steps in range(1, await steps_of_a_run() + 1):
        rehearsal = await approved()
        await killed_after(rehearsal, steps)
        rehearsal.clock.advance(DAY + 60)
        late = rehearsal.again()
        report = await late.run()
        assert set(late.till.open()) == {one.session_id for one in report.cleaned if one.intent_id}
        assert await late.trials.unfinished() == []


async def test_asked_and_never_answered_for_days() -> None:
    """A question whose session, if there is one, has expired by itself is put aside without asking again."""
    rehearsal = await approved()
    rehearsal.till.after["create"] = [LOST] * 4
    await rehearsal.run()
    rehearsal.clock.advance(2 * DAY)
    asked = len(rehearsal.till.asked)
    report = await rehearsal.run()
    assert [one.result for one in report.cleaned] == ["cleaned up", "cleaned up"]
    assert len(rehearsal.till.asked) == asked
    assert (await rehearsal.run()).cleaned == []


async def test_a_rehearsal_left_unfinished() -> None:
    """What was left open in another mode is put aside: nothing of it is asked of this processor."""
    rehearsal = await approved()
    rehearsal.till.after["create"] = [LOST] * 4
    await rehearsal.run()
    asked = len(rehearsal.till.asked)
    report = await rehearsal.again(deployment="another").run()
    assert [one.result for one in report.cleaned] == ["cleaned up", "cleaned up"]
    assert len(rehearsal.till.asked) == asked


async def test_spoilt_records() -> None:
    """A trial or a session that cannot be read is told, and in nobody's way; what is not known is not covered."""
    rehearsal = await approved()
    rehearsal.till.after["create"] = [LOST] * 4
    await rehearsal.run()
    for entry in await rehearsal.memory.scan("preflight:"):
        await rehearsal.memory.commit([Put(entry.key, b"{}")])
    (finding,) = [one for one in await rehearsal.receipts.local() if one.part == "preflight"]
    assert "2 of its sessions may be open" in finding.why
    assert (await rehearsal.run()).is_well
    (intent,) = [one.intent for one in await rehearsal.approvals.proposals()]
    await rehearsal.memory.commit([Put(f"{keys.OWN_SESSION}cs_1", b"{}")])
    assert not await rehearsal.expiry.covers(intent, "cs_1")


async def test_spoilt_records_of_an_earlier_run() -> None:
    """What an earlier run did and cannot be read is told by the next run, once, and is left as it is."""
    rehearsal = await approved()
    rehearsal.till.after["create"] = [LOST] * 4
    await rehearsal.run()
    for entry in await rehearsal.memory.scan("preflight:"):
        await rehearsal.memory.commit([Put(entry.key, b"{}")])
    later = rehearsal.again(api_version="2026-09-30.endive")
    report = await later.run()
    assert not report.is_well
    assert sorted((one.product, one.result) for one in report.cleaned) == [
        ("isc2/ccsp", "unreadable"),
        ("isc2/cissp", "unreadable"),
    ]
    assert (await later.run()).cleaned == []
    assert [entry.value for entry in await rehearsal.memory.scan("preflight:")] == [b"{}", b"{}"]


async def test_what_is_finished_costs_readiness_nothing() -> None:
    """Looking for interrupted runs reads none of the trials that came to their end."""
    rehearsal = await approved()
    await rehearsal.run()
    before = rehearsal.watched.reads
    assert await rehearsal.trials.interrupted() == []
    assert (rehearsal.watched.reads, len(await rehearsal.stored_trials())) == (before, 2)


async def test_an_interrupted_preflight_is_told() -> None:
    """A run that came to no end is said to be one, after the time that it could be under way."""
    rehearsal = await approved()
    rehearsal.till.after["create"] = [LOST, LOST]
    await rehearsal.run()
    assert "preflight" not in [one.part for one in await rehearsal.receipts.local()]
    rehearsal.clock.advance(300)
    (finding,) = [one for one in await rehearsal.receipts.local() if one.part == "preflight"]
    assert (finding.state, finding.essential) == ("broken", False)
    assert "1 of its sessions" in finding.why
    await rehearsal.run()
    assert "preflight" not in [one.part for one in await rehearsal.receipts.local()]


async def test_two_at_once() -> None:
    """Two runs of one approval at the same time make no second session, and leave none open."""
    rehearsal = await approved()
    one, other = rehearsal.again(), rehearsal.again()
    reports = await asyncio.gather(one.run(), other.run())
    assert rehearsal.till.open() == []
    assert len(rehearsal.till.sessions) == 2
    assert any(report.is_well for report in reports)
    await see_cleaned_up(rehearsal)


async def test_an_approval_that_cannot_be_read() -> None:
    """Where the killed run's intent is cut, its session waits for the owner's word, and the run ends."""
    rehearsal, steps = await approved(), 1
    while not rehearsal.till.open():
        rehearsal = await approved()
        assert await killed_after(rehearsal, steps)
        steps += 1
    (run,) = await rehearsal.approvals.proposals()
    entry = await rehearsal.store.get(f"intent:{run.intent.id}")
    assert entry is not None
    await rehearsal.store.commit([Put(entry.key, entry.value[:-1])])
    report = await rehearsal.again().run()
    assert [one.result for one in report.cleaned] == ["left open"]
    assert report.to_sign
