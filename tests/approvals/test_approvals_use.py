"""A standing approval covers exactly what it names, for 24 hours, each target once (decision 15)."""

import asyncio
from contextlib import suppress

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.approvals.approval_log import LOG
from orrery.errors import ApprovalRefused, Invalid
from orrery.ports.processor.errors import ProcessorRefused, ProcessorUnreachable
from orrery.runtime.operations import Intent, Operation
from orrery.runtime.outbox import Outbox
from tests.support.approving import OWNER, STRANGER, Desk
from tests.support.unreliable_store import UnreliableStore

DAY = 24 * 3600
LOST = ProcessorUnreachable("No answer.", same_key=True)


async def pushes(desk: Desk) -> list[tuple[str, str]]:
    """Return what the owner is told, and how urgently."""
    rows = [row async for row in Outbox(desk.store, desk.clock, {}).rows("waiting")]
    return sorted((row.title, row.priority) for row in rows)


async def see_refused(desk: Desk, intent_id: str, target: str, why: str) -> None:
    """See a use refused, the refusal in the log, and nothing done."""
    done = list(desk.switches.on)
    with pytest.raises(ApprovalRefused, match=why) as refused:
        await desk.approvals.use(intent_id, target)
    last = (await desk.log())[-1]
    assert (last.kind, last.note, last.target) == ("refused", str(refused.value), target)
    assert desk.switches.on == done


async def test_each_target_once(desk: Desk) -> None:
    """What it covers is done, each once, and told in the log with the target and the owner's word."""
    intent = await desk.approved_run()
    assert desk.switches.on == []
    for target in ("cs_1", "cs_2"):
        assert await desk.approvals.use(intent.id, target) == f"{target} is on."
        await see_refused(desk, intent.id, target, "used for this target")
    progress = (await desk.approvals.proposal(intent.id)).progress
    assert progress
    assert [use.note for use in progress.uses.values()] == ["cs_1 is on.", "cs_2 is on."]
    entries = [entry for entry in await desk.log() if entry.target and entry.kind != "refused"]
    assert [(entry.kind, entry.target) for entry in entries] == [
        ("started", "cs_1"),
        ("done", "cs_1"),
        ("started", "cs_2"),
        ("done", "cs_2"),
    ]
    assert await pushes(desk) == [("turn-on-run: approved", "default")], "one push, however many targets"
    assert (await desk.approvals.verify()).holds


async def test_what_goes_wrong_is_pushed(desk: Desk) -> None:
    """A use that fails is pushed, and urgently one that is refused or has no outcome."""
    intent = await desk.approved_run()
    desk.switches.before = [ProcessorRefused("No.", status=400), LOST]
    for target in ("cs_1", "cs_2"):
        with pytest.raises((ProcessorRefused, ProcessorUnreachable)):
            await desk.approvals.use(intent.id, target)
    await see_refused(desk, intent.id, "cs_3", "does not cover")
    assert await pushes(desk) == [
        ("turn-on-run: approved", "default"),
        ("turn-on-run: failed", "default"),
        ("turn-on-run: refused", "high"),
        ("turn-on-run: unknown", "high"),
    ]


@pytest.mark.parametrize(
    ("target", "why"), [("cs_3", "does not cover"), ("run-1", "does not cover"), ("", "no standing approval")]
)
async def test_nothing_else(desk: Desk, target: str, why: str) -> None:
    """What it does not cover is refused; the intent itself is no target."""
    await see_refused(desk, (await desk.approved_run()).id, target, why)


async def test_only_a_signed_standing_approval(desk: Desk) -> None:
    """What waits for a signature covers nothing, though a record calls it approved; nor does another kind."""
    waiting, done = await desk.proposed("turn-on-run"), await desk.proposed()
    await desk.sign(done)
    await see_refused(desk, waiting.id, "cs_1", "no statement")
    await desk.alter(f"approval:{waiting.id}", '"state":"proposed"', '"state":"approved"')
    await see_refused(desk, waiting.id, "cs_1", "no statement")
    await see_refused(desk, done.id, done.target, "no standing approval")


