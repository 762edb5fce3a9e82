"""The health round: checks every part every ten seconds and keeps the findings, so that a request costs nothing.

Decision 52.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta

from orrery.errors import OrreryError
from orrery.ports.clock import Clock
from orrery.ports.health import Finding, Round
from orrery.runtime.store_probe import STORE, broken_store

PART = "health round"
"""The part that is broken when the others could not be checked."""

LONGEST = timedelta(seconds=10)
"""A round is cancelled after this time: a locked store delays every read."""

_HANGS = f"The checks did not end within {LONGEST.seconds} s: the disk of the store may hang."

_TODO = "The findings of the other parts are older. `orrery doctor` looks now; see the log if it lasts."


CLOSING = Finding(
    "service",
    "broken",
    "This process ends in some seconds.",
    "Nothing, if you have stopped it. `orrery doctor` checks the other parts.",
    essential=True,
)
"""For what asks for readiness. It is no outage, and no push."""


class Readiness:
    """Keeps the findings of the last round: a broken `PART` until the first one has ended."""

    def __init__(
        self,
        findings: Callable[[], Awaitable[Sequence[Finding]]],
        clock: Clock,
        why_unusable: Callable[[], str] = lambda: "",
    ) -> None:
        """`why_unusable` returns what an unfinished round found of the store first, or nothing."""
        self._findings = findings
        self._why_unusable = why_unusable
        self._clock = clock
        self._last = Round(clock.now(), _with_failure([], "The first one has not ended."))
        self._closing: Sequence[Finding] = ()

    def last(self) -> Round:
        return replace(self._last, findings=[*self._last.findings, *self._closing])

    def close(self) -> None:
        """Be not ready from now on: this process ends soon."""
        self._closing = [CLOSING]

    async def run_round(self) -> Sequence[Finding]:
        """Check every part and return the findings; a round that fails keeps the last findings."""
        found = self._last.findings
        try:
            async with asyncio.timeout(LONGEST.total_seconds()):
                found = await self._findings()
        except TimeoutError:
            others = [one for one in found if one.part not in {PART, STORE}]
            found = [
                *others,
                broken_store(self._why_unusable() or _HANGS, _TODO),
            ]  # the round asks nothing but the store and its disk
        except OrreryError as error:
            found = _with_failure(found, str(error))
        except Exception as error:
            found = _with_failure(found, f"unexpected {type(error).__name__}")
            raise
        finally:
            self._last = Round(self._clock.now(), found)
        return found


def _with_failure(found: Sequence[Finding], why: str) -> Sequence[Finding]:
    return [
        *(one for one in found if one.part != PART),
        Finding(PART, "broken", why, _TODO, essential=True, of_machine=True),
    ]
