"""Lost answers and killed processes: what is not known is settled by reading, never by doing it again."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from anyio.lowlevel import checkpoint

from orrery.adapters.memory import MemoryStore
from orrery.approvals.approvals import Operation
from orrery.approvals.intent_store import IntentStore
from orrery.errors import ApprovalRefused, Invalid, NotConfigured, OperationUnanswered, StoreUnavailable
from orrery.ports.processor.errors import ProcessorRefused, ProcessorUnreachable
from orrery.ports.store import Delete
from orrery.runtime.operations import Intent
from orrery.runtime.restored import Restoration
from tests.support.approving import Desk
from tests.support.killed import NEVER, Fuse, Killed
from tests.support.unreliable_store import UnreliableStore

LOST = ProcessorUnreachable("No answer within 20 s.", same_key=True)


async def killed_after_the_start(desk: Desk) -> Intent:
    """Sign something that waited for a while, and be killed before its outcome is noted."""
    intent = await desk.proposed()
    desk.clock.advance(3600)
    desk.switches.after = [Killed()]
    with pytest.raises(Killed):
        await desk.sign(intent)
    return intent


async def test_it_had_happened(desk: Desk) -> None:
    """The answer is lost after the change was made: a look tells that it is done."""
    desk.switches.after = [LOST]
    intent = await desk.proposed()
    assert (await desk.sign(intent)).state == "done"
    assert (await desk.kinds(), desk.switches.on) == (["proposed", "started", "happened"], [intent.target])


NO_ANSWERS = [
    *((ProcessorUnreachable("Busy.", same_key=True, status=status), "failed") for status in (409, 429)),
    *((ProcessorUnreachable("Lost.", same_key=True, status=status), "unknown") for status in (None, 500, 504)),
    (OperationUnanswered("No answer.", may_arrive=False), "failed"),
    (OperationUnanswered("No answer.", may_arrive=True), "unknown"),
]
"""What is raised where no answer came, and what is known when a look shows nothing of the change."""


@pytest.mark.parametrize(("error", "state"), NO_ANSWERS)
async def test_nothing_to_be_seen(desk: Desk, error: OperationUnanswered, state: str) -> None:
    """What was not taken did not happen; what may still arrive is unknown for two minutes, until a look tells."""
    desk.switches.before = [error]
    intent = await desk.proposed()
    assert (await desk.sign(intent)).state == state
    assert (await desk.kinds())[-1] == {"failed": "did not happen"}.get(state, state)
    if state == "unknown":
        desk.clock.advance(119)
        with pytest.raises(Invalid, match="may still be under way; ask again in 120 s"):
            await desk.approvals.settle(intent.id)
        desk.switches.on.append(intent.target)
        desk.clock.advance(1)
        assert (await desk.approvals.settle(intent.id)).state == "done"


async def test_an_operation_that_is_refused_when_it_is_read(desk: Desk) -> None:
    """A refused reading leaves the outcome open, and what the log says of it is the error's own choice."""
    desk.switches.before = [LOST]
    desk.switches.unreadable = [ProcessorRefused("No ann@example.org.", status=403)]
    progress = await desk.sign(await desk.proposed())
    assert progress.note == "Neither the answer nor a look came: No ann@example.org."
    assert (await desk.told())[-1] == ("unknown", "The processor refused it (status 403).")


@pytest.mark.parametrize("error", [LOST, NotConfigured("The processor has no API key.")])
async def test_neither_answer_nor_look(desk: Desk, error: ProcessorUnreachable | NotConfigured) -> None:
    """When a look fails, too, it is unknown, and stays so until one succeeds."""
    desk.switches.before, desk.switches.unreadable = [LOST], [error, LOST]
    intent = await desk.proposed()
    assert (await desk.sign(intent)).state == "unknown"
    desk.clock.advance(120)
    with pytest.raises(ProcessorUnreachable):
        await desk.approvals.settle(intent.id)
    assert (await desk.kinds())[-1] == "unknown"
    assert (await desk.approvals.settle(intent.id)).state == "failed"
    assert (await desk.kinds(), desk.switches.on) == (["proposed", "started", "unknown", "did not happen"], [])


