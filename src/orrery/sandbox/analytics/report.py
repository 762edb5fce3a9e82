"""The realtime report as we ask for it: active users in the last minutes, in all or by dimensions.

The provider's other features (filters, other metrics, several ranges, totals) are refused.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orrery.sandbox.analytics.access import VALID_NAMES, refused
from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document, DocumentStore

MOST = 500
"""As many visitors as the slider has room for."""


@dataclass(frozen=True, slots=True)
class Planet:
    """One site of the family: a stream of the property, and its screens."""

    name: str
    stream_id: str
    pages: tuple[str, ...]


PLANETS = (
    Planet("Northwind", "1001", ("Northwind practice", "Cloud Navigator", "Exam day", "Prices")),
    Planet("Tideline", "1002", ("Tideline", "Harbour map", "Tide tables", "Lighthouses")),
    Planet("Emberfall", "1003", ("Emberfall", "Kiln diary", "Glazes")),
    Planet("Mossgate", "1004", ("Mossgate", "Trail notes", "Ferns of the north")),
    Planet("Saltmere", "1005", ("Saltmere", "Recipes")),
)
_SHARES = (0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4)
_PLACES = (
    ("New Zealand", "NZ", "Wellington", "1011036"),
    ("Germany", "DE", "Hamburg", "1004437"),
    ("Canada", "CA", "Halifax", "1002332"),
    ("Japan", "JP", "Sapporo", "1009310"),
    ("Kenya", "KE", "Mombasa", "1009823"),
    ("Portugal", "PT", "(not set)", "(not set)"),
)
_DEVICES = ("mobile", "mobile", "mobile", "desktop", "desktop", "tablet")
_MINUTES = 30

View = Mapping[str, str]
"""One screen that a visitor has looked at, by dimension; `visitor` is the visitor's number."""


@cache
def views(visitor: int) -> tuple[View, ...]:
    """Return the one or two screens of a visitor, the latest first."""
    dice = hashlib.sha256(f"visitor {visitor}".encode()).digest()
    planet = PLANETS[_SHARES[dice[0] % len(_SHARES)]]
    first = dice[1] % len(planet.pages)
    screens = [planet.pages[first]]
    if dice[2] % 2:
        screens.append(planet.pages[(first + 1) % len(planet.pages)])
    facts = _facts(visitor, planet, dice)
    latest = dice[3] % _MINUTES
    return tuple(
        {**facts, "unifiedScreenName": screen, "minutesAgo": f"{min(latest + later, _MINUTES - 1):02}"}
        for later, screen in enumerate(screens)
    )


def _facts(visitor: int, planet: Planet, dice: bytes) -> dict[str, str]:
    country, country_id, city, city_id = _PLACES[dice[4] % len(_PLACES)]
    return {
        "visitor": str(visitor),
        "streamName": planet.name,
        "streamId": planet.stream_id,
        "country": country,
        "countryId": country_id,
        "city": city,
        "cityId": city_id,
        "deviceCategory": _DEVICES[dice[5] % len(_DEVICES)],
        "platform": "web",
        "eventName": "page_view",
        "appVersion": "(not set)",
        "audienceId": "1",
        "audienceName": "All Users",
        "audienceResourceName": "properties/0/audiences/1",
    }


class Population:
    """How many visitors there are now, kept over restarts."""

    def __init__(self, state: DocumentStore, count: int) -> None:
        self._state = state
        kept = state.get("_analytics", "visitors")
        self.count: int = kept["count"] if kept else count

    def become(self, count: object) -> None:
        """Let there be that many visitors; raise `ValueError`."""
        figure = int(text) if re.fullmatch("[0-9]{1,6}", text := str(count)) else -1
        if not 0 <= figure <= MOST:
            raise ValueError(f"There are 0 to {MOST} visitors.")
        self.count = figure
        self._state.save({"object": "_analytics", "id": "visitors", "count": figure})

    def views(self) -> Iterator[View]:
        """Yield the views of all visitors."""
        for visitor in range(self.count):
            yield from views(visitor)


