"""The access gate: 204, 401 or 403 by the cookie of a browser, from memory while nothing was taken back."""

import asyncio
from datetime import timedelta

import pytest

from orrery.checkout.access.browsers import MOST, STAYS
from orrery.checkout.browser_records import OpenedBrowser
from orrery.checkout.site.cookie import PROBE_LIFE, BrowserCookies
from orrery.checkout.site.gate import EVERY
from orrery.checkout.site.routes import GATE, METHODS, SiteRoutes
from orrery.edge.direct import AnsweredDirectly
from orrery.edge.http import public_app
from orrery.edge.metrics import Metrics
from orrery.errors import StoreUnavailable
from orrery.runtime.collection import commit
from tests.support.checkout import BUYER, INDEX_KEY, OTHER, PRODUCT, Shop, metadata_of, session_json
from tests.support.clock import ManualClock
from tests.support.requests import client_of
from tests.support.rounds import found
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio

COOKIES = BrowserCookies.of_store(INDEX_KEY)


@pytest.fixture
def shop(clock: ManualClock, store: UnreliableStore) -> Shop:
    """Return a shop over this store."""
    return Shop(clock, store)


async def opened(shop: Shop, session_id: str = "cs_1") -> bytes:
    """Sell a session, and open it in a new browser; return the browser's cookie."""
    await shop.offered(session_id)
    _ = await shop.receive(f"evt_{session_id}", session_json(session_id))
    cookie = COOKIES.new()
    assert await shop.browsers.open_first(session_id, COOKIES.browser_of(cookie) or "none")
    return cookie


async def in_another(shop: Shop, session_id: str = "cs_1") -> bytes:
    """Open a sold session in a new browser; return the browser's cookie."""
    cookie, found = COOKIES.new(), await shop.stored.browsers.require(session_id)
    opened = OpenedBrowser(browser=COOKIES.browser_of(cookie) or "none", opened_at=shop.clock.now())
    more = found.record.change(browsers=(*found.record.browsers, opened))
    _ = await commit(shop.store, shop.stored.browsers.changes(session_id, found, more))
    return cookie


async def at_the_gate(shop: Shop, cookie: bytes, path: str = PRODUCT.name, name: bytes = b"__Host-orrery") -> int:
    """Return the gate's answer to a request with a cookie."""
    return await shop.gate.status(path, [(b"host", b"other.example"), (b"cookie", b"a=b; %b=%b" % (name, cookie))])


async def test_a_browser_that_opened_it_is_let_in(shop: Shop) -> None:
    """Its own product, until the access ends by the clock, and no other product."""
    cookie = await opened(shop)
    assert await at_the_gate(shop, cookie) == 204
    assert await at_the_gate(shop, cookie, OTHER.name) == 403
    assert await at_the_gate(shop, cookie, "isc2/unknown") == 403
    ends = (await shop.access()).expires_at
    shop.clock.advance((ends - shop.clock.now()).total_seconds() - 1)
    assert await at_the_gate(shop, cookie) == 204
    shop.clock.advance(1)
    assert await at_the_gate(shop, cookie) == 403


@pytest.mark.parametrize("wrong", [b"", b"x", b"A" * 43, b"\xff" * 43, b"==" * 21 + b"="])
async def test_a_browser_that_is_not_known(shop: Shop, wrong: bytes) -> None:
    """Without a cookie, with one that we did not make, or with one that opened nothing: 401."""
    cookie = await opened(shop)
    altered = (b"B" if cookie[:1] == b"A" else b"A") + cookie[1:]
    for value in (wrong, altered, COOKIES.new(), BrowserCookies.of_store(b"another").new()):
        assert await at_the_gate(shop, value) == 401
    assert await at_the_gate(shop, cookie, name=b"orrery-local") == 401


@pytest.mark.parametrize("taken_back", ["revoke", "change address", "erase", "restore"])
async def test_what_is_taken_back_is_closed_within_a_second(shop: Shop, taken_back: str) -> None:
    """Each way of taking access back is known to every node a second later, a restore to look anew."""
    cookie, elsewhere = await opened(shop), Shop(shop.clock, shop.store)
    assert await at_the_gate(elsewhere, cookie) == 204
    assert await at_the_gate(shop, cookie) == 204
    if taken_back == "revoke":
        _ = await shop.desk.revoke("cs_1", "asked by the buyer")
    elif taken_back == "change address":
        _ = await shop.desk.change_email("cs_1", "bob@example.org", "mistyped")
    elif taken_back == "erase":
        _ = await shop.privacy.erase(BUYER, "asked by the buyer")
    else:
        found = await shop.stored.browsers.get("cs_1")
        _ = await commit(shop.store, shop.stored.browsers.changes("cs_1", found, None))
        for follow in shop.parts().after_restore:
            _ = await follow()
    shop.clock.advance(EVERY)
    expected = 403 if taken_back == "revoke" else 401
    assert [await at_the_gate(one, cookie) for one in (shop, elsewhere)] == [expected, expected]


