"""The live count from the provider to the visitors: refreshed, read, grown old, kept (issue 3, items 2 to 8)."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPConnection
from itertools import cycle, islice
from pathlib import Path

from tests.support.deployment import CounterSettings, Deployment, beside_a_sandbox, stop
from tests.support.live_counter import COSMOS, PAGES, PLANETS, SITE, TOTAL, USUAL, LiveCounter
from tests.support.waiting import PATIENCE, eventually

ONE_REFRESH = {TOTAL: 1, PAGES: 1}
PLENTY = 1_000_000
"""Tokens with which the provider may be asked every few seconds."""

READS = 10_002
"""As many of each of six kinds."""


def test_refreshed(counter: LiveCounter) -> None:
    """A refresh counts visitors and pages; both public reads show that at once, dated the same."""
    told = counter.refresh()
    site, cosmos = counter.site(), counter.cosmos()
    assert (told["ok"], told["active"], told["pages_count"]) == (True, USUAL, len(site["pages"]))
    assert (site["active"], cosmos["totalUnique"], cosmos["scope"]) == (USUAL, USUAL, "cosmos")
    assert told["generated_at"] == site["generated_at"] == cosmos["generated_at"]
    assert (site["stale"], cosmos["stale"]) == (False, False)
    assert "error" not in site
    assert "error" not in cosmos


def test_pages(counter: LiveCounter) -> None:
    """Pages come with most visitors first; one has a path if the settings know its title, and else none."""
    counter.refresh()
    pages = counter.site()["pages"]
    users = [page["users"] for page in pages]
    assert 2 < len(pages) <= 25
    assert users == sorted(users, reverse=True)
    assert {page["page"]: page["path"] for page in pages if page["path"]} == {"Northwind practice": "/"}
    assert sum(users) > USUAL  # some visitors look at two pages: the total is no sum


def test_the_visitors_move(counter: LiveCounter) -> None:
    """The next refresh shows who has come or gone; nobody at all is a true zero and no error."""
    counter.refresh()
    for visitors in (60, 1, 0):
        counter.shop.sandbox.visitors(visitors)
        counter.next_minute()
        assert counter.refresh()["active"] == visitors
        assert counter.cosmos()["totalUnique"] == visitors
    site = counter.site()
    assert (site["active"], site["pages"], site["stale"], "error" in site) == (0, [], False, False)


def test_doctor(counter: LiveCounter) -> None:
    """`orrery doctor` tells the count, its age and its state."""
    counter.refresh()
    told = counter.shop.orrery("doctor")
    assert told.returncode == 0, told.stdout
    assert f"{USUAL} visitors, " in told.stdout
    assert "(fresh)" in told.stdout


def test_while_the_provider_is_away(counter: LiveCounter) -> None:
    """The last good count is fresh for 3 minutes, stale until 30, and then withdrawn; it comes back."""
    counter.refresh()
    counter.shop.sandbox.run_analytics(running=False)
    for age, stale in ((100, False), (180, True), (1700, True)):
        counter.grow_old(age)
        assert not counter.refresh()["ok"]
        site = counter.site()
        assert (site["active"], site["stale"]) == (USUAL, stale)
        assert age <= site["age_s"] <= counter.age() + 1
        assert site["pages"] != []
        assert "error" not in site
    counter.grow_old(1801)
    site, cosmos = counter.site(), counter.cosmos()
    assert (site["active"], site["pages"], site["stale"], site["error"]) == (0, [], True, "data-too-stale")
    assert (cosmos["totalUnique"], cosmos["error"]) == (0, "data-too-stale")
    counter.shop.sandbox.run_analytics(running=True)
    counter.next_minute()
    assert counter.refresh()["ok"]
    assert (counter.site()["active"], counter.site()["stale"]) == (USUAL, False)


def test_many_readers_of_an_empty_store(counter: LiveCounter) -> None:
    """10,000 reads of every kind find no count, and the provider is not asked once, not even for a token."""
    before = counter.shop.sandbox.analytics()
    etags = [counter.shop.client.get(counter.base_url + path).headers["ETag"] for path in (SITE, COSMOS)]
    plain = dict[str, str]()
    requests = [(method, path, plain) for method in ("GET", "HEAD") for path in (SITE, COSMOS)]
    requests += [("GET", path, {"If-None-Match": etag}) for path, etag in zip((SITE, COSMOS), etags, strict=True)]
    connection, seen = (
        HTTPConnection("127.0.0.1", counter.shop.ports[0], timeout=PATIENCE),
        Counter[tuple[int, bool]](),
    )
    for method, path, headers in islice(cycle(requests), READS):
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        seen[answer.status, b'"error":"no-data"' in answer.read()] += 1
    connection.close()
    assert seen == dict.fromkeys([(200, True), (200, False), (304, False)], READS // 3)
    assert counter.shop.sandbox.analytics() == before


def test_fifty_at_once(counter: LiveCounter) -> None:
    """50 refreshes at the same moment are two queries, and everybody is told the same."""
    before = counter.asked()
    counter.shop.sandbox.fault("analytics_timeout", count=2, value=0.3)
    with ThreadPoolExecutor(50) as pool:
        answers = [pool.submit(counter.refresh) for _ in range(50)]
    told = [answer.result() for answer in answers]
    assert told == [told[0]] * 50
    assert told[0]["active"] == USUAL
    assert dict(counter.asked() - before) == ONE_REFRESH


def test_the_second_within_a_minute(counter: LiveCounter) -> None:
    """Within the same minute a refresh tells what the first one did, and the provider is not asked again."""
    first, before = counter.refresh(), counter.asked()
    counter.shop.sandbox.visitors(USUAL + 1)
    counter.shop.sandbox.advance(20)
    assert counter.refresh() == first
    assert counter.asked() == before
    counter.shop.sandbox.advance(40)
    assert counter.refresh()["active"] == USUAL + 1


def test_only_the_pages_fail(counter: LiveCounter) -> None:
    """A failing page query does not keep the total from being written; the pages of before stay."""
    counter.refresh()
    pages = counter.site()["pages"]
    fail_next_minute(counter, PAGES)
    told, site = counter.refresh(), counter.site()
    assert (told["ok"], told["active"], told["pages_count"]) == (True, USUAL + 9, None)
    assert (site["active"], site["pages"], site["generated_at"]) == (USUAL + 9, pages, told["generated_at"])
    assert (counter.last_error() or {})["failed_query"] == "pages"


def test_only_the_total_fails(counter: LiveCounter) -> None:
    """A failing total leaves the total of before, while the pages are written."""
    first = counter.refresh()
    pages = counter.site()["pages"]
    fail_next_minute(counter, TOTAL)
    told, site = counter.refresh(), counter.site()
    assert (told["ok"], told["error"]) == (False, "provider-unreachable")
    assert (site["active"], site["generated_at"]) == (USUAL, first["generated_at"])
    assert site["pages"] != pages
    assert (counter.last_error() or {})["failed_query"] == "total"


def fail_next_minute(counter: LiveCounter, query: str) -> None:
    """Let more visitors come, and one query fail for a minute."""
    counter.shop.sandbox.visitors(USUAL + 9)
    counter.shop.sandbox.fault("analytics_500", path=query)
    counter.next_minute()


def test_intel_of_a_fresh_count(counter: LiveCounter) -> None:
    """The owner sees the cached total, and where everybody is by one query to the provider."""
    told, before = counter.refresh(), counter.asked()
    counter.shop.sandbox.visitors(USUAL + 1)
    intel = counter.intel()
    assert (intel["totalUnique"], intel["generated_at"], intel["scope"]) == (USUAL, told["generated_at"], "cosmos")
    assert sum(planet["users"] for planet in intel["byPlanet"]) == USUAL + 1
    assert intel["byPlanet"][0]["planet"] == "Northwind"
    assert counter.asked() - before == {PLANETS: 1}


def test_intel_without_a_fresh_count(counter: LiveCounter) -> None:
    """With an empty cache the owner's total comes from the provider, and the public reads stay empty."""
    before = counter.asked()
    intel = counter.intel()
    assert (intel["totalUnique"], intel["age_s"], intel["stale"], "error" in intel) == (USUAL, 0, False, False)
    assert counter.asked() - before == {TOTAL: 1, PLANETS: 1}
    assert counter.cosmos()["error"] == "no-data"


