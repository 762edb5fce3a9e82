"""The daily check of the sites: what leaks is one finding, a site that does not answer another."""

from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus

import pytest

from orrery.checkout.site.check import SiteCheck
from orrery.checkout.site.cookie import BrowserCookies
from orrery.checkout.site.practice import PracticePages, other_addresses
from orrery.checkout.site.watch import DAILY, EVERY, SiteWatch
from orrery.checkout.site_records import CheckedSite
from orrery.checkout.sites import GATE, LOST, Site
from orrery.ports.health import URGENT, Finding
from orrery.ports.web_sites import SiteAnswer, SiteNotReached, SiteRequest
from orrery.runtime.collection import write
from tests.support.checkout import INDEX_KEY, PRODUCT, Shop
from tests.support.tables import each_case

pytestmark = pytest.mark.anyio

ORIGIN = "https://practise.example"

PARKED = 0
"""What answers every path with one page."""

RIGHT = {
    "cache-control": "private, no-cache",
    "strict-transport-security": "max-age=31536000",
}


@dataclass
class PracticeSite:
    """A site that asks the gate; `is_open`: it does not. `headers` are those of its pages."""

    shop: Shop
    is_open: bool = False
    is_down: bool = False
    has_pages: bool = True
    is_gated: bool = False
    others: dict[str, int] = field(default_factory=dict[str, int])
    headers: dict[str, str] = field(default_factory=RIGHT.copy)
    asked: int = 0

    def __post_init__(self) -> None:
        pages = PracticePages(PRODUCT.key, Site(origin=ORIGIN, has_pages=self.is_gated), ORIGIN, "/practice/")
        check = SiteCheck(self, self.shop.clock, BrowserCookies.of_store(INDEX_KEY))
        self.watch = SiteWatch(self.shop.stored.checked_sites, check, [pages])

    async def ask(self, origin: str, request: SiteRequest) -> SiteAnswer:
        """Answer one request."""
        self.asked += 1
        if self.is_down:
            raise SiteNotReached(f"{origin} cannot be reached.")
        if origin != ORIGIN:
            return self._elsewhere(origin, request)
        cookie = request.headers.get("Cookie", "").encode()
        status = await self.shop.gate.status(PRODUCT.name, [(b"cookie", cookie)]) if self.has_pages else 404
        if request.path.startswith(GATE):
            return SiteAnswer(status)
        if request.path == LOST:
            return SiteAnswer(
                200 if self.has_pages else 404, {"content-security-policy": "frame-ancestors 'none'"}
            )
        if not request.path.startswith("/practice/"):
            return SiteAnswer(404)
        return SiteAnswer(200, self.headers) if status == 204 or self.is_open else SiteAnswer(401)

    def _elsewhere(self, origin: str, request: SiteRequest) -> SiteAnswer:
        if origin not in self.others:
            raise SiteNotReached(f"{origin} cannot be reached.")
        body = b"parked" if self.others[origin] == PARKED else request.path.encode()
        return SiteAnswer(HTTPStatus.OK if self.others[origin] == PARKED else self.others[origin], {}, body)

    async def found(self) -> dict[str, Finding]:
        """Return what the watch finds, by part, after a check of what is due."""
        await self.watch.check_due()
        return {
            one.part.removesuffix(f" {ORIGIN}"): one for one in await self.watch.local() if one.state == "broken"
        }


@pytest.fixture
def site(shop: Shop) -> PracticeSite:
    """Return a site in the right configuration."""
    return PracticeSite(shop)


async def test_a_site_that_is_well_is_asked_each_day(site: PracticeSite) -> None:
    """Nothing is found, and nobody asks it again before; the gate has no record of the visits."""
    assert await site.found() == {}
    before = site.asked
    site.shop.clock.advance((DAILY - EVERY).total_seconds())
    assert await site.found() == {}
    assert site.asked == before
    site.shop.clock.advance(EVERY.total_seconds())
    assert await site.found() == {}
    assert site.asked == 2 * before
    assert [one.key for one in await site.shop.entries() if one.key.startswith("access")] == []


async def test_a_leak_is_urgent_at_once(site: PracticeSite) -> None:
    """It names what everybody sees, and ends ten minutes after it was fixed at the latest."""
    site.is_open = True
    (found,) = (await site.found()).values()
    assert (found.part, found.priority, found.early) == (f"practice pages of {ORIGIN}", URGENT, False)
    assert found.items == ("open: /practice/ without a cookie",)
    assert found.command == f"orrery site check {ORIGIN}"
    site.is_open = False
    site.shop.clock.advance(EVERY.total_seconds())
    assert await site.found() == {}


