"""How session creation goes: when the processor fails visitors' requests so that it is an outage.

    well ──5 failures in a row, or 2 at least 3 minutes apart──▶ outage ──10 minutes without a failure──▶ well
      └─────one session that is not what was asked for───────────▶

A success ends a row of failures, but no outage. Rows are counted in memory, of all products together and of each:
one product that cannot be bought must not hide behind the sales of the others. An outage is in the store, where
`orrery doctor` and other processes see it and a restart finds it (docs/decisions/0031).
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Literal

import structlog
from pydantic import AwareDatetime

from orrery.checkout import keys
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.errors import SessionMismatch
from orrery.errors import StoreError
from orrery.ports.health import Finding
from orrery.ports.processor.errors import ProcessorError, ProcessorRefused, ProcessorUnreachable
from orrery.record import Code, Record, Sentence
from orrery.runtime.collection import Collection
from orrery.runtime.lasting import Lasting, Pace, unless_store_fails
from orrery.syntax.lines import one_line
from orrery.tls import advice

IN_A_ROW = 5
"""Failures in a row that are an outage (docs/decisions/0037)."""

APART = timedelta(minutes=3)
"""Two failures so far apart, with no success between, are an outage too: there may be few visitors (the same)."""

OVER_AFTER = timedelta(minutes=10)
"""An outage ends after this time without a failure (the same)."""

WRITTEN_EVERY = timedelta(seconds=10)
"""How often an outage is written while it lasts: a flood of failures must not become a flood of commits."""

KEEP = timedelta(days=7)
"""How long `orrery doctor` reports the last outage."""

MISMATCH_OVER_AFTER = timedelta(hours=24)
"""The same where sessions are not what was asked for: that does not pass by itself, and visitors may be few."""

PART = "session creation"

_ALL = ""
"""The key for all products together."""

_LONGEST_REASON = 300
"""Characters of the processor's message that are repeated."""

log = structlog.get_logger()


class CreationOutage(Record):
    """An outage, with the last reason and what to do about it. `product` is set while all failures were for it.

    `mismatch`: it is one only because a session was not what was asked for.
    """

    v: Literal[1] = 1
    since: AwareDatetime
    last_failure_at: AwareDatetime
    failures: int
    product: Code | None
    why: Sentence
    todo: Sentence
    mismatch: bool = False

    def lasts(self, now: datetime) -> bool:
        """Return whether it is not over."""
        # After a clock was put back the last failure may be years ahead.
        return abs(now - self.last_failure_at) < (MISMATCH_OVER_AFTER if self.mismatch else OVER_AFTER)


@dataclass(slots=True)
class _FailureStreak:
    """Failures in a row; `begun` is the clock's monotonic time."""

    since: datetime
    begun: float
    count: int = 0

    def is_outage(self, now: float) -> bool:
        return self.count >= IN_A_ROW or (self.count > 1 and now - self.begun >= APART.total_seconds())


