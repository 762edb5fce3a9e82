"""The record of the gateway's pings."""

from dataclasses import asdict, fields
from datetime import date, datetime, timedelta

from pydantic import AwareDatetime

from orrery.gateway.causes import PASSING, Ping, kind_of
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.record import Code, Record
from orrery.runtime.collection import FOR_EVER, Collection


class LastPing(Record):
    """The last ping, if there was one; `at` is when it came, `good_at` when the last good one came.

    `trouble` is what pings have reported since `trouble_since`, without a gap and without a good one between.
    `stretch` is the id of the stretch that it is in, `stretches` how many began on that `day`.
    """

    expected_since: AwareDatetime
    at: AwareDatetime | None = None
    good_at: AwareDatetime | None = None
    trouble: Code = ""
    trouble_since: AwareDatetime | None = None
    state: Code = ""
    sub_state: Code = ""
    result: Code = ""
    exec_main_status: int = 0
    active_seconds: int | None = None
    restarts: int = 0
    probe: Code = ""
    judgement: Code = ""
    stretch: Code = ""
    day: date | None = None
    stretches: int = 0

    @property
    def ping(self) -> Ping:
        """The last ping."""
        return Ping(**{one.name: getattr(self, one.name) for one in fields(Ping)})

    def moved(self, by: timedelta) -> "LastPing":
        """Return the record after the wall clock was put forward by so much; its lengths of time stay."""
        return self.change(
            at=self.at and self.at + by,
            good_at=self.good_at and self.good_at + by,
            trouble_since=self.trouble_since and self.trouble_since + by,
        )

    def followed_by(self, ping: Ping, now: datetime, grace: timedelta) -> "LastPing":
        """Return the record after a ping; one that comes after a longer silence than `grace` begins again."""
        kind = kind_of(ping)
        goes_on = self.at is not None and abs(now - self.at) <= grace and self.trouble != ""
        if ping.is_good:
            trouble, since = "", None
        elif goes_on and (kind in PASSING or kind == self.trouble):
            trouble, since = self.trouble, self.trouble_since
        else:
            trouble, since = kind, now
        return self.change(
            at=now,
            good_at=now if ping.is_good else self.good_at,
            trouble=trouble,
            trouble_since=since,
            **asdict(ping),
        )


def last_ping(store: Store, clock: Clock) -> Collection[LastPing]:
    """Return the collection of the last ping. It is derived: the next ping, a minute later, makes it again."""
    return Collection(store, clock, LastPing, "gateway:ping", derived=True, life=FOR_EVER)
