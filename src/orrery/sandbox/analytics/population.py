"""The visitors: each follows from its number, so that the same number of visitors always looks the same."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from orrery.sandbox.state import DocumentStore

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
