"""The realtime report as we ask for it: active users in the last minutes, in all or by dimensions.

The provider's other features (filters, other metrics, several ranges, totals) are refused.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from orrery.sandbox.analytics.access import VALID_NAMES, refused
from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document

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
    """How many visitors there are now."""

    def __init__(self, count: int) -> None:
        self.count = count

    def become(self, count: object) -> None:
        """Let there be that many visitors; raise `ValueError`."""
        figure = int(text) if re.fullmatch("[0-9]{1,6}", text := str(count)) else -1
        if not 0 <= figure <= MOST:
            raise ValueError(f"There are 0 to {MOST} visitors.")
        self.count = figure

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


@dataclass(frozen=True, slots=True)
class Query:
    """One request: its dimensions, how many rows, the minutes, and whether quotas come with the answer.

    Rows come by their users, most first, as the provider's do by default.
    """

    names: tuple[str, ...]
    limit: int
    minutes: range
    quota: bool


_FIELDS = frozenset({"metrics", "dimensions", "orderBys", "limit", "minuteRanges", "returnPropertyQuota"})


def read_query(body: bytes) -> Query:
    """Return the query of a request's body; raise `Refusal` for what realtime reports do not have."""
    try:
        asked: Document = json.loads(body)
        metrics, unknown = [one["name"] for one in asked["metrics"]], asked.keys() - _FIELDS
        [minutes] = asked.get("minuteRanges", [{}])
        # Whole numbers come as text, too.
        first, last = int(minutes.get("endMinutesAgo", 0)), int(minutes.get("startMinutesAgo", LAST_MINUTE))
        names = tuple(one["name"] for one in asked.get("dimensions", []))
        limit = int(asked.get("limit", 10_000))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise refused(400, f"Invalid JSON payload received: {error}.") from error
    if unknown or metrics != ["activeUsers"] or not 0 <= first <= last <= LAST_MINUTE:
        raise refused(
            400, "The sandbox counts activeUsers within the last 29 minutes, and knows no filters or totals."
        )
    for name in names:
        if name not in DIMENSIONS and not name.startswith("customUser:"):
            raise _no_dimension(name)
    return Query(names, limit, range(first, last + 1), bool(asked.get("returnPropertyQuota")))


def subject(body: bytes) -> str:
    """Return a request's breakdown for logs and faults: dimensions with commas, or `total`."""
    try:
        return ",".join(one["name"] for one in json.loads(body).get("dimensions", [])) or "total"
    except (AttributeError, KeyError, TypeError, ValueError):
        return "unreadable"


def report(query: Query, views: Iterable[View]) -> Document:
    """Return the answer's body without its quota; without visitors it has `kind` only."""
    users: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for view in views:
        if int(view["minutesAgo"]) in query.minutes:
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
