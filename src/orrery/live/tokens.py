"""The provider's token quotas of an hour and of a day, each from one refill to the next (decision 24). Pure."""

from datetime import UTC, datetime, time, timedelta
from typing import Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, NonNegativeInt, PositiveInt

from orrery.ports.analytics import QuotaState
from orrery.record import RecordPart

PACIFIC = ZoneInfo("America/Los_Angeles")
"""Where the provider's day begins (spec 2, Limits; decision 24)."""

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


class TokenWindow(RecordPart):
    """One quota. `remaining` is how much Orrery may use, `size` is all of it, assumed or shown by the provider.

    `told` is the last figure of the provider. From its first one on, at `since`, others used `others`: below
    zero while the cost of a query is charged that has not reported.
    """

    name: Literal["hour", "day"]
    size: PositiveInt
    remaining: NonNegativeInt
    refills_at: AwareDatetime
    since: AwareDatetime
    told: NonNegativeInt | None = None
    others: int = 0

    @classmethod
    def full(cls, name: Literal["hour", "day"], size: int, now: datetime) -> Self:
        """Return a window that begins now: an hour as if the provider refilled it on the hour."""
        next_hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + HOUR
        refills_at = next_pacific_midnight(now) if name == "day" else next_hour
        return cls(name=name, size=size, remaining=size, refills_at=refills_at, since=now)

    def at(self, now: datetime) -> Self:
        """Return it, or a full one once its refill has come or cannot be; an hour keeps its minute."""
        if now < self.refills_at <= now + self._length + HOUR:
            return self
        full = self.full(self.name, self.size, now)
        if self.name == "day" or self.refills_at > now:
            return full
        return full.change(refills_at=now + HOUR - (now - self.refills_at) % HOUR)

    def charged(self, cost: int) -> Self:
        return self.change(remaining=max(0, self.remaining - cost))

    def corrected(self, bucket: QuotaState, charged: int, now: datetime) -> Self:
        """Return it with the figures of a report that was `charged`; a tenth more than before means a refill."""
        left, consumed = max(0, bucket.remaining), max(0, bucket.consumed)
        # What a query consumed does not count for the size: a wrong figure there would make it dear for days.
        known = {"remaining": left, "told": left, "size": max(self.size, left)}
        if self.told is None:
            return self.change(since=now, others=0, **known)
        if left > self.told + self.size // 10:
            refills_at = now + HOUR if self.name == "hour" else self.refills_at
            return self.change(since=now, others=0, refills_at=refills_at, **known)
        return self.change(others=self.others + self.remaining + charged - consumed - left, **known)

    def for_others(self, now: datetime) -> int:
        """Return how much others will use until the refill; a burst counts as a quarter of a window's use."""
        watched = max(now - self.since, self._length / 4)
        return max(0, self.others) * ((self.refills_at - now) // SECOND) // (watched // SECOND)

    @property
    def _length(self) -> timedelta:
        return HOUR if self.name == "hour" else DAY


def next_pacific_midnight(now: datetime) -> datetime:
    """Return when the day's quota refills next, in UTC: 07:00 in summer, 08:00 in winter."""
    tomorrow = now.astimezone(PACIFIC).date() + DAY
    return datetime.combine(tomorrow, time(), tzinfo=PACIFIC).astimezone(UTC)
