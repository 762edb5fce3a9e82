"""The counter's records, in the spec's shapes (spec 2, Cache keys)."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, Field

from orrery.record import Code, Record, RecordPart, Sentence
from orrery.syntax.numbers import LARGEST

LONGEST_WINDOW = 30
"""Minutes: the longest time that the provider counts live visitors over (decision 43)."""

Minutes = Annotated[int, Field(strict=True, ge=1, le=LONGEST_WINDOW)]
"""Over how many minutes visitors were counted."""

Count = Annotated[int, Field(strict=True, ge=0, le=LARGEST)]
"""A number of people: whole, and one that every reader of JSON can hold."""


def _in_utc(time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise ValueError("the time is before the first year of UTC or after its last") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A time that every answer can show in UTC."""


class Active(Record):
    """How many visitors there were in the last `window_minutes` at `generated_at`."""

    active: Count
    generated_at: Moment
    window_minutes: Minutes = LONGEST_WINDOW


class PageCount(RecordPart):
    """One page's visitors. `path` is None unless the site's own index knows the title (decision 22)."""

    page: Code
    path: Code | None
    users: Count


class Pages(Record):
    """The pages with most visitors at `generated_at`. Their sum is not the total: one visitor may be on two."""

    pages: tuple[PageCount, ...]
    generated_at: Moment


class LastError(Record):
    """Why a refresh failed: `status` is the provider's HTTP status, if it gave one."""

    message: Sentence
    status: int | None
    attempted_at: Moment
    failed_query: Code | None = None


class RefreshOutcome(Record):
    """The outcome of one interval's refresh. `window` is the number of the interval since the epoch."""

    window: int
    ok: bool
    active: Count | None = None
    pages_count: Count | None = None
    generated_at: Moment | None = None
    error: Code | None = None
    message: Sentence | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The records of the shared cache; None for one that is missing, or `unreadable` by its key."""

    active: Active | None = None
    pages: Pages | None = None
    unreadable: tuple[str, ...] = ()


def stamp(time: datetime) -> str:
    """Return a time in ISO 8601, in UTC, as every answer of the counter shows it."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
