"""What visitors and the owner ask of the live counter, and what can be seen of it from all sides."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx2

from orrery.live import keys
from tests.support.deployment import Deployment
from tests.support.marked import ADMIN_PASSWORD

SITE, COSMOS = "/api/stats?realtime=1", "/api/stats?realtime=cosmos"
INTEL, REFRESH = f"{COSMOS}&intel=1", "/api/stats?refresh=realtime"
GUIDED = "/guided/api/admin/realtime"
BEARER = {"Authorization": f"Bearer {ADMIN_PASSWORD}"}

TOTAL, PAGES, PLANETS = "total", "unifiedScreenName", "streamName"
"""The provider's queries, as the sandbox calls them; a fault's `path` strikes one of them."""

USUAL = 24
"""Visitors that there are when nothing else is said."""

_DAY = 24 * 3600
_MID_MORNING = 18 * 3600 + 5
"""Seconds after midnight UTC, and 5 after a minute's begin: 10 or 11 o'clock in California."""


@dataclass
class LiveCounter:
    """The counter of a deployment, asked at one of its services (by default the first)."""

    shop: Deployment
    base_url: str = ""

    def __post_init__(self) -> None:
        self.base_url = self.base_url or self.shop.public

    def read(self, path: str) -> dict[str, Any]:
        """Read as a visitor does, which works always."""
        answer = self.shop.client.get(self.base_url + path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def site(self) -> dict[str, Any]:
        """Return the site read."""
        return self.read(SITE)

    def cosmos(self) -> dict[str, Any]:
        """Return the cosmos read."""
        return self.read(COSMOS)

    def ask(self, method: str, path: str) -> httpx2.Response:
        """Ask as the owner does."""
        return self.shop.client.request(method, self.base_url + path, headers=BEARER)

    def refresh(self) -> dict[str, Any]:
        """Refresh as a scheduler does; return what it is told."""
        answer = self.ask("POST", REFRESH)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def asked(self) -> Counter[str]:
        """Return how often the provider has been asked for what."""
        return Counter[str](self.shop.sandbox.analytics()["calls"])

    def last_error(self) -> dict[str, Any] | None:
        """Return what is stored of the last failure."""
        return next(iter(self.shop.records.objects(keys.LAST_ERROR)), None)

    def next_minute(self) -> None:
        """Let a minute pass."""
        self.shop.sandbox.advance(60)

    def next_morning(self) -> None:
        """Let it become the morning after the next: nothing of before is left, and the minute has just begun."""
        now = self._now()
        self.shop.sandbox.advance((_MID_MORNING - now) % _DAY + _DAY)

    def grow_old(self, seconds: float) -> None:
        """Let time pass until the count is so old."""
        self.shop.sandbox.advance(seconds - self.age())

    def age(self) -> float:
        """Return the seconds since the count was made, by the clock."""
        made = datetime.fromisoformat(self.site()["generated_at"])
        return self._now() - made.timestamp()

    def minute(self) -> int:
        """Return the number of the clock's minute."""
        return int(self._now() // 60)

    def _now(self) -> float:
        return float(self.shop.sandbox.ask("GET", "/_clock")["now"])
