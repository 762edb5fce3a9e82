"""The last report of the cloud: `orrery gateway cloud report` sends it, where the cloud's credentials are."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from pydantic import AwareDatetime

from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.record import Code, Id, Record, RecordPart, Sentence
from orrery.runtime.collection import Collection, commit, write

KEPT = timedelta(days=30)
"""How long the last report is kept: after a cloud layer was removed, its site forgets it."""

AlertState = Literal["on", "off", "missing", "unknown"]
GapState = Literal["not allowed", "unreadable"]

WEBHOOK_PARTS = frozenset({"webhook", "action group"})
"""Without one of these, the end of the webhook may not be known: the action group names it."""


class ReportedJob(RecordPart):
    """One job of the runbook."""

    id: Id
    status: Code
    started_at: AwareDatetime
    ended_at: AwareDatetime | None = None


class ReportedOutage(RecordPart):
    """The last outage of the machine; `ended_by` names the layer that ended it, and is empty while it lasts."""

    began_at: AwareDatetime
    ended_at: AwareDatetime | None = None
    ended_by: Code = ""


class ReportedGap(RecordPart):
    """A part of the cloud that is not known, and since when."""

    part: Code
    state: GapState
    since: AwareDatetime


class CloudReport(Record):
    """What the cloud layer found, and when it came; jobs are newest first, each trouble is a sentence.

    What is `unknown` is as an earlier report had it, where there was one.
    """

    at: AwareDatetime
    power: Code
    health: Code
    webhook_expires_at: AwareDatetime | None = None
    health_alert: Code
    deallocate_alert: Code
    jobs: tuple[ReportedJob, ...] = ()
    last_outage: ReportedOutage | None = None
    troubles: tuple[Sentence, ...] = ()
    unknown: tuple[ReportedGap, ...] = ()

    def after(self, earlier: "CloudReport | None") -> "CloudReport":
        """Return the report with what an earlier one knew in the place of what this one does not."""
        if earlier is None or not self.unknown:
            return self
        since = {gap.part: gap.since for gap in earlier.unknown}
        fields = {name for gap in self.unknown for name in _FIELDS.get(gap.part, ())}
        kept = {name: getattr(earlier, name) for name in fields if getattr(self, name) in _NOTHING}
        gaps = tuple(gap.change(since=since.get(gap.part, gap.since)) for gap in self.unknown)
        return self.change(**kept, unknown=gaps)


_FIELDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(WEBHOOK_PARTS, ("webhook_expires_at",)),
    "health alert": ("health_alert",),
    "deallocate alert": ("deallocate_alert",),
    "jobs": ("jobs", "last_outage"),
    "activity log": ("last_outage",),
}
"""What a report may not know without a part. Power and health pass: they are unknown then."""

_NOTHING = (None, "unknown", ())


@dataclass(frozen=True, slots=True)
class Reports:
    """Stores each report over the one before."""

    store: Store
    clock: Clock

    @property
    def last(self) -> Collection[CloudReport]:
        """The collection of the last report. It is derived: the next report makes it again."""
        return Collection(self.store, self.clock, CloudReport, "gateway:report", life=KEPT, derived=True)

    async def receive(self, report: CloudReport) -> None:
        """Store a report; raise the store's errors."""
        await write(self.store, [self.last.put(report.after(await self.find()))])

    async def find(self) -> CloudReport | None:
        """Return the last report, if there was one that can be read."""
        found = await self.last.find()
        return found.record if found else None

    async def forget(self) -> None:
        """Remove the last report."""
        if found := await self.last.find():
            _ = await commit(self.store, self.last.changes("", found, None))