KIND = "analyticsData#runRealtimeReport"
DIMENSIONS = (
    "appVersion",
    "audienceId",
    "audienceName",
    "audienceResourceName",
    "city",
    "cityId",
    "country",
    "countryId",
    "deviceCategory",
    "eventName",
    "minutesAgo",
    "platform",
    "streamId",
    "streamName",
    "unifiedScreenName",
)
"""Those of realtime reports (the provider's realtime schema), beside `customUser:` and a name."""

LAST_MINUTE = 29
"""How far back a standard property may look."""


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Dimension(_Message):
    name: str


class _Metric(_Message):
    name: Literal["activeUsers"]


class _Minutes(_Message):
    name: str = ""
    start: int = Field(LAST_MINUTE, alias="startMinutesAgo", ge=0, le=LAST_MINUTE)
    end: int = Field(0, alias="endMinutesAgo", ge=0, le=LAST_MINUTE)


class _ByMetric(_Message):
    name: Literal["activeUsers"] = Field(alias="metricName")


class _Order(_Message):
    metric: _ByMetric
    desc: Literal[True]


class Query(_Message):
    """One request; rows come by their users, most first, as the provider's do by default."""

    metrics: list[_Metric] = Field(min_length=1, max_length=1)
    dimensions: list[_Dimension] = []
    orders: list[_Order] = Field([], alias="orderBys", max_length=1)
    limit: int = Field(10_000, ge=0, strict=False)  # whole numbers come as text, too
    minutes: list[_Minutes] = Field(
        default_factory=lambda: [_Minutes.model_validate({})], alias="minuteRanges", max_length=1
    )
    quota: bool = Field(False, alias="returnPropertyQuota")  # noqa: FBT003  a field's default

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.dimensions]


def read_query(body: bytes) -> Query:
    """Return the query of a request's body; raise `Refusal`."""
    try:
        query = Query.model_validate_json(body)
    except ValidationError as error:
        raise refused(400, f"Invalid JSON payload received: {error.errors()[0]['msg']}.") from error
    for name in query.names:
        if name not in DIMENSIONS and not name.startswith("customUser:"):
            raise _no_dimension(name)
    return query


def subject(body: bytes) -> str:
    """Return a request's breakdown for logs and faults: dimensions with commas, or `total`."""
    try:
        return ",".join(Query.model_validate_json(body).names) or "total"
    except ValidationError:
        return "unreadable"


def report(query: Query, views: Iterable[View]) -> Document:
    """Return the answer's body without its quota; without visitors it has `kind` only."""
    users: dict[tuple[str, ...], set[str]] = defaultdict(set)
    [minutes] = query.minutes
    for view in views:
        if minutes.end <= int(view["minutesAgo"]) <= minutes.start:
            users[tuple(view.get(name, "(not set)") for name in query.names)].add(view["visitor"])
    if not users:
        return {"kind": KIND}
    rows = sorted(users.items(), key=lambda row: (-len(row[1]), row[0]))[: query.limit]
    body: Document = {
        "metricHeaders": [{"name": "activeUsers", "type": "TYPE_INTEGER"}],
        "rows": [_row(labels, len(found)) for labels, found in rows],
        "rowCount": len(users),
        "kind": KIND,
    }
    return body | ({"dimensionHeaders": [{"name": name} for name in query.names]} if query.names else {})


def _row(labels: tuple[str, ...], users: int) -> Document:
    row: Document = {"metricValues": [{"value": str(users)}]}
    return {"dimensionValues": [{"value": label} for label in labels]} | row if labels else row


def _no_dimension(name: str) -> Refusal:
    sentence = (
        f"Field {name} is not a valid dimension. For a list of valid dimensions and metrics, see {VALID_NAMES}"
    )
    # The suggestion and the blank at the end are the provider's, of another scope they are not.
    return refused(400, sentence if name.startswith("customEvent:") else f"Did you mean city? {sentence} ")