async def test_a_known_browser_costs_the_store_one_read_a_second(shop: Shop, store: UnreliableStore) -> None:
    """Whatever it asks for: the store is asked whether anything was taken back, and nothing else."""
    cookie = await opened(shop)
    assert await at_the_gate(shop, cookie) == 204
    store.reads.clear()
    assert [await at_the_gate(shop, cookie) for _ in range(100)] == [204] * 100
    assert not store.reads
    shop.clock.advance(EVERY)
    assert [await at_the_gate(shop, cookie) for _ in range(100)] == [204] * 100
    assert store.reads == {"access-generation": 1}


@pytest.mark.parametrize("closed", ["another product", "revoked", "erased"])
async def test_a_browser_that_is_refused_costs_no_more(closed: str, shop: Shop, store: UnreliableStore) -> None:
    """A known browser that may not see a page is remembered until the next look, which finds what was granted."""
    cookie = await opened(shop)
    if closed == "revoked":
        _ = await shop.desk.revoke("cs_1", "asked by the buyer")
    elif closed == "erased":
        _ = await shop.privacy.erase(BUYER, "asked by the buyer")
    path, status = OTHER.name if closed == "another product" else PRODUCT.name, 401 if closed == "erased" else 403
    assert await at_the_gate(shop, cookie, path) == status
    store.reads.clear()
    assert [await at_the_gate(shop, cookie, path) for _ in range(100)] == [status] * 100
    assert not store.reads
    product = OTHER if closed == "another product" else PRODUCT
    await shop.offered("cs_2", cert_code=product.cert_code, price_id=product.price_id)
    _ = await shop.receive("evt_2", session_json("cs_2", metadata=metadata_of(product)))
    assert await shop.browsers.open_first("cs_2", COOKIES.browser_of(cookie) or "none")
    shop.clock.advance(EVERY)
    assert await at_the_gate(shop, cookie, path) == 204


async def test_a_cookie_that_we_did_not_make_costs_no_read(shop: Shop, store: UnreliableStore) -> None:
    """Anybody can send one as often as they like, without a rate limit."""
    for forged in (b"x", b"A" * 43, BrowserCookies.of_store(b"another").new()):
        assert await at_the_gate(shop, forged) == 401
    assert not store.reads


async def test_a_probe_is_answered_from_what_it_says(shop: Shop, store: UnreliableStore) -> None:
    """It opens its product, and not another one; it costs no read, and leaves nothing behind."""
    probe = COOKIES.new_probe(PRODUCT.key, shop.clock.now())
    assert [await at_the_gate(shop, probe, one.name) for one in (PRODUCT, OTHER)] == [204, 403]
    shop.clock.advance(PROBE_LIFE.total_seconds())
    assert await at_the_gate(shop, probe) == 403
    assert not store.reads
    assert await shop.entries() == []


async def test_the_use_of_a_browser_is_noted_once_an_hour(shop: Shop) -> None:
    """From its first visit on; so the one that comes no more is the one that gives way."""
    cookie = await opened(shop)

    async def noted() -> list[timedelta | None]:
        found = await shop.stored.browsers.require("cs_1")
        return [one.used_at - one.opened_at if one.used_at else None for one in found.record.browsers]

    assert await noted() == [None]
    for minutes, used in ((0, 0), (59, 0), (1, 60), (30, 60), (30, 120)):
        shop.clock.advance(minutes * 60)
        assert await at_the_gate(shop, cookie) == 204
        assert await noted() == [timedelta(minutes=used)]


async def test_the_browser_that_was_used_longest_ago_gives_way(shop: Shop) -> None:
    """One more than there may be: the first one is closed within a second, and may be opened again."""
    cookies = [await opened(shop)]
    assert await at_the_gate(shop, cookies[0]) == 204
    for _ in range(MOST):
        shop.clock.advance(60)
        cookies.append(await in_another(shop))
    shop.clock.advance(STAYS.total_seconds())
    unused = await in_another(shop)
    for cookie in cookies[1:]:
        shop.clock.advance(60)
        assert await at_the_gate(shop, cookie) == 204
    shop.clock.advance(EVERY)
    assert [await at_the_gate(shop, one) for one in cookies] == [401, *[204] * MOST]
    found = await shop.stored.browsers.require("cs_1")
    assert len(found.record.browsers) == MOST + 1
    assert COOKIES.browser_of(unused) in {one.browser for one in found.record.browsers}