async def test_what_is_no_leak_is_found_twice_before_a_push(site: PracticeSite) -> None:
    """A web server that has just begun may answer in some other way."""
    _ = site.headers.pop("strict-transport-security")
    for early in (True, False):
        found = (await site.found())["practice pages of"]
        assert (found.items, found.early) == (("HSTS: /practice/ with the cookie of its product",), early)
        assert found.priority < URGENT
        site.shop.clock.advance(EVERY.total_seconds())


async def test_a_site_that_does_not_answer(site: PracticeSite) -> None:
    """That is another finding, and what leaked before still counts."""
    site.is_open = True
    assert [*await site.found()] == ["practice pages of"]
    site.is_down = True
    site.shop.clock.advance(EVERY.total_seconds())
    found = await site.found()
    assert {*found} == {"site", "practice pages of"}
    assert found["site"].why.startswith(f"{ORIGIN} cannot be reached")
    assert found["practice pages of"].priority == URGENT


async def test_a_site_that_knows_its_buyers_by_itself(site: PracticeSite) -> None:
    """It has no hosted pages, and asks `access/check`: only what everybody sees is a problem."""
    site.has_pages = False
    site.headers.clear()
    assert await site.found() == {}
    site.is_open = True
    site.shop.clock.advance(DAILY.total_seconds())
    assert [*await site.found()] == ["practice pages of"]


async def test_a_gated_site_that_lost_its_hosted_pages(shop: Shop) -> None:
    """It has no other way to let a buyer in: without them nobody who paid sees anything."""
    site = PracticeSite(shop, is_gated=True)
    assert await site.found() == {}
    site.has_pages = False
    shop.clock.advance(DAILY.total_seconds())
    found = (await site.found())["practice pages of"]
    assert "hosted pages: /guided/lost without a cookie" in found.items


@each_case(
    "address, answers, leaks",
    [
        ("http://practise.example", 200, True),
        ("https://www.practise.example", 200, True),
        ("http://www.practise.example", 200, True),
        ("http://www.practise.example", 301, False),
        ("http://practise.example", 404, False),
        ("http://practise.example", PARKED, False),
    ],
)
async def test_other_addresses_of_a_site(address: str, answers: int, *, leaks: bool) -> None:
    """What shows the pages by http or at another name leaks; what redirects, or has one page for all, does not."""
    site = PracticeSite(Shop(), others={address: answers})
    found = await site.found()
    assert [one.items for one in found.values()] == (
        [(f"other address: /practice/ at {address}, without a cookie",)] if leaks else []
    )


def test_which_other_addresses_there_are() -> None:
    """A site on this machine, or at a bare address, has none."""
    assert other_addresses("https://www.a.example:8443") == [
        "https://www.a.example",
        "http://www.a.example",
        "https://a.example",
        "http://a.example",
    ]
    for origin in ("http://127.0.0.1:8080", "https://192.0.2.7", "https://localhost:1", "https://[::1]:1"):
        assert other_addresses(origin) == []


@pytest.mark.parametrize("ahead", [timedelta(days=1), timedelta(days=365)])
async def test_a_check_in_a_future_that_was_undone(site: PracticeSite, ahead: timedelta) -> None:
    """The clock was put back: the check is due."""
    site.is_open = True
    now = site.shop.clock.now()
    future = CheckedSite(checked_at=now + ahead)
    await write(site.shop.store, [site.shop.stored.checked_sites.put(future, ORIGIN)])
    assert [*await site.found()] == ["practice pages of"]


async def test_doctor_asks_the_site(site: PracticeSite) -> None:
    """What it finds is kept: the watch knows that it is fixed."""
    site.is_open = True
    assert await site.found()
    site.is_open = False
    asked = [(part, (await check()).state) for part, check in site.watch.remote()]
    assert asked == [(f"site {ORIGIN}", "ok"), (f"practice pages of {ORIGIN}", "ok")]
    assert [one.state for one in await site.watch.local()] == ["ok", "ok"]


def test_no_site_with_practice_pages(shop: Shop) -> None:
    """There is nothing to check, and no part of it."""
    assert shop.site_watch.remote() == []
    assert "check sites" not in {one.name for one in shop.parts().jobs}


def test_a_site_whose_practice_address_is_that_of_the_checkout() -> None:
    """It is checked like one that names its own."""
    shop = Shop(terms=None, sites=(Site(origin="https://north.example", name="North"),))
    assert shop.site_watch.origins == [ORIGIN]
