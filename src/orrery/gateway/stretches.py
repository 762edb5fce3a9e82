"""The pings of the last three months, as stretches: those in a row with the same content are one record."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from pydantic import AwareDatetime

from orrery.gateway.causes import Ping, kind_of
from orrery.gateway.settings import MINIMUM_GRACE
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.record import Code, Record
from orrery.runtime.collection import Collection

KEPT = timedelta(days=90)
"""How long a stretch is kept after its last ping."""

SILENCE = timedelta(seconds=MINIMUM_GRACE)
"""A longer time without a ping begins a new stretch: a shutdown of the machine is shorter than the grace."""

MOST_A_DAY = 200
"""Stretches that begin on a day; a gateway that changes all the time is then put into the last one."""


class PingStretch(Record):
    """Pings with the same content: the first came at `first_at`, the last at `last_at`.

    `silence` is for how many seconds there was no ping before the first one, when that was longer than it should
    be. `mixed`: the day had its most stretches, and this one holds its last ping.
    """

    first_at: AwareDatetime
    last_at: AwareDatetime
    count: int = 1
    kind: Code
    state: Code
    sub_state: Code = ""
    result: Code = ""
    exec_main_status: int = 0
    restarts: int = 0
    probe: Code = ""
    judgement: Code = ""
    silence: float | None = None
    mixed: bool = False

    def is_of(self, ping: Ping) -> bool:
        """Return whether a ping has the same content."""
        content = (self.kind, self.state, self.result, self.exec_main_status, self.probe)
        return content == (kind_of(ping), ping.state, ping.result, ping.exec_main_status, ping.probe)

    def goes_on_with(self, ping: Ping, now: datetime) -> bool:
        """Return whether a ping belongs to this stretch."""
        return self.is_of(ping) and abs(now - self.last_at) <= SILENCE

    def moved(self, by: timedelta) -> "PingStretch":
        """Return the stretch after the wall clock was put forward by so much."""
        return self.change(first_at=self.first_at + by, last_at=self.last_at + by)

    def with_ping(self, ping: Ping, now: datetime) -> "PingStretch":
        """Return the stretch after one more ping."""
        mixed = self.mixed or not self.is_of(ping)
        return self.change(**_content(ping), last_at=now, count=self.count + 1, mixed=mixed)


def _content(ping: Ping) -> dict[str, Any]:
    """Return what a stretch keeps of a ping: all but for how long the unit is active."""
    content = {name: value for name, value in asdict(ping).items() if name != "active_seconds"}
    return {"kind": kind_of(ping), **content}


def first_of(ping: Ping, now: datetime, before: PingStretch | None) -> PingStretch:
    """Return a new stretch, after the one before."""
    gap = abs(now - before.last_at) if before else timedelta(0)
    silence = gap.total_seconds() if gap > SILENCE else None
    return PingStretch(first_at=now, last_at=now, silence=silence, **_content(ping))


def stretches(store: Store, clock: Clock) -> Collection[PingStretch]:
    """Return the collection; an id is the time of the first ping."""
    return Collection(store, clock, PingStretch, "gateway:stretch:", life=KEPT)