def test_intel_while_the_provider_is_away(counter: LiveCounter) -> None:
    """Without the provider the owner sees the count that there is, no planets, and why."""
    counter.refresh()
    counter.shop.sandbox.run_analytics(running=False)
    intel = counter.intel()
    assert (intel["totalUnique"], intel["byPlanet"], intel["error"]) == (USUAL, None, "provider-unreachable")


def test_guided(counter: LiveCounter) -> None:
    """The guided product's read asks the provider once in five minutes, and keeps its count while that is away."""
    before = counter.asked()
    first = counter.guided()
    assert (first["active"], first["age_s"]) == (USUAL, 0)
    counter.shop.sandbox.visitors(USUAL + 1)
    counter.shop.sandbox.advance(200)
    assert counter.guided()["active"] == USUAL
    assert counter.asked() - before == {TOTAL: 1}
    counter.shop.sandbox.advance(100)
    assert counter.guided()["active"] == USUAL + 1
    counter.shop.sandbox.run_analytics(running=False)
    counter.shop.sandbox.advance(300)
    kept = counter.guided()
    assert (kept["active"], kept["error"], kept["age_s"] >= 300) == (USUAL + 1, "provider-unreachable", True)


def test_by_itself(tmp_path: Path) -> None:
    """The service counts by itself at each tick; started again without the provider, it shows what it had."""
    more = f"tokens_per_hour = {PLENTY}\ntokens_per_day = {PLENTY}"
    settings = CounterSettings(refresh=True, interval=5, more=more)
    with beside_a_sandbox(Deployment(tmp_path, counter=settings)) as shop:
        for bucket in ("tokensPerDay", "tokensPerHour", "tokensPerProjectPerHour"):
            shop.sandbox.quota(bucket=bucket, size=PLENTY, left=PLENTY)
        service, counter = shop.start_service(), LiveCounter(shop)
        for visitors in (7, 8, 9):
            shop.sandbox.visitors(visitors)
            shop.sandbox.advance(5)
            eventually(partial(expect_count, counter, visitors))
            counter.refresh()  # has waited for the end of the tick: one that ends later makes no further one
        shop.sandbox.run_analytics(running=False)
        stop(service)
        shop.start_service()
        site = counter.site()
        assert (site["active"], site["stale"], "error" in site) == (9, False, False)


def expect_count(counter: LiveCounter, visitors: int) -> None:
    """Fail, for now, unless the public reads show so many."""
    assert (counter.site()["active"], counter.cosmos()["totalUnique"]) == (visitors, visitors)
