"""A preflight that is killed, forged, or whose session somebody completed (decision 15)."""

import asyncio
from dataclasses import replace

import pytest

from orrery.checkout.collections import trial_id
from orrery.checkout.records import KEEP_TRIALS, OwnSession, PreflightTrial
from orrery.checkout.selling.preflight import PreflightReport
from orrery.checkout.selling.service import Purchase
from orrery.errors import ApprovalRefused
from orrery.ports.processor.errors import ProcessorUnreachable
from orrery.ports.store import Put
from tests.support.checkout import OTHER, PRODUCT
from tests.support.killed import Fuse, Killed
from tests.support.rehearsal import Rehearsal
from tests.support.soak import SOAKING

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
    for first in range(1, whole + 1, 3 if SOAKING else 6):
        for second in range(1, whole + 1, 5 if SOAKING else 7):
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
        assert await late.trials.unfinished() == {}


async def test_cleaned_up_by_a_run_of_another_product() -> None:
    """A session that the run of another product has expired is no acceptance: the first run asks for it again."""
    for steps in range(await steps_of_a_run()):
        rehearsal = await approved()
        if not await killed_after(rehearsal, steps):
            continue
        rehearsal.clock.advance(UNDER_WAY)
        survivor = rehearsal.again()
        products = [*survivor.selling.catalogue]
        survivor.till.after["create"] = [LOST] * 4
        await survivor.run(products[1].name)
        survivor.till.after.clear()
        report = await survivor.run()
        accepted = {one.product for one in report.outcomes if one.result == "accepted"}
        assert accepted <= {one.name for one in products if await survivor.receipt(one)}, steps


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
    (finding,) = [one for one in await rehearsal.preflight.local() if one.part == "preflight"]
    assert "2 of its sessions may be open" in finding.why
    assert (await rehearsal.run()).is_well
    (intent,) = [one.intent for one in await rehearsal.approvals.proposals()]
    await rehearsal.memory.commit([Put("own-session:cs_1", b"{}")])
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
    before = rehearsal.watched.reads["preflight:"]
    assert await rehearsal.trials.interrupted() == 0
    assert (rehearsal.watched.reads["preflight:"], len(await rehearsal.stored_trials())) == (before, 2)


async def test_an_interrupted_preflight_is_told() -> None:
    """A run that came to no end is said to be one, after the time that it could be under way."""
    rehearsal = await approved()
    rehearsal.till.after["create"] = [LOST, LOST]
    await rehearsal.run()
    assert "preflight" not in [one.part for one in await rehearsal.preflight.local()]
    rehearsal.clock.advance(300)
    (finding,) = [one for one in await rehearsal.preflight.local() if one.part == "preflight"]
    assert (finding.state, finding.essential) == ("broken", False)
    assert "1 of its sessions" in finding.why
    await rehearsal.run()
    assert "preflight" not in [one.part for one in await rehearsal.preflight.local()]


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


async def visited() -> tuple[Rehearsal, str, str]:
    """Return a deployment with a visitor's open session, an approved run, and the ids of both."""
    rehearsal = Rehearsal()
    await rehearsal.preflighted()
    visitor = await rehearsal.checkout.create(Purchase(PRODUCT.key, "203.0.113.7", "a click"))
    intent_id = (await rehearsal.run("isc2/cissp")).to_sign or ""
    await rehearsal.sign(intent_id)
    return rehearsal, visitor.id, intent_id


async def forged(rehearsal: Rehearsal, intent_id: str, **fields: object) -> PreflightTrial:
    """Store a trial of this run as it would be, but for these fields."""
    run_id = (await rehearsal.approvals.proposal(intent_id)).intent.target
    sound = next(trial for trial in await rehearsal.stored_trials() if trial.product == PRODUCT.key)
    trial = sound.change(run_id=run_id, intent_id=intent_id, **fields)
    kept, left = (f"{one}{trial_id(run_id, trial.product)}" for one in ("preflight:", "preflight-left:"))
    await rehearsal.memory.commit([Put(kept, trial.to_bytes(), KEEP_TRIALS), Put(left, b"", KEEP_TRIALS)])
    return trial


async def claimed(rehearsal: Rehearsal, session_id: str, run_id: str) -> None:
    """Record a session as one of a run's own."""
    own = OwnSession(session_id=session_id, made_by="preflight", run_id=run_id, made_at=rehearsal.clock.now())
    await rehearsal.memory.commit([Put(f"own-session:{session_id}", own.to_bytes(), KEEP_TRIALS)])


async def see_spared(rehearsal: Rehearsal, visitor: str) -> None:
    """See that the visitor's session can still be paid, and that nobody is asked to sign its end."""
    assert rehearsal.till.open() == [visitor]
    assert not [one for one in await rehearsal.approvals.proposals() if one.intent.target == visitor]
    assert (await rehearsal.approvals.verify()).holds


async def test_a_forged_record_of_an_own_session() -> None:
    """What was offered to a visitor is no session of a run, though a record says so."""
    rehearsal, visitor, intent_id = await visited()
    run_id = (await rehearsal.approvals.proposal(intent_id)).intent.target
    await claimed(rehearsal, visitor, run_id)
    with pytest.raises(ApprovalRefused, match="does not cover"):
        await rehearsal.approvals.use(intent_id, visitor)
    await see_spared(rehearsal, visitor)


