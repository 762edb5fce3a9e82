"""Hours of the night in which pushes below priority 5 wait, by the owner's clock on the wall."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From `begins` to `ends` of each day in `zone`, also over midnight.

    Nothing is stored of them: a change of the settings, of summer time or of the clock counts at the next look.
    """

    begins: time
    ends: time
    zone: ZoneInfo

    def include(self, at: datetime) -> bool:
        """Return whether a time is within them."""
        local = at.astimezone(self.zone).time()
        if self.begins < self.ends:
            return self.begins <= local < self.ends
        return local >= self.begins or local < self.ends

    def end_after(self, now: datetime) -> datetime | None:
        """Return when those that run now are over, in UTC."""
        end = now.replace(second=0, microsecond=0)
        while self.include(end):  # minute by minute: an hour that summer time skips or repeats needs no rule
            end += timedelta(minutes=1)
        return end if self.include(now) else None
