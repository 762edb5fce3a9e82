"""The health round: what is known of the parts is kept, and a round that fails is known as well (decision 52)."""

import asyncio
from collections.abc import Sequence

import pytest

from orrery.errors import StoreUnavailable
from orrery.ports.health import Finding
from orrery.runtime.readiness import LONGEST, PART, Readiness
from tests.support.clock import ManualClock
from tests.support.hasty_loop import run_ahead

WELL = Finding("store", "ok", essential=True)
BAD = Finding("webhook secret", "broken", "It is missing.", essential=True)


class Parts:
    """Parts that are looked at: each look finds these, or fails so."""

    def __init__(self) -> None:
        self.looks = 0
        self.found: list[Finding] | Exception = [WELL, BAD]

    async def look(self) -> Sequence[Finding]:
        """Return or raise what was given."""
        self.looks += 1
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


async def test_asking_looks_at_nothing() -> None:
    """What is asked is what the last round found, however often; before the first, that there was none."""
    parts = Parts()
    readiness = Readiness(parts.look, ManualClock())
    assert [(one.part, one.state, one.essential) for one in readiness.last().findings] == [(PART, "broken", True)]
    assert await readiness.run_round() == [WELL, BAD]
    assert [readiness.last().findings for _ in range(100)] == [[WELL, BAD]] * 100
    assert parts.looks == 1


@pytest.mark.parametrize(
    ("error", "why"),
    [(StoreUnavailable("It is locked."), "It is locked."), (KeyError("x"), "unexpected KeyError")],
)
async def test_a_round_that_fails_is_told(error: Exception, why: str) -> None:
    """It is a broken part beside what was found before, once, and is gone with the next good round."""
    parts = Parts()
    readiness = Readiness(parts.look, ManualClock())
    await readiness.run_round()
    parts.found = error
    for _ in range(2):
        if isinstance(error, KeyError):
            with pytest.raises(KeyError):  # a bug: the workers log it
                await readiness.run_round()
        else:
            await readiness.run_round()
    *others, told = readiness.last().findings
    assert (others, told.part, told.state, told.why) == ([WELL, BAD], PART, "broken", why)
    parts.found = [WELL]
    assert await readiness.run_round() == [WELL]


def test_a_round_that_does_not_end_is_given_up() -> None:
    """Nothing that hangs keeps an old answer alive; what was found of the store by then is the reason."""

    async def hang() -> Sequence[Finding]:
        return await asyncio.Event().wait() and []

    for known, why in (
        ("", "The checks did not end within 10 s: the disk of the store may hang."),
        ("It waits for a standby.", "It waits for a standby."),
    ):
        (told,) = run_ahead(Readiness(hang, ManualClock(), known.__str__).run_round(), LONGEST.total_seconds())
        assert (told.part, told.state, told.why) == ("store", "broken", why)
