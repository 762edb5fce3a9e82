"""The states of a count by its age (spec 2, States and transitions; decision 19)."""

from datetime import datetime, timedelta
from typing import Literal

FRESH_BELOW = timedelta(seconds=180)
"""Spec 2, Limits: fresh under 3 min."""

TOO_OLD_ABOVE = timedelta(seconds=1800)
"""Spec 2, Limits: stale from 3 to 30 min, both inclusive; too old beyond."""

TICK = 60
"""The most seconds from one refresh to the next (spec 2, What the service does 4: every minute)."""

CACHED = 60
"""Seconds that a cache between us and the visitors keeps an answer (spec 2, Limits: edge cache 60 s)."""

AHEAD_AT_MOST = timedelta(seconds=60)
"""A time further in the future was not written by a clock that can be trusted: the value is corrupt."""

Freshness = Literal["fresh", "stale", "too-old", "empty"]


def age(generated_at: datetime, now: datetime) -> timedelta | None:
    """Return the age of a value, never below zero, or None when its time is not to be believed."""
    found = now - generated_at
    return None if found < -AHEAD_AT_MOST else max(found, timedelta(0))


def freshness(found: timedelta | None) -> Freshness:
    """Return the state of a value of this age; None is a value that is not there."""
    if found is None:
        return "empty"
    if found < FRESH_BELOW:
        return "fresh"
    return "stale" if found <= TOO_OLD_ABOVE else "too-old"


def until_next(found: timedelta | None) -> timedelta | None:
    """Return how long a value of this age stays in its state, or None when it stays there permanently."""
    state = freshness(found)
    if found is None or state == "too-old":
        return None
    return (FRESH_BELOW if state == "fresh" else TOO_OLD_ABOVE) - found