@pytest.mark.parametrize("recorded", [False, True])
async def test_a_forged_trial_that_names_the_session(recorded: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """A trial that names a visitor's session ends; the next run tries the product with a session of its own."""
    rehearsal, visitor, intent_id = await visited()
    trial = await forged(rehearsal, intent_id, state="open", session_id=visitor)
    if recorded:
        await claimed(rehearsal, visitor, trial.run_id)
    report = await rehearsal.run("isc2/cissp")
    assert [one.result for one in report.outcomes] == ["unreadable"]
    await see_spared(rehearsal, visitor)
    assert (await rehearsal.run("isc2/cissp")).is_well
    await see_spared(rehearsal, visitor)


async def test_a_forged_trial_of_an_earlier_run() -> None:
    """It is no session to clean up, either."""
    rehearsal, visitor, intent_id = await visited()
    trial = await forged(rehearsal, intent_id, state="open", session_id=visitor)
    await claimed(rehearsal, visitor, trial.run_id)
    report = await rehearsal.run("isc2/ccsp")
    assert [one.result for one in report.cleaned] == ["unreadable"]
    await see_spared(rehearsal, visitor)


async def test_a_forged_trial_with_the_visitors_key() -> None:
    """A trial that would ask under the key of a visitor's session asks under its own."""
    rehearsal, visitor, intent_id = await visited()
    key = next(key for key, made in rehearsal.till.created.items() if made.id == visitor)
    await forged(rehearsal, intent_id, state="asked", session_id=None, idempotency_key=key)
    assert (await rehearsal.run("isc2/cissp")).is_well
    await see_spared(rehearsal, visitor)


async def completed(rehearsal: Rehearsal, **fields: object) -> PreflightReport:
    """Run a preflight whose session a visitor completes, with these fields, before it can be expired."""
    rehearsal.till.after["create"] = [LOST, LOST]
    await rehearsal.preflighted()
    made = rehearsal.till.sessions["cs_1"]
    rehearsal.till.sessions["cs_1"] = replace(made, status="complete", **fields)  # pyright: ignore[reportArgumentType]  any field of a session
    return await rehearsal.run()


async def test_paid_meanwhile() -> None:
    """A test session that somebody has paid is told as such: by the run, by an urgent push, and on the page."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    report = await completed(rehearsal, payment_status="paid", livemode=True)
    (outcome,) = report.outcomes
    assert (report.is_well, outcome.result, outcome.session_id, outcome.intent_id) == (
        False,
        "completed",
        "cs_1",
        None,
    )
    assert outcome.note.startswith("Somebody paid it before it could be expired: refund it by hand")
    assert "no money" not in outcome.note
    (push,) = [row for row in await rehearsal.told() if row.priority == "urgent"]
    assert (push.id, push.channel) == ("preflight-completed-cs_1", "push")
    assert outcome.note in push.body
    assert await rehearsal.receipt() is not None, "the parameters were accepted all the same"
    panel = await rehearsal.preflight.panel()
    assert (panel.tone, "Completed test sessions: cs_1. Where money moved, refund it by hand" in panel.todo) == (
        "attention",
        True,
    )
    assert (await rehearsal.again(products=(PRODUCT, OTHER)).preflight.panel()).tone == "bad", "one is not sold"
    assert (await rehearsal.run()).to_sign, "the run is over, and the next one cleans up nothing"
    assert rehearsal.till.open() == []


@pytest.mark.parametrize(
    ("payment", "livemode", "told"),
    [
        ("paid", False, "Somebody paid it before it could be expired: it is not of live mode, so no money moves."),
        ("unpaid", True, "its payment is under way, before it could be expired: refund it by hand"),
        ("no_payment_required", True, "there was nothing to pay"),
    ],
)
async def test_completed_meanwhile(payment: str, livemode: bool, told: str) -> None:  # noqa: FBT001  a row of the table
    """What moved is told as it is: a test payment, one that is still to come, or none."""
    report = await completed(Rehearsal(products=(PRODUCT,)), payment_status=payment, livemode=livemode)
    assert [one.result for one in report.outcomes] == ["completed"]
    assert told in report.outcomes[0].note


async def test_completed_after_a_kill() -> None:
    """A session of an earlier run that somebody has completed is told by the run that cleans up, once."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    rehearsal.till.after["create"] = [LOST, LOST]
    await rehearsal.preflighted()
    rehearsal.till.sessions["cs_1"] = replace(
        rehearsal.till.sessions["cs_1"], status="complete", payment_status="paid"
    )
    later = rehearsal.again(api_version="2026-09-30.endive")
    report = await later.run()
    assert [one.result for one in report.cleaned] == ["completed"]
    assert (await later.run()).cleaned == []
    assert [row.id for row in await later.told() if row.priority == "urgent"] == ["preflight-completed-cs_1"]
    elsewhere = later.again(deployment="another")
    assert "Completed" not in (await elsewhere.preflight.panel()).todo
