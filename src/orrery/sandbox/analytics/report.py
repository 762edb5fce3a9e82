"""The realtime report as we ask for it, active users in all or by dimensions, and the quotas that it uses up.

The provider's other features (filters, other metrics, several ranges, totals) are refused.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from zoneinfo import ZoneInfo

from orrery.ports.clock import Clock
from orrery.sandbox.analytics.access import VALID_NAMES, AnalyticsConfig, refused
from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document

_PLANETS = (
    ("Northwind", "1001", ("Northwind practice", "Cloud Navigator", "Exam day", "Prices")),
    ("Tideline", "1002", ("Tideline", "Harbour map", "Tide tables", "Lighthouses")),
    ("Emberfall", "1003", ("Emberfall", "Kiln diary", "Glazes")),
    ("Mossgate", "1004", ("Mossgate", "Trail notes", "Ferns of the north")),
    ("Saltmere", "1005", ("Saltmere", "Recipes")),
)
"""The sites of the family: each is a stream of the property, and has screens."""

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
"""One screen that a visitor has looked at, by dimension."""


@cache
def views(visitor: int) -> tuple[View, ...]:
    """Return the one or two screens of the visitor with that number, the latest first."""
    dice = hashlib.sha256(f"visitor {visitor}".encode()).digest()
    planet, stream, pages = _PLANETS[_SHARES[dice[0] % len(_SHARES)]]
    country, country_id, city, city_id = _PLACES[dice[4] % len(_PLACES)]
    facts = {
        "streamName": planet,
        "streamId": stream,
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
    first, latest = dice[1], dice[3] % _MINUTES
    return tuple(
        facts
        | {
            "unifiedScreenName": pages[(first + later) % len(pages)],
            "minutesAgo": f"{min(latest + later, _MINUTES - 1):02}",
        }
        for later in range(1 + dice[2] % 2)
    )


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
    asked: Document = json.loads(body)
    minutes, *more = asked.get("minuteRanges", [{}])
    # Whole numbers come as text, too.
    first, last = int(minutes.get("endMinutesAgo", 0)), int(minutes.get("startMinutesAgo", LAST_MINUTE))
    unknown, metrics = asked.keys() - _FIELDS, [one["name"] for one in asked["metrics"]]
    if unknown or more or metrics != ["activeUsers"] or not 0 <= first <= last <= LAST_MINUTE:
        raise refused(
            400, "The sandbox counts activeUsers within the last 29 minutes, and knows no filters or totals."
        )
    names = tuple(one["name"] for one in asked.get("dimensions", []))
    for name in names:
        if name not in DIMENSIONS and not name.startswith("customUser:"):
            raise _no_dimension(name)
    limit = int(asked.get("limit", 10_000))
    return Query(names, limit, range(first, last + 1), bool(asked.get("returnPropertyQuota")))


def subject(body: bytes) -> str:
    """Return a request's breakdown for logs and faults: dimensions with commas, or `total`."""
    return ",".join(one["name"] for one in json.loads(body).get("dimensions", [])) or "total"


def report(query: Query, visitors: int) -> Document:
    """Return the answer's body without its quota; without visitors it has `kind` only."""
    users: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for visitor in range(visitors):
        for view in views(visitor):
            if int(view["minutesAgo"]) in query.minutes:
                users[tuple(view.get(name, "(not set)") for name in query.names)].add(visitor)
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


_PACIFIC = ZoneInfo("America/Los_Angeles")
"""Where the day of the tokens begins at midnight."""

_TEXTS = {
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
_ERRORS = "serverErrorsPerProjectPerHour"


def exhausted(name: str) -> Refusal:
    """Return the refusal for that quota."""
    return refused(429, _TEXTS[name])


class Quota:
    """The six quotas of one property, and the cost of a report.

    A report is carried out as long as any quota is left: its cost is known only afterwards.
    """

    def __init__(self, config: AnalyticsConfig, clock: Clock) -> None:
        self._clock = clock
        self.cost = 10
        self._sizes = {
            "tokensPerDay": config.tokens_per_day,
            "tokensPerHour": config.tokens_per_hour,
            "tokensPerProjectPerHour": config.tokens_per_project_per_hour,
            "concurrentRequests": 10,
            _ERRORS: 10,
            "potentiallyThresholdedRequestsPerHour": 120,
        }
        self._used = Counter[tuple[str, str]]()

    def charge(self) -> Document:
        """Charge a report and return `propertyQuota`; raise `Refusal` when any quota is exhausted."""
        for name in ("concurrentRequests", _ERRORS, *_TOKENS):
            if not self.left(name):
                raise exhausted(name)
        consumed = {name: self.cost if name in _TOKENS else 0 for name in self._sizes}
        self._used.update({self._window(name): taken for name, taken in consumed.items()})
        return {name: {"consumed": taken, "remaining": self.left(name)} for name, taken in consumed.items()}

    def fail(self) -> None:
        """Count a server error."""
        self._used[self._window(_ERRORS)] += 1

    def left(self, name: str) -> int:
        """Return what is left of a quota now, never below 0."""
        return max(self._sizes[name] - self._used[self._window(name)], 0)

    def change(self, given: Document) -> None:
        """Set the `cost` of a report, the `size` of a `bucket` or its `left` rest, or `refill` all of them."""
        given = {name: value for name, value in given.items() if value != ""}  # of a form's empty fields
        if str(given.get("refill")).lower() == "true":
            self._used.clear()
        self.cost = int(given.get("cost", self.cost))
        if (name := given.get("bucket")) is not None:
            left, size = given.get("left", self.left(name)), int(given.get("size", self._sizes[name]))
            self._sizes[name], self._used[self._window(name)] = size, max(size - int(left), 0)

    def as_json(self) -> Document:
        """Return size and rest of each quota, and the cost of a report."""
        buckets = {name: {"size": size, "left": self.left(name)} for name, size in self._sizes.items()}
        return {"cost": self.cost, "buckets": buckets}

    def _window(self, name: str) -> tuple[str, str]:
        """Return a quota with what it refills after: an hour, a Pacific day, or nothing that ends."""
        now = self._clock.now()
        windows = {"tokensPerDay": f"{now.astimezone(_PACIFIC):%Y-%m-%d}", "concurrentRequests": ""}
        return name, windows.get(name, f"{now:%Y-%m-%d %H}")