async def test_killed_on_the_way(desk: Desk) -> None:
    """After a kill it is under way for two minutes, then unknown, then what a look shows."""
    intent = await killed_after_the_start(desk)
    assert await desk.state(intent) == "under way"
    with pytest.raises(Invalid, match="may still be under way"):
        await desk.approvals.settle(intent.id)
    desk.clock.advance(120)
    assert await desk.state(intent) == "unknown"
    assert (await desk.approvals.panel()).tone == "bad"
    assert (await desk.approvals.settle(intent.id)).state == "done"
    assert await desk.kinds() == ["proposed", "started", "happened"]


async def test_what_is_known_is_not_settled(desk: Desk) -> None:
    """There is nothing to settle about what waits or is done."""
    waiting, done = await desk.proposed(), await desk.proposed()
    await desk.sign(done)
    for intent, state in ((waiting, "waiting"), (done, "done")):
        with pytest.raises(Invalid, match=f"nothing to settle: the intent is {state}"):
            await desk.approvals.settle(intent.id)


async def test_an_altered_intent_is_not_settled(desk: Desk) -> None:
    """What was altered since is not read: the log would tell what became of something else."""
    intent = await desk.proposed()
    desk.switches.after, desk.switches.unreadable = [LOST], [LOST]
    assert (await desk.sign(intent)).state == "unknown"
    desk.clock.advance(300)
    await desk.alter(f"intent:{intent.id}", intent.target, "switch-9")
    with pytest.raises(Invalid, match="altered"):
        await desk.approvals.settle(intent.id)
    assert (await desk.kinds())[-1] == "unknown"


async def test_an_answer_after_all_is_the_last_word(desk: Desk) -> None:
    """A slow process that was given up, and then has its answer, says so: the log ends with the truth."""
    intent = await desk.proposed()

    async def slowly(intent: Intent, target: str) -> str:
        desk.clock.advance(120)
        assert (await desk.another().settle(intent.id)).state == "failed"
        return await desk.switches.turn_on(intent, target)

    process = desk.another(operation=Operation("turn-on", slowly, desk.switches.is_on))
    assert (await process.sign(intent.id, *desk.word(intent))).state == "done"
    assert await desk.kinds() == ["proposed", "started", "did not happen", "done"]


async def test_a_look_never_overrules_an_answer(desk: Desk) -> None:
    """Who looked before the answer came, and would note it after, is too late: the answer stays."""
    intent, looked = await desk.proposed(), asyncio.Event()

    async def slowly(intent: Intent, target: str) -> str:
        await looked.wait()
        return await desk.switches.turn_on(intent, target)

    process = desk.another(operation=Operation("turn-on", slowly, desk.switches.is_on))
    signing = asyncio.create_task(process.sign(intent.id, *desk.word(intent)))
    while (await desk.kinds())[-1] != "started":
        await checkpoint()
    desk.clock.advance(120)

    async def too_early(_: Intent, __: str) -> bool:
        looked.set()
        await signing
        return False

    looking = desk.another(operation=Operation("turn-on", slowly, too_early))
    assert (await looking.settle(intent.id)).state == "done"
    assert await desk.kinds() == ["proposed", "started", "done"]


async def test_nobody_can_find_out(desk: Desk) -> None:
    """What cannot be read stays unknown until the owner closes it, with a reason that the log keeps."""
    desk.switches.before = [LOST]
    intent = await desk.proposed()
    await desk.sign(intent)
    with pytest.raises(Invalid, match="may still be under way"):
        await desk.approvals.close(intent.id, "The list is gone.")
    desk.clock.advance(121)
    with pytest.raises(Invalid, match="A reason of 1 to 500"):
        await desk.approvals.close(intent.id, " ")
    await desk.approvals.close(intent.id, "The list is gone.")
    assert await desk.state(intent) == "closed"
    assert (await desk.kinds())[-1] == "closed"
    assert (await desk.approvals.verify()).holds
    for again in (desk.approvals.settle(intent.id), desk.approvals.close(intent.id, "Once more.")):
        with pytest.raises(Invalid, match="the intent is closed"):
            await again