async def test_a_day(desk: Desk) -> None:
    """It counts for 24 hours from its statement on."""
    intent = await desk.approved_run()
    desk.clock.advance(DAY)
    await desk.approvals.use(intent.id, "cs_1")
    assert await desk.state(intent) == "in force"
    desk.clock.advance(1)
    await see_refused(desk, intent.id, "cs_2", "expired")
    assert await desk.state(intent) == "over"


async def test_withdrawn(desk: Desk) -> None:
    """It cannot be signed again, which would prolong it; the owner can end it at any time."""
    intent = await desk.approved_run()
    await desk.approvals.use(intent.id, "cs_1")
    with pytest.raises(ApprovalRefused, match="used: the intent is approved"):
        await desk.sign(intent)
    await desk.approvals.withdraw(intent.id)
    await see_refused(desk, intent.id, "cs_2", "used: the intent is withdrawn")


async def test_a_key_that_is_taken_out(desk: Desk) -> None:
    """It ends when its key is no longer the owner's: the signature is looked at each time."""
    intent = await desk.approved_run()
    with pytest.raises(ApprovalRefused, match="wrongly signed"):
        await desk.another(STRANGER).use(intent.id, "cs_1")
    assert await desk.another(STRANGER, OWNER).use(intent.id, "cs_1")


@pytest.mark.parametrize(("old", "new"), [("run-1", "run-2"), ("It is dark.", "It is bright.")])
async def test_altered(desk: Desk, old: str, new: str) -> None:
    """It does not cover an intent that was changed since."""
    intent = await desk.approved_run()
    await desk.alter(f"intent:{intent.id}", old, new)
    await see_refused(desk, intent.id, "cs_1", "altered")


async def test_altered_word(desk: Desk) -> None:
    """The statement in the log is the one that was signed: its time cannot be moved."""
    intent = await desk.approved_run()
    await desk.alter(f"{LOG}000000000002", "at 2026-03-01T12", "at 2026-03-01T13")
    desk.approvals = desk.another()
    desk.clock.advance(3600)
    await see_refused(desk, intent.id, "cs_1", "wrongly signed")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("at 2026-03-01T12", "at 2026-03-09T12"),
        ('"state":"approved"', '"state":"withdrawn"'),
        ('"signature":"', '"signature":"0'),
        ('"digest":"', '"digest":"0'),
    ],
)
async def test_the_record_beside_the_log(desk: Desk, old: str, new: str) -> None:
    """What somebody made of the record changes nothing of the approval."""
    intent = await desk.approved_run()
    await desk.alter(f"approval:{intent.id}", old, new)
    assert await desk.approvals.use(intent.id, "cs_1") == "cs_1 is on."
    desk.clock.advance(DAY + 1)
    await see_refused(desk, intent.id, "cs_2", "expired")


async def test_an_unreadable_word(desk: Desk) -> None:
    """A statement that was spoilt counts for nothing, and keeps nobody from seeing what else there is."""
    intent, waiting = await desk.approved_run(), await desk.proposed()
    await desk.alter(f"{LOG}000000000002", "orrery approval 1", "nonsense")
    desk.approvals = desk.another()
    assert [await desk.state(one) for one in (intent, waiting)] == ["over", "waiting"]
    assert (await desk.approvals.panel()).headline == "1 waiting for your approval"
    await see_refused(desk, intent.id, "cs_1", "no statement")


async def test_of_many_at_once_one_wins() -> None:
    """Of ten that reach for the same target at once, one is first."""
    desk = Desk()
    desk.store = UnreliableStore(MemoryStore(desk.clock))
    desk.approvals = desk.another()
    intent = await desk.approved_run()
    racing = [desk.another().use(intent.id, "cs_1") for _ in range(10)]
    racing += [desk.another().use(intent.id, "cs_2")]
    came = await asyncio.gather(*racing, return_exceptions=True)
    assert sum(isinstance(one, ApprovalRefused) for one in came) == 9 - sum(type(one) is Invalid for one in came)
    assert sorted(desk.switches.on) == ["cs_1", "cs_2"]
    assert (await desk.approvals.verify()).holds


