"""The property's six quotas: they run down with each report and refill on the clock."""

import re
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from orrery.ports.clock import Clock
from orrery.sandbox.analytics.access import AnalyticsConfig, refused
from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document

PACIFIC = ZoneInfo("America/Los_Angeles")
"""Where the day of the tokens begins at midnight."""

TEXTS = {
    "concurrentRequests": "Exhausted concurrent requests quota.",
    "tokensPerDay": "Exhausted property tokens for a property per day. "
    "These quota tokens will return in less than 24 hours.",
    "tokensPerHour": "Exhausted property tokens for a property per hour. "
    "These quota tokens will return in under an hour.",
    "tokensPerProjectPerHour": "Exhausted property tokens for a project per hour. "
    "These quota tokens will return in under an hour.",
    "serverErrorsPerProjectPerHour": "Exhausted server errors for a project per hour.",
    "potentiallyThresholdedRequestsPerHour": "Exhausted potentially thresholded requests quota.",
}
"""The message of a 429, by quota. For those of tokensPerHour and of the server errors there is no source."""

_TOKENS = ("tokensPerDay", "tokensPerHour", "tokensPerProjectPerHour")
_CONCURRENT, _ERRORS = "concurrentRequests", "serverErrorsPerProjectPerHour"
_THRESHOLDED = "potentiallyThresholdedRequestsPerHour"
_HOUR = 3600


@dataclass(slots=True)
class Bucket:
    """One quota: `used` of `size` within `window`, which is an hour, a Pacific day, or nothing that ends."""

    size: int
    used: int = 0
    window: str = ""

    @property
    def left(self) -> int:
        """What is left, never below 0."""
        return max(self.size - self.used, 0)


def exhausted(name: str) -> Refusal:
    """Return the refusal for that quota."""
    return refused(429, TEXTS[name])


class Quota:
    """The six quotas of one property, and the cost of a report.

    A report is carried out as long as any quota is left: its cost is known only afterwards.
    """

    def __init__(self, config: AnalyticsConfig, clock: Clock) -> None:
        self._clock = clock
        self.cost = 10
        self._buckets = {
            "tokensPerDay": Bucket(config.tokens_per_day),
            "tokensPerHour": Bucket(config.tokens_per_hour),
            "tokensPerProjectPerHour": Bucket(config.tokens_per_project_per_hour),
            _CONCURRENT: Bucket(10),
            _ERRORS: Bucket(10),
            _THRESHOLDED: Bucket(120),
        }

    def charge(self) -> Document:
        """Charge a report and return `propertyQuota`; raise `Refusal` when any quota is exhausted."""
        for name in (_CONCURRENT, _ERRORS, *_TOKENS):
            if not self.bucket(name).left:
                raise exhausted(name)
        for name in _TOKENS:
            self.bucket(name).used += self.cost
        consumed = {name: self.cost if name in _TOKENS else 0 for name in self._buckets}
        return {name: {"consumed": taken, "remaining": self.bucket(name).left} for name, taken in consumed.items()}

    def fail(self) -> None:
        """Count a server error."""
        self.bucket(_ERRORS).used += 1

    def bucket(self, name: str) -> Bucket:
        """Return a bucket as it is now, refilled if its window has ended."""
        bucket, window = self._buckets[name], self._window(name)
        if window and bucket.window != window:
            bucket.used, bucket.window = 0, window
        return bucket

    def change(self, given: Document) -> None:
        """Set the `cost` of a report, the `size` of a `bucket` or its `left` rest, or `refill` all of them.

        Raises `ValueError`.
        """
        if str(given.get("refill", "")).lower() == "true":
            for name in self._buckets:
                self.bucket(name).used = 0
        if "cost" in given:
            self.cost = _figure(given["cost"])
        if name := given.get("bucket"):
            if name not in self._buckets:
                raise ValueError(f"Unknown quota: one of {', '.join(self._buckets)}.")
            self._fill(self.bucket(name), given)

    def as_json(self) -> Document:
        """Return size and rest of each quota, and the cost of a report."""
        buckets = {name: self.bucket(name) for name in self._buckets}
        return {
            "cost": self.cost,
            "buckets": {name: {"size": one.size, "left": one.left} for name, one in buckets.items()},
        }

    def _fill(self, bucket: Bucket, given: Document) -> None:
        given = {name: value for name, value in given.items() if value != ""}  # of a form's empty fields
        left = _figure(given.get("left", bucket.left))
        bucket.size = _figure(given.get("size", bucket.size))
        bucket.used = bucket.size - min(left, bucket.size)

    def _window(self, name: str) -> str:
        if name == _CONCURRENT:
            return ""
        now = self._clock.now()
        return _day(now) if name == "tokensPerDay" else str(int(now.timestamp()) // _HOUR)


def _day(now: datetime) -> str:
    return now.astimezone(PACIFIC).date().isoformat()


def _figure(given: object) -> int:
    if not re.fullmatch("[0-9]{1,9}", text := str(given)):
        raise ValueError("A figure of the quota is a whole number of 0 or more.")
    return int(text)
