"""What came of the gateway's pings: stretches, silences and pushes, for a command to list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from orrery.errors import RecordUnreadable
from orrery.gateway.pings import Pings
from orrery.gateway.records import LastPing
from orrery.gateway.reports import CloudReport, Reports
from orrery.gateway.stretches import SILENCE, PingStretch
from orrery.ports.clock import Clock
from orrery.runtime.outbox import DeliveryState, Outbox
from orrery.runtime.watch import parts_of, pushes

_PARTS = "gateway"


@dataclass(frozen=True, slots=True)
class PingSilence:
    """A time without pings; `until` is None while it lasts."""

    since: datetime
    until: datetime | None
    seconds: float


@dataclass(frozen=True, slots=True)
class GatewayPush:
    """A push of the site about the gateway. What the guest pushes by itself is not known here."""

    at: datetime
    title: str
    body: str
    priority: str
    state: DeliveryState


@dataclass(frozen=True, slots=True)
class PingLog:
    """All of it since some time, oldest first."""

    stretches: Sequence[PingStretch]
    silences: Sequence[PingSilence]
    pushes: Sequence[GatewayPush]
    last_ping: LastPing | None
    cloud_report: CloudReport | None
    unreadable: Sequence[RecordUnreadable]


@dataclass(frozen=True, slots=True)
class PingLogs:
    """Reads the store only."""

    pings: Pings
    reports: Reports
    clock: Clock

    async def read(self, back: timedelta) -> PingLog:
        """Return the log of the last time; a stretch or a silence that reaches into it is whole."""
        now = self.clock.now()
        since = now - back
        page = await self.pings.stretches.all()
        found = [one for one in page.values() if one.last_at >= since]
        last = await self.pings.last.find()
        return PingLog(
            found,
            list(_silences(found, now)),
            await self._pushes(since),
            last.record if last else None,
            await self.reports.find(),
            page.unreadable,
        )

    async def _pushes(self, since: datetime) -> list[GatewayPush]:
        stored = pushes(Outbox(self.pings.store, self.clock, {}))
        rows = [row async for row in stored if row.created_at >= since]
        about = [row for row in rows if any(part.startswith(_PARTS) for part in parts_of(row))]
        return [
            GatewayPush(row.created_at, row.title, row.body, row.priority, row.state)
            for row in sorted(about, key=lambda row: row.created_at)
        ]


def _silences(found: Sequence[PingStretch], now: datetime) -> Iterator[PingSilence]:
    for one in found:
        if one.silence is not None:
            yield PingSilence(one.first_at - timedelta(seconds=one.silence), one.first_at, one.silence)
    last = max((one.last_at for one in found), default=now)  # after a clock was put back it is not the last one's
    if now - last > SILENCE:
        yield PingSilence(last, None, (now - last).total_seconds())
