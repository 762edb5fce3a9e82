"""Killed between any two steps, list and log claim nothing untrue, and a look settles it (issue 4, Must hold)."""

import itertools
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import Invalid
from orrery.runtime.operations import Intent
from tests.support.approving import Desk
from tests.support.killed import NEVER, Fuse, FusedStore, Killed

pytestmark = pytest.mark.anyio


class Scene:
    """A desk whose process may be killed, and the one that is started after it."""

    def __init__(self, at: int) -> None:
        self.fuse = Fuse(at)
        self.desk = Desk()
        self.after = self.desk.approvals
        self.desk.store = FusedStore(self.desk.store, self.fuse)
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
            if found.progress and found.progress.open_targets():
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
    assert isinstance(scene.desk.store, FusedStore)
    assert isinstance(scene.desk.store.inside, MemoryStore)
