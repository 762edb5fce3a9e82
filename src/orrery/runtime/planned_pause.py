"""A planned pause: for a while nothing is pushed of what the owner's own maintenance breaks.

It is in the store, so that it outlives a restart (docs/decisions/0089-one-list-of-problems.md).
"""

from datetime import datetime, timedelta

from pydantic import AwareDatetime

from orrery.errors import Invalid, NotFound, StoreError
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.health import URGENT, Finding
from orrery.ports.panels import Panel, utc_text
from orrery.ports.store import Delete, Store
from orrery.record import Record, Sentence
from orrery.runtime.collection import Collection, write
from orrery.runtime.due import SLACK, is_ahead
from orrery.syntax.reason import checked_reason, normal_reason

TITLE = "Planned pause"

LONGEST = timedelta(hours=12)
"""How long one may last."""

EXPLAINS = ("backup", "database", "disk", "gateway", "job: ", "live counter", "node ", "notifications")
"""The beginnings of the names of the parts that maintenance breaks: machines, services, and what runs late."""

_END = "`orrery pause --end` ends it."


class Pause(Record):
    """A planned pause, and why."""

    begins: AwareDatetime
    until: AwareDatetime
    reason: Sentence

    def explains(self, finding: Finding, since: datetime) -> bool:
        """Return whether nothing is pushed of a part that is broken since then: never of one of priority 5."""
        return finding.priority < URGENT and since >= self.begins and finding.part.startswith(EXPLAINS)

    def __str__(self) -> str:
        return f"Until {self.until:%Y-%m-%d %H:%M} UTC: {self.reason}"


class PlannedPauses:
    """Begins a pause and ends it; there is one at a time."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._pauses = Collection(store, clock, Pause, "planned-pause", life=LONGEST)

    async def running(self) -> Pause | None:
        """Return the pause that runs now; raise `StoreError`. A clock that was put back ends it."""
        found, now = await self._pauses.find(), self._pauses.clock.now()
        if found and found.record.begins <= now + SLACK and is_ahead(found.record.until, now, LONGEST):
            return found.record
        return None

    async def begin(self, time: timedelta, reason: str) -> Pause:
        """Begin a pause, or let the one that runs last that long from now; raise `Invalid` and `StoreError`."""
        checked_reason(reason := normal_reason(reason))
        if time > LONGEST:
            raise Invalid(f"A planned pause lasts {LONGEST // timedelta(hours=1)} h at most.")
        now, before = self._pauses.clock.now(), await self.running()
        pause = Pause(begins=before.begins if before else now, until=now + time, reason=reason)
        await write(self._pauses.store, [self._pauses.put(pause)])
        log.info("planned pause", until=utc_text(pause.until), reason=reason)
        return pause

    async def end(self) -> None:
        """End the pause that runs; raise `NotFound` and `StoreError`."""
        if await self.running() is None:
            raise NotFound("No planned pause runs.")
        await write(self._pauses.store, [Delete(self._pauses.key())])
        log.info("planned pause ended")

    async def check(self) -> list[Finding]:
        """Return what a view of findings shows of it; nothing when the store fails, which has its own finding."""
        try:
            pause = await self.running()
        except StoreError:
            return []
        return [Finding(TITLE.lower(), "ok", str(pause), _END, essential=False)] if pause else []

    async def panel(self) -> Panel | None:
        """Return what the owner's page shows of it."""
        pause = await self.running()
        return Panel(TITLE, f"Until {utc_text(pause.until)}: {pause.reason}", todo=_END) if pause else None