class CreationHealth:
    """Counts visitors' failed and successful requests in this process, and stores the outage for all processes."""

    def __init__(self, stored: CheckoutRecords) -> None:
        self._clock = clock = stored.clock
        outages = Collection(stored.store, clock, CreationOutage, keys.CREATION_OUTAGE, life=KEEP)
        self._outage = Lasting(outages)
        self._rows: dict[str, _FailureStreak] = {}
        self._failed_at = 0.0
        self._pace = Pace(clock, WRITTEN_EVERY)
        self._unwritten: Counter[str] = Counter()
        self._is_writing = False

    def succeeded(self, product: str) -> None:
        """Note that a visitor got a session for a product."""
        for row in (_ALL, product):
            _ = self._rows.pop(row, None)

    async def failed(self, product: str, error: ProcessorError) -> None:
        """Note that a visitor got none because the processor failed; a store that fails too is only logged."""
        self._count(product)
        if self._is_writing or not self._pace.is_due():
            return
        self._is_writing = True
        try:
            await self._write(product, error)
        except StoreError as trouble:
            log.warning("outage of session creation not written", why=str(trouble))
        finally:
            self._is_writing = False

    async def local(self) -> list[Finding]:
        """Return the finding about session creation."""
        return await unless_store_fails(self._finding())

    async def _finding(self) -> Finding:
        last = await self._outage.known()
        if last is None:
            return Finding(PART, "ok", settled=True, essential=True)
        period = f"{last.failures} request{'s' * (last.failures > 1)} to start a payment failed"
        since, until = f"{last.since:%Y-%m-%d %H:%M}", f"{last.last_failure_at:%H:%M} UTC"
        if not last.lasts(self._clock.now()):
            return Finding(
                PART, "ok", f"{period} from {since} to {until}, and none since then.", settled=True, essential=True
            )
        product = f" All were for {last.product}." if last.product else ""
        why = f"The checkout fails: {period} since {since} UTC, the last at {until}.{product} {last.why}"
        # An odd session of one product is no reason to take the others off the air.
        return Finding(PART, "broken", why, last.todo, settled=True, essential=not last.mismatch, urgent=True)

    def _count(self, product: str) -> None:
        now, at = self._clock.monotonic(), self._clock.now()
        if self._pace.at is not None and now - self._failed_at >= OVER_AFTER.total_seconds():
            self._rows, self._unwritten, self._pace.at = {}, Counter(), None
        self._failed_at = now
        self._unwritten[product] += 1
        for name in (_ALL, product):
            self._rows.setdefault(name, _FailureStreak(at, now)).count += 1

    async def _write(self, product: str, error: ProcessorError) -> None:
        counted = Counter[str]()

        def outage(last: CreationOutage | None) -> CreationOutage | None:
            nonlocal counted
            counted = self._unwritten.copy()  # with what failed while the store was read
            return self._after(last, product, error)

        if await self._outage.change(outage):
            self._unwritten -= counted
            self._pace.mark()

    def _after(self, last: CreationOutage | None, product: str, error: ProcessorError) -> CreationOutage | None:
        """Return the outage with the counts that are not stored yet, or None without an outage."""
        now, (why, todo) = self._clock.now(), _reason(error)
        at, one, at_once = self._clock.monotonic(), self._rows[product], isinstance(error, SessionMismatch)
        rows = [row for row in (self._rows[_ALL], one) if row.is_outage(at)]
        if last is not None and last.lasts(now):
            still_odd = last.mismatch and not rows
            if still_odd and not at_once:
                why, todo = last.why, last.todo
            return last.change(
                mismatch=still_odd,
                last_failure_at=now,
                failures=last.failures + self._unwritten.total(),
                product=last.product if {*self._unwritten} <= {last.product} else None,
                why=why,
                todo=todo,
            )
        row = max(rows, key=lambda row: row.count, default=one if at_once else None)
        if row is None:
            return None
        return CreationOutage(
            mismatch=not rows,
            since=row.since,
            last_failure_at=now,
            failures=row.count,
            product=product if row.count == one.count else None,
            why=why,
            todo=todo,
        )


def _reason(error: ProcessorError) -> tuple[str, str]:
    """Return the likely cause in a sentence, and what to do."""
    why = one_line(str(error), _LONGEST_REASON)
    if isinstance(error, SessionMismatch):
        todo = "Compare checkout.processor_url and the product's price with the processor's dashboard; then type "
        return f"{why} No visitor was sent there.", f"{todo}`orrery checkout preflight`."
    if isinstance(error, ProcessorRefused):
        if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return why, "Check the API key with `orrery secrets check`."
        named = one_line(error.param or error.code or error.kind or "", _LONGEST_REASON)
        why = f"The processor refuses the session: {why}" + (f" ({named})" if named else "")
        return why, "Correct in the settings what it names, then type `orrery checkout preflight`."
    status = error.status if isinstance(error, ProcessorUnreachable) else None
    if status is None:
        network = "Check this machine's network and name resolution, then the processor's status page."
        return why, advice(error, network)
    if status == HTTPStatus.OK:
        todo = "Check checkout.processor_url, checkout.api_version and any proxy on the way; type `orrery doctor`."
        return why, todo
    return why, "Look at the processor's status page; each visitor's request is tried again."