async def test_nobody_can_find_out_after_a_restore(desk: Desk) -> None:
    """What was under way before a restore is unknown until the owner closes it; what only waited stays void."""
    desk.switches.before = [LOST]
    lost, waiting = await desk.proposed(), await desk.proposed()
    await desk.sign(lost)
    await Restoration(desk.store, desk.clock).settle(None)
    assert (await desk.state(lost), await desk.state(waiting)) == ("unknown", "void")
    desk.clock.advance(120)
    await desk.approvals.close(lost.id, "The store was restored.")
    assert await desk.state(lost) == "closed"
    assert (await desk.approvals.verify()).holds
    for one, state in ((lost, "closed"), (waiting, "void")):
        with pytest.raises(Invalid, match=f"nothing to close: the intent is {state}"):
            await desk.approvals.close(one.id, "Once more.")
    assert (await desk.kinds())[-1] == "closed"


async def test_what_was_under_way_before_a_restore_is_read(desk: Desk) -> None:
    """A restore takes nothing from what was begun: a look shows what became of it."""
    intent = await killed_after_the_start(desk)
    await Restoration(desk.store, desk.clock).settle(None)
    desk.clock.advance(120)
    assert await desk.state(intent) == "unknown"
    assert (await desk.approvals.settle(intent.id)).state == "done"


async def test_a_standing_approval_from_before_a_restore(desk: Desk) -> None:
    """It covers no target any more; what is not known of an earlier use can be read, and then it is void."""
    intent = await desk.approved_run()
    desk.switches.before, desk.switches.unreadable = [LOST], [LOST]
    with pytest.raises(ProcessorUnreachable):
        await desk.approvals.use(intent.id, "cs_1")
    await Restoration(desk.store, desk.clock).settle(None)
    desk.clock.advance(120)
    with pytest.raises(ApprovalRefused, match="void"):
        await desk.approvals.use(intent.id, "cs_2")
    assert not await desk.approvals.is_in_force(intent.id)
    assert await desk.state(intent) == "unknown"
    await desk.approvals.settle(intent.id)
    assert (await desk.state(intent), desk.switches.on) == ("void", [])


async def test_an_intent_of_a_newer_version_is_not_carried_out(desk: Desk) -> None:
    """An intent that says more than this version knows is shown, but this version carries nothing of it out."""
    known = (await desk.proposed()).change(id="in-0123456789ab").to_bytes()
    newer = Intent.from_bytes(known.replace(b'{"v":1', b'{"only_on":"sundays","v":1'))
    await IntentStore(desk.store, desk.clock, desk.approvals.log).propose(newer, [])
    with pytest.raises(ApprovalRefused, match="newer version"):
        await desk.approvals.sign(newer.id, *desk.word(newer))
    assert desk.switches.on == []


@pytest.mark.parametrize("target", ["", "cs_1"])
async def test_locked_after_the_start(desk: Desk, target: str) -> None:
    """What has begun is carried out, and its outcome returned, though the store cannot be read after a commit."""
    intent = await (desk.approved_run() if target else desk.proposed())
    store = UnreliableStore(desk.store)

    async def locked() -> None:
        store.get_errors = [StoreUnavailable("The store is locked.")]

    async def turn_on(intent: Intent, target: str) -> str:
        store.get_errors.clear()
        return await desk.switches.turn_on(intent, target)

    desk.store, store.overtaken_by = store, locked
    covers = desk.switches.covers if target else None
    process = desk.another(operation=Operation(intent.operation, turn_on, desk.switches.is_on, covers))
    if target:
        assert await process.use(intent.id, target) == "cs_1 is on."
    else:
        assert (await process.sign(intent.id, *desk.word(intent))).note == f"{intent.target} is on."
    assert ((await desk.kinds())[-2:], len(desk.switches.on)) == (["started", "done"], 1)