async def full(shop: Shop) -> list[bytes]:
    """Open an access in as many browsers as there may be, and visit with each; return their cookies."""
    cookies = [await opened(shop), *[await in_another(shop) for _ in range(MOST - 1)]]
    assert [await at_the_gate(shop, one) for one in cookies] == [204] * MOST
    return cookies


async def test_the_browser_that_is_in_use_stays(shop: Shop) -> None:
    """One that came first, and is used all day long, is not the one that gives way."""
    cookies = await full(shop)
    shop.clock.advance(STAYS.total_seconds())
    for cookie in cookies:
        assert await at_the_gate(shop, cookie) == 204
        shop.clock.advance(1)
    for _ in range(3):
        shop.clock.advance(STAYS.total_seconds() / 3)
        assert await at_the_gate(shop, cookies[0]) == 204
    assert await at_the_gate(shop, await in_another(shop)) == 204
    shop.clock.advance(EVERY)
    assert [await at_the_gate(shop, one) for one in cookies[:3]] == [204, 401, 204]


async def test_a_link_that_many_share_disturbs_no_buyer(shop: Shop) -> None:
    """The browsers of one access give way ten times a day at most: what the gate remembers of all others stays."""
    cookies = await full(shop)

    async def forgotten() -> int:
        entry = await shop.stored.generation.entry()
        return entry.version if entry else 0

    before = await forgotten()
    assert [await at_the_gate(shop, await in_another(shop)) for _ in range(30)] == [403] * 30
    assert await forgotten() == before
    shop.clock.advance(STAYS.total_seconds())
    answers = list[int]()
    for _ in range(30):
        shop.clock.advance(60)
        answers.append(await at_the_gate(shop, await in_another(shop)))
    assert answers == [204] * MOST + [403] * 20
    assert await at_the_gate(shop, cookies[0]) == 401


async def test_a_buyer_among_people_who_share_the_link(shop: Shop) -> None:
    """Who comes back within a day stays; who was away longer is let in by a new link, which closes all others."""
    buyer = (await full(shop))[0]
    sharers = list[bytes]()
    for _ in range(4):
        shop.clock.advance(STAYS.total_seconds() - 60)
        assert await at_the_gate(shop, buyer) == 204
        sharers = [await in_another(shop) for _ in range(2 * MOST)]
        _ = [await at_the_gate(shop, one) for one in sharers]
        shop.clock.advance(EVERY)
        assert await at_the_gate(shop, buyer) == 204
    for _ in range(2):
        shop.clock.advance(STAYS.total_seconds())
        sharers = [await in_another(shop) for _ in range(MOST)]
        assert [await at_the_gate(shop, one) for one in sharers] == [204] * MOST
    shop.clock.advance(EVERY)
    assert await at_the_gate(shop, buyer) == 401
    assert await at_the_gate(shop, await in_another(shop)) == 403
    await shop.desk.resend("cs_1", "shared", new_link=True)
    assert await shop.browsers.open("cs_1", COOKIES.browser_of(buyer) or "none")
    shop.clock.advance(EVERY)
    assert [await at_the_gate(shop, one) for one in (buyer, *sharers)] == [204, *[401] * MOST]


async def test_an_access_that_opens_in_no_further_browser_is_a_problem(shop: Shop) -> None:
    """It ends a day after one of the browsers was used last, or with the command that it names."""
    cookies = await full(shop)
    (finding,) = await shop.in_need.findings()
    reference = shop.stored.references.of("cs_1")
    assert (finding.part, finding.state) == (f"browsers of {reference}", "broken")
    assert finding.command == f"orrery access resend {reference} --new-link --reason shared"
    assert BUYER not in str(finding)
    assert [one.why for one in await shop.in_need.all()] == [finding.why.rstrip(".")]
    shop.clock.advance(STAYS.total_seconds())
    assert await shop.in_need.findings() == []
    assert [await at_the_gate(shop, one) for one in cookies] == [204] * MOST
    assert len(await shop.in_need.findings()) == 1
    await shop.desk.resend("cs_1", "shared", new_link=True)
    assert await shop.in_need.findings() == []


