"""The answers of the public reads, and how long caches may keep them (spec 2; decisions 19, 20, 27)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import floor

from orrery.live.freshness import CACHED, TOO_OLD_ABOVE, Freshness, age, freshness, until_next
from orrery.live.records import Pages, Snapshot, stamp

KEEP_TROUBLE = 5
"""Seconds that a shared cache may keep an answer without a count: it may be put right at any moment."""

WHILE_REVALIDATING = 10
"""Seconds that a shared cache may go on serving while it asks again.

`TICK`, `CACHED`, this and the poll of 45 s are together less than `FRESH_BELOW`.
"""

ROUNDING = 3
"""Seconds by which a shared cache ends early while the service is down: it counts whole ones, and an answer is
sent for one more."""

NO_DATA, TOO_OLD, NOT_BOUND = "no-data", "data-too-stale", "kv-not-bound"
"""The errors of a public read (spec 2, Errors; decision 20)."""


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """One answer, ready to be sent: JSON, a weak validator, and its `Cache-Control`."""

    body: bytes
    etag: bytes
    cache_control: bytes


@dataclass(frozen=True, slots=True)
class CurrentCount:
    """The count at one time. `age` is None when there is no usable count.

    `window_minutes` is the time over which visitors were counted; None without a count.
    """

    count: int
    window_minutes: int | None
    generated_at: datetime | None
    age: timedelta | None
    state: Freshness
    error: str | None

    @property
    def stale(self) -> bool:
        """Return whether it is older than fresh, or not there."""
        return self.state != "fresh"


def current_count(snapshot: Snapshot, now: datetime, *, reachable: bool = True) -> CurrentCount:
    """Return the total of the cache; without a usable one, 0 with the reason."""
    active = snapshot.active
    found = age(active.generated_at, now) if active else None
    state = freshness(found)
    if active is None or state == "empty":
        return CurrentCount(0, None, None, None, "empty", NO_DATA if reachable else NOT_BOUND)
    if state == "too-old":
        return CurrentCount(
            0, active.window_minutes, active.generated_at, found, state, TOO_OLD if reachable else NOT_BOUND
        )
    return CurrentCount(active.active, active.window_minutes, active.generated_at, found, state, None)


def site(snapshot: Snapshot, now: datetime, *, reachable: bool = True) -> CachedAnswer:
    """Return the site read: the count and its pages."""
    total = current_count(snapshot, now, reachable=reachable)
    pages, pages_age = _shown_pages(snapshot.pages, total, now)
    listed = [page.model_dump() for page in pages.pages] if pages else []
    fields: dict[str, object] = {"active": total.count, "pages": listed, **dated(total)}
    if pages and pages_age is not None:
        fields["pages_generated_at"] = stamp(pages.generated_at)
        fields["pages_age_s"] = floor(pages_age.total_seconds())
    return _answer(fields, total, pages.generated_at if pages else None, pages_age)


def cosmos(snapshot: Snapshot, now: datetime, *, reachable: bool = True) -> CachedAnswer:
    """Return the cosmos read: the count of the whole family."""
    total = current_count(snapshot, now, reachable=reachable)
    return _answer({"totalUnique": total.count, "scope": "cosmos", **dated(total)}, total, None, None)


def _shown_pages(
    pages: Pages | None, total: CurrentCount, now: datetime
) -> tuple[Pages, timedelta] | tuple[None, None]:
    """Return the pages and their age, unless they or the total are too old to be shown, or the total is zero.

    Pages may be older than the total: people on them beside a count of zero would contradict it (decision 43).
    """
    found = age(pages.generated_at, now) if pages else None
    if pages is None or found is None or found > TOO_OLD_ABOVE or not total.count:
        return None, None
    return pages, found


def dated(total: CurrentCount) -> dict[str, object]:
    """Return the fields that date a count, with why it is not newer or is missing."""
    fields: dict[str, object] = {
        "generated_at": stamp(total.generated_at) if total.generated_at else None,
        "age_s": floor(total.age.total_seconds()) if total.age is not None else None,
        "stale": total.stale,
        "window_minutes": total.window_minutes,
    }
    return fields | ({"error": total.error} if total.error else {})


def _answer(
    fields: Mapping[str, object], total: CurrentCount, pages_at: datetime | None, pages_age: timedelta | None
) -> CachedAnswer:
    validator = "-".join(str(part) for part in (_micros(total.generated_at), total.error or total.state))
    if pages_at:
        validator += f"-{_micros(pages_at)}"
    return CachedAnswer(
        body=json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"),
        etag=f'W/"{validator}"'.encode(),
        cache_control=_cache_control(total, pages_age).encode(),
    )


def _micros(time: datetime | None) -> int:
    return floor(time.timestamp() * 1_000_000) if time else 0


def _cache_control(total: CurrentCount, pages_age: timedelta | None) -> str:
    """Return for how long a shared cache keeps the answer: never beyond what would make it another one.

    A browser asks each time and gets "not modified". While the origin fails, caches serve the last good answer
    until it is too old.
    """
    if total.error:
        return f"public, max-age=0, s-maxage={KEEP_TROUBLE}"
    limits = [limit for limit in (until_next(total.age), _left(pages_age)) if limit is not None]
    left = floor(min(limits).total_seconds()) if limits else CACHED
    keep = max(1, min(CACHED, left))
    parts = ["public", "max-age=0", f"s-maxage={keep}"]
    if limits:
        usable = [one for one in (_left(total.age), _left(pages_age)) if one is not None]
        last = floor(min(usable).total_seconds())
        parts.append(f"stale-while-revalidate={max(0, min(WHILE_REVALIDATING, left - keep))}")
        parts.append(f"stale-if-error={max(0, last - keep - ROUNDING)}")
    return ", ".join(parts)


def _left(found: timedelta | None) -> timedelta | None:
    return None if found is None else TOO_OLD_ABOVE - found