async def test_overtaken_by_one_that_is_under_way() -> None:
    """Anyone who is overtaken between the look and the start leaves the target to the other, dead or alive."""
    desk = Desk()
    store = UnreliableStore(desk.store)
    intent = await desk.approved_run()
    other, desk.store = desk.approvals, store

    async def overtake() -> None:
        store.overtaken_by = None
        desk.switches.before = [RuntimeError("killed")]
        with suppress(RuntimeError):
            await other.use(intent.id, "cs_1")

    store.overtaken_by = overtake
    with pytest.raises(ApprovalRefused, match="used for this target"):
        await desk.another().use(intent.id, "cs_1")
    assert desk.switches.on == []


async def test_refused_and_tried_again(desk: Desk) -> None:
    """What the processor refused may be tried again under the same approval."""
    intent = await desk.approved_run()
    desk.switches.before = [ProcessorRefused("It is not open.", status=400)]
    with pytest.raises(ProcessorRefused):
        await desk.approvals.use(intent.id, "cs_1")
    assert await desk.approvals.use(intent.id, "cs_1") == "cs_1 is on."


async def test_a_lost_answer_is_read(desk: Desk) -> None:
    """When the answer is lost, and reading shows that it happened, it is done."""
    intent = await desk.approved_run()
    desk.switches.after = [LOST]
    assert "reading shows that it happened" in await desk.approvals.use(intent.id, "cs_1")
    assert desk.switches.on == ["cs_1"]


async def test_a_lost_answer_is_not_repeated_blindly(desk: Desk) -> None:
    """While it may be under way it is not tried again, and later only after a look."""
    intent = await desk.approved_run()
    desk.switches.after, desk.switches.unreadable = [LOST], [LOST]
    with pytest.raises(ProcessorUnreachable):
        await desk.approvals.use(intent.id, "cs_1")
    with pytest.raises(Invalid, match="may still be under way"):
        await desk.approvals.use(intent.id, "cs_1")
    desk.clock.advance(120)
    assert await desk.state(intent) == "unknown"
    assert "reading shows that it happened" in await desk.approvals.use(intent.id, "cs_1")
    assert desk.switches.on == ["cs_1"]
    assert (await desk.approvals.verify()).holds


async def test_what_did_not_happen_is_tried_again(desk: Desk) -> None:
    """When a look shows that it did not happen, it is done under the same approval."""
    intent = await desk.approved_run()
    desk.switches.before = [LOST]
    with pytest.raises(ProcessorUnreachable):
        await desk.approvals.use(intent.id, "cs_1")
    desk.clock.advance(120)
    assert await desk.approvals.use(intent.id, "cs_1") == "cs_1 is on."
    assert (await desk.kinds())[-5:] == ["started", "unknown", "did not happen", "started", "done"]


async def test_all_that_is_open_is_settled(desk: Desk) -> None:
    """`settle` reads every target without an outcome, also after the owner has ended the approval."""
    intent = await desk.approved_run()
    desk.switches.before, desk.switches.unreadable = [LOST, LOST], [LOST, LOST]
    for target in ("cs_1", "cs_2"):
        with pytest.raises(ProcessorUnreachable):
            await desk.approvals.use(intent.id, target)
    desk.switches.on = ["cs_2"]
    await desk.approvals.withdraw(intent.id)
    desk.clock.advance(120)
    uses = (await desk.approvals.settle(intent.id)).uses
    assert {target: use.state for target, use in uses.items()} == {"cs_1": "failed", "cs_2": "done"}
    assert await desk.state(intent) == "withdrawn"


async def test_withdrawn_while_it_is_looked_at(desk: Desk) -> None:
    """What the owner withdraws while a use is looked at is not used: that is in the log, and no push."""
    intent = await desk.approved_run()

    async def covers(_: Intent, target: str) -> bool:
        await desk.approvals.withdraw(intent.id)
        return target == "cs_1"

    operation = Operation("turn-on-run", desk.switches.turn_on, desk.switches.is_on, covers)
    with pytest.raises(ApprovalRefused, match="the intent is withdrawn"):
        await desk.another(operation=operation).use(intent.id, "cs_1")
    assert ((await desk.kinds())[-1], desk.switches.on) == ("refused", [])
    assert await pushes(desk) == [("turn-on-run: approved", "default")]
