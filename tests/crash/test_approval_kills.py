"""A process is killed (`kill -9`) while it carries out approvals: what the log claims is so (issue 4)."""

import random
from datetime import datetime, timedelta
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.approvals.progress import UNDER_WAY
from tests.crash.approval_worker import approvals_over
from tests.crash.workers import working
from tests.support.soak import rounds
from tests.support.ssh_keys import make_key

ROUNDS = rounds(3)


class LaterClock(SystemClock):
    """The machine's clock, once nothing can be under way any more."""

    def now(self) -> datetime:
        """Return the time of then."""
        return super().now() + UNDER_WAY + timedelta(seconds=1)


def killed(*places: Path, after: int) -> list[str]:
    """Let a process turn so many lights on, kill it somewhere in the next one, and return what it said."""
    with working("crash.approval_worker", *places) as worker:
        worker.await_ready()
        said = [worker.line() for _ in range(after)]
        return [*said, *worker.kill(within=random.uniform(0, 0.06))]  # noqa: S311  where to kill is no secret


async def test_what_the_log_claims_is_so(tmp_path: Path) -> None:
    """After each kill what is called done is on, what waits is off, and what is open is settled by a look."""
    store_path, lights, key = tmp_path / "store.db", tmp_path / "lights", make_key(tmp_path)
    lights.mkdir()
    create(store_path)
    for number in range(ROUNDS):
        said = killed(store_path, lights, key, after=number % 3)
        assert all(line.endswith(" done") for line in said), said
        on = {light.name for light in lights.glob("*")}
        assert {line.split()[0] for line in said} <= on
        await see_the_truth(store_path, lights, key, on)


async def see_the_truth(store_path: Path, lights: Path, key: Path, on: set[str]) -> None:
    """Look as another process does, and settle what is open; `on` are the lights that are on."""
    store = await SqliteStore.open(store_path, LaterClock())
    try:
        approvals = approvals_over(store, lights, key, LaterClock())
        states = {one.intent.target: one.in_words(LaterClock().now()) for one in await approvals.proposals()}
        assert on <= set(states)
        for target, state in states.items():
            assert state in {"waiting", "done", "unknown", "failed"}
            assert (target in on) is (state == "done") or state == "unknown"
        for found in await approvals.proposals():
            if found.progress.open_targets():
                settled = await approvals.settle(found.intent.id)
                assert settled.state == ("done" if found.intent.target in on else "failed")
        assert (await approvals.verify()).holds
    finally:
        await store.close()