async def test_an_access_that_is_bought_again_stays_open(shop: Shop) -> None:
    """The browser of the first purchase sees the pages until the end of the second one."""
    cookie = await opened(shop)
    await shop.offered("cs_2")
    _ = await shop.receive("evt_2", session_json("cs_2"))
    shop.clock.advance(timedelta(days=380).total_seconds())
    assert (await shop.access("cs_1")).expires_at < shop.clock.now()
    assert await at_the_gate(shop, cookie) == 204


async def test_the_browsers_are_exported_and_erased(shop: Shop) -> None:
    """What a person asks for has the browsers, and nothing of them is left after an erasure."""
    cookie = await opened(shop)
    browser = COOKIES.browser_of(cookie) or "none"
    assert browser in str((await shop.privacy.export(BUYER))["browsers"])
    _ = await shop.privacy.erase(BUYER, "asked by the buyer")
    assert [one.key for one in await shop.entries() if browser in f"{one.key} {one.value!r}"] == []


@pytest.mark.parametrize("method", METHODS)
async def test_nothing_but_its_answer(shop: Shop, method: str) -> None:
    """No method and no header makes it another one: no redirect, no 304, no cookie, no identity, nothing kept."""
    cookie, metrics, gate = await opened(shop), Metrics(), SiteRoutes(shop.gate).all()
    behind = public_app(gate.public, gate.direct, found(), metrics)
    given = {"If-None-Match": "*", "Range": "bytes=0-1", "Authorization": "Basic YTpi", "Origin": "null"}
    async with client_of(AnsweredDirectly(behind, gate.direct[0], metrics)) as client:
        for path, value, status in (
            (PRODUCT.name, cookie, 204),
            (OTHER.name, cookie, 403),
            (f"{PRODUCT.name}/more", cookie, 403),
            (PRODUCT.name, b"", 401),
            ("", b"", 401),
        ):
            headers = {**given, "Cookie": f"__Host-orrery={value.decode()}"}
            answer = await client.request(method, f"{GATE}{path}", headers=headers)
            assert (answer.status_code, answer.content) == (status, b"")
            assert answer.headers["cache-control"] == "no-store"
            assert not {"set-cookie", "etag", "location", "www-authenticate"} & set(answer.headers)
            assert ("content-length" in answer.headers) == (status != 204)


@pytest.mark.parametrize("path", [PRODUCT.name, f"{PRODUCT.name}/", f"/{PRODUCT.name}", ""])
async def test_a_store_that_cannot_be_asked(path: str, shop: Shop, store: UnreliableStore) -> None:
    """It is neither yes nor no: 503, whatever the path, and the next request is answered."""
    metrics = Metrics()
    cookie, gate = await opened(shop), SiteRoutes(shop.gate).all()
    app = AnsweredDirectly(public_app(gate.public, gate.direct, found(), metrics), gate.direct[0], metrics)
    store.get_errors = [StoreUnavailable("It is full.")]
    async with client_of(app) as client:
        headers = {"Cookie": f"__Host-orrery={cookie.decode()}"}
        answers = [await client.get(f"{GATE}{path}", headers=headers) for _ in range(2)]
    assert [one.status_code for one in answers] == [503, 204 if path == PRODUCT.name else 403]


async def test_all_that_wait_share_one_look(shop: Shop, store: UnreliableStore) -> None:
    """While the store hangs, they wait for one read, and not each for its own in turn; they share its failure."""
    cookie = await opened(shop)
    store.get_errors = [StoreUnavailable("It hung.")]
    store.reads.clear()
    asked = [at_the_gate(shop, cookie) for _ in range(100)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(one) for one in answers] == [StoreUnavailable] * 100
    assert store.reads == {"access-generation": 1}
    assert await at_the_gate(shop, cookie) == 204


async def test_what_was_read_before_it_was_revoked_is_not_remembered(shop: Shop, store: UnreliableStore) -> None:
    """A revocation between the read of an access and its answer closes it a second later all the same."""
    cookie, other = await opened(shop), Shop(shop.clock, store.inside)

    async def revoked() -> None:
        store.overtaken_by = None
        _ = await other.desk.revoke("cs_1", "asked by the buyer")
        shop.clock.advance(EVERY)
        assert await at_the_gate(shop, cookie) == 403

    store.overtaken_by = revoked  # behind the read of the access, before its use is noted
    assert await at_the_gate(shop, cookie) == 204
    assert await at_the_gate(shop, cookie) == 403