class Scene:
    """A desk whose process may be killed, and the one that is started after it."""

    def __init__(self, at: int) -> None:
        self.fuse = Fuse(at)
        self.desk = Desk()
        self.after = self.desk.approvals
        self.desk.store = UnreliableStore(self.desk.store, fuse=self.fuse)
        self.before = self.desk.another()
        turn_on = self.desk.switches.turn_on

        async def between_points(intent: Intent, target: str) -> str:
            self.fuse.burn()
            note = await turn_on(intent, target)
            self.fuse.burn()
            return note

        mortal = [
            type(one)(one.name, between_points, one.happened, one.covers)
            for one in self.desk.switches.operations()
        ]
        self.before.allow(*mortal)

    async def see_the_truth(self, *, settled: bool = False) -> None:
        """See that what list and log say of each intent is so, and that nothing was done twice."""
        on = self.desk.switches.on
        assert len(on) == len(set(on))
        for found in await self.after.proposals():
            progress = found.progress
            assert progress is not None
            targets = {found.intent.target: progress.state} | {
                name: use.state for name, use in progress.uses.items()
            }
            for target, state in targets.items():
                assert not (state == "done" and target not in on)
                assert not (state in ("proposed", "failed", "withdrawn") and target in on)
                assert not (settled and state in ("started", "unknown"))
        assert (await self.after.verify()).holds

    async def settle(self) -> None:
        """Look, two minutes later, at all that is not known."""
        self.desk.clock.advance(120)
        for found in await self.after.proposals():
            if found.progress.open_targets():
                await self.after.settle(found.intent.id)


Story = Callable[[Scene], Awaitable[None]]


async def an_approval(scene: Scene) -> None:
    """Propose, sign, and carry out."""
    intent = await scene.before.propose(scene.desk.draft())
    await scene.before.sign(intent.id, *scene.desk.word(intent))


async def a_withdrawal(scene: Scene) -> None:
    """Propose, and take back."""
    await scene.before.withdraw((await scene.before.propose(scene.desk.draft())).id)


async def a_standing_approval(scene: Scene) -> None:
    """Propose, sign, and use it for two targets."""
    intent = await scene.before.propose(scene.desk.draft("turn-on-run"))
    await scene.before.sign(intent.id, *scene.desk.word(intent))
    for target in ("cs_1", "cs_2"):
        await scene.before.use(intent.id, target)


async def a_settlement(scene: Scene) -> None:
    """Be killed while carrying out, and then, perhaps, while looking."""
    intent = await scene.after.propose(scene.desk.draft())
    scene.desk.switches.after = [Killed()]
    with suppress(Killed):
        await scene.after.sign(intent.id, *scene.desk.word(intent))
    scene.desk.clock.advance(120)
    await scene.before.settle(intent.id)


@pytest.mark.parametrize("story", [an_approval, a_withdrawal, a_standing_approval, a_settlement])
async def test_killed_at_every_point(story: Story) -> None:
    """Wherever a process is killed, what list and log claim is so; two minutes later a look tells the rest."""
    kills = 0
    for scene in map(Scene, itertools.count(1)):
        try:
            await story(scene)
        except Killed:
            kills += 1
        await scene.see_the_truth()
        await scene.settle()
        await scene.see_the_truth(settled=True)
        if scene.fuse.survived:
            break
    assert kills > 1


async def test_killed_and_signed_again() -> None:
    """After any kill another signature either carries out what was not begun, or is refused: never twice."""
    for scene in map(Scene, itertools.count(1)):
        with suppress(Killed):
            await an_approval(scene)
        for found in await scene.after.proposals():
            with suppress(Invalid):
                await scene.after.sign(found.intent.id, *scene.desk.word(found.intent))
        await scene.see_the_truth()
        if scene.fuse.survived:
            break


async def test_the_points_are_many() -> None:
    """An approval has a point before and after each of its three commits, and around the change itself."""
    scene = Scene(NEVER)
    await an_approval(scene)
    assert scene.fuse.steps == 8
    assert isinstance(scene.desk.store, UnreliableStore)
    assert isinstance(scene.desk.store.inside, MemoryStore)


async def test_restored_while_it_is_carried_out(desk: Desk) -> None:
    """Where a restore takes the record away meanwhile, the outcome is in the log all the same."""
    intent = await desk.proposed()

    async def turn_on(_: Intent, target: str) -> str:
        await desk.store.commit([Delete(f"approval:{intent.id}")])
        return f"{target} is on."

    operation = Operation("turn-on", turn_on, desk.switches.is_on)
    assert (await desk.another(operation=operation).sign(intent.id, *desk.word(intent))).state == "done"
    assert await desk.kinds() == ["proposed", "started", "done"]


async def test_a_clock_that_was_put_back(desk: Desk) -> None:
    """What was started in a future that was undone can be settled at once, and not only when that comes."""
    intent = await killed_after_the_start(desk)
    desk.clock.advance(-365 * 24 * 3600)
    assert await desk.state(intent) == "unknown"
    assert (await desk.approvals.settle(intent.id)).state == "done"
