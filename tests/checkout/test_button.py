"""A form on any page sells: where it may come from, what it may hold, and the page that each failure becomes."""

import re
from collections.abc import Mapping
from itertools import count
from itertools import product as each_of
from urllib.parse import urlencode

import httpx2
import pytest

from orrery.checkout.button.orders import ORDER_SECONDS, Orders
from orrery.checkout.settings import SiteSettings
from orrery.checkout.site.forms import Forms
from orrery.checkout.sites import CHECKOUT, PAY
from orrery.errors import StoreUnavailable
from orrery.runtime.tasks import together
from tests.edge.test_problems import TABLE
from tests.support.checkout import INDEX_KEY, PRODUCT, READS, STARTS, session_json
from tests.support.clock import ManualClock
from tests.support.hosted import NORTH, OF_PAGE, HostedShop, Visitor, said_of
from tests.support.requests import client_of
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio

FORM = {"productType": "cert", "certCode": "cissp", "vendorSlug": "isc2"}
URLENCODED = "application/x-www-form-urlencoded"


_PEERS = count(1)


@pytest.fixture
def shop(clock: ManualClock, store: UnreliableStore) -> HostedShop:
    """Return a shop: the same for all cases of a table."""
    return HostedShop(clock, store)


def stranger(shop: HostedShop) -> httpx2.AsyncClient:
    """Return a client whom no limit has met."""
    high, low = divmod(next(_PEERS), 250)
    return client_of(shop.app, peer=f"198.18.{high}.{low + 1}", raising=False)


async def posted(
    shop: HostedShop, content: bytes | str, headers: Mapping[str, str] = OF_PAGE, kind: str = URLENCODED
) -> httpx2.Response:
    """Send a form as these bytes."""
    async with stranger(shop) as client:
        return await client.post(CHECKOUT, content=content, headers={**headers, "Content-Type": kind})


async def way_on(visitor: Visitor) -> str:
    """Press a button; return the address of the page that leads on."""
    return (await visitor.post(CHECKOUT, OF_PAGE, **FORM)).headers["location"]


async def test_a_form_leads_to_the_payment_page() -> None:
    """By 303 to a page of the same origin, and from there by itself and by a link; only there is a session."""
    shop = HostedShop()
    visitor = Visitor(shop)
    taken = await visitor.post(CHECKOUT, OF_PAGE, **FORM)
    location = taken.headers["location"]
    assert (taken.status_code, location.partition("&")[0]) == (303, f"{PAY}?product={PRODUCT.name}")
    assert shop.processor.calls == []
    page = await visitor.get(location)
    [session] = shop.processor.sessions.values()
    assert (page.status_code, page.headers["refresh"]) == (200, f"0; url={session.url}")
    assert re.findall(r'class="button" href="([^"]+)"', page.text) == [session.url]
    assert said_of(page.text, "paying")
    assert session.id not in location
    assert (page.headers["cache-control"], page.headers["referrer-policy"]) == ("no-store", "no-referrer")


async def test_each_form_is_an_order_of_its_own() -> None:
    """Two buyers behind one address get two sessions; one who opens the way on again gets the same one."""
    shop = HostedShop()
    visits = [(visitor, await way_on(visitor)) for visitor in (Visitor(shop), Visitor(shop))]
    assert ["refresh" in (await one.get(way)).headers for one, way in [*visits, *visits]] == [True] * 4
    assert len({call.idempotency_key for call in shop.processor.calls}) == len(shop.processor.sessions) == 2


async def test_a_double_click_makes_one_session() -> None:
    """Of two forms that are sent, the browser follows the answer to the last one."""
    shop = HostedShop()
    visitor = Visitor(shop)
    _, followed = [await way_on(visitor) for _ in range(2)]
    pages = await together(*(visitor.get(followed) for _ in range(2)))
    assert ["refresh" in page.headers for page in pages] == [True] * 2
    assert len(shop.processor.sessions) == 1


async def paid(shop: HostedShop, session_id: str) -> None:
    """Let the buyer of a session pay."""
    _ = await shop.receive("evt_paid", session_json(session_id))


async def led_to(visitor: Visitor, way: str) -> str | None:
    """Return the id of the session that an order leads to, or None where a page asks with a button."""
    page = await visitor.get(way)
    assert page.status_code == 200
    address = page.headers.get("refresh")
    assert said_of(page.text, "paying" if address else "buy")
    by_page = {f"0; url={one.url}": one.id for one in visitor.shop.processor.sessions.values()}
    return by_page[address] if address else None


@each_case("is_paid", [False, True])
@each_case("has_cookie", [False, True])
async def test_no_two_browsers_get_one_session(is_paid: bool, has_cookie: bool) -> None:  # noqa: FBT001  a case
    """A stranger whose order a buyer at the same address follows gets another session, also after a payment."""
    shop = HostedShop()
    buyer, stranger_there = Visitor(shop), Visitor(shop)
    if has_cookie:
        _ = await way_on(buyer)
    way = await way_on(stranger_there)
    bought = await led_to(buyer, way)
    assert bought
    if is_paid:
        await paid(shop, bought)
    got = {await led_to(stranger_there, way), await led_to(Visitor(shop), way)}
    order = httpx2.URL(way).params["order"]
    async with client_of(shop.app, peer=buyer.peer) as client:
        asked = await client.post(CHECKOUT, json=FORM, headers={"Idempotency-Key": order})
    assert bought not in got | {asked.json()["id"]}
    assert None in got


async def test_an_order_of_another_browser_shows_nothing() -> None:
    """Where the buyer's browser had its session, a browser without the cookie is asked."""
    shop = HostedShop()
    buyer = Visitor(shop)
    way = await way_on(buyer)
    first = await led_to(buyer, way)
    assert await led_to(Visitor(shop), way) is None
    assert await led_to(buyer, way) == first


async def test_a_paid_session_is_not_shown_again() -> None:
    """Not even to its buyer: the page asks, and its button makes another one."""
    shop = HostedShop()
    buyer = Visitor(shop)
    way = await way_on(buyer)
    first = await led_to(buyer, way)
    assert first
    await paid(shop, first)
    assert await led_to(buyer, way) is None
    assert await led_to(buyer, await way_on(buyer)) not in {None, first}


async def test_a_browser_that_refuses_cookies_can_pay() -> None:
    """Each form makes one session, also of two requests at once; a reload asks, and its button makes the next."""
    shop = HostedShop()
    for made in (1, 2):
        shop.clock.advance(60)
        way = await way_on(Visitor(shop))
        got = await together(*(led_to(Visitor(shop), way) for _ in range(2)), led_to(Visitor(shop), way))
        assert (got.count(None), len(shop.processor.sessions)) == (2, made)


@each_case(
    ("origin", "name", "more"),
    [
        (NORTH.origin, "orrery-order-local", ""),
        ("https://shop.example", "__Host-orrery-order", "; Secure"),
    ],
)
async def test_the_cookie_of_an_order(origin: str, name: str, more: str) -> None:
    """It is as the access gate's, but ends with the order; a browser keeps the one that it has."""
    visitor = Visitor(HostedShop(site=SiteSettings(origin=origin, name="North").site()))
    given, again = [
        (await visitor.post(CHECKOUT, {**OF_PAGE, **sent}, **FORM)).headers["set-cookie"]
        for sent in ({}, {"Cookie": f"{name}={'a' * 32}"})
    ]
    about = f"; Path=/; Max-Age={ORDER_SECONDS}; HttpOnly; SameSite=Lax{more}"
    assert re.fullmatch(f"{name}=[0-9a-f]{{32}}{about}", given)
    assert again == f"{name}={'a' * 32}{about}"


@each_case("which", ["late", "of tomorrow", "of another product", "altered", "none", "odd", "of another shop"])
async def test_an_order_that_is_not_good(which: str) -> None:
    """The page asks, with a button that sells; nothing is made."""
    shop = HostedShop()
    way = await way_on(Visitor(shop))
    shop.clock.advance({"late": ORDER_SECONDS + 1, "of tomorrow": -60}.get(which, ORDER_SECONDS))
    address, _, order = way.partition("&order=")
    other = Orders(shop.clock, b"another key").new(PRODUCT.name, b"0" * 32)
    changed = {
        "of another product": way.replace("cissp", "ccsp"),
        "altered": f"{address}&order={order.replace(order[0], '3', 1)}",
        "none": address,
        "odd": f"{address}&order=²³.x.y",
        "of another shop": f"{address}&order={other}",
    }
    page = await Visitor(shop).get(changed.get(which, way))
    assert (page.status_code, said_of(page.text, "buy"), shop.processor.calls) == (200, True, [])
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    assert 'action="/guided/api/checkout"' in page.text
    again = await Visitor(shop).post(CHECKOUT, {"Origin": "null"}, **fields)
    assert again.status_code == 303


async def test_an_order_lasts_while_the_buyer_may_reload() -> None:
    """Up to its last second it leads on; a program that only looks makes nothing."""
    shop = HostedShop()
    visitor = Visitor(shop)
    way = await way_on(visitor)
    looked = await visitor.head(way)
    assert (looked.status_code, "refresh" in looked.headers, shop.processor.calls) == (200, False, [])
    shop.clock.advance(ORDER_SECONDS)
    assert "refresh" in (await visitor.get(way)).headers


ORIGINS = {"ours": NORTH.origin, "another": "https://evil.example", "null": "null", "none": ""}
CAME = ("same-origin", "none", "same-site", "cross-site", "")
TOKENS = ("own", "forged", "")


def expected(origin: str, came: str, token: str) -> int:
    """Return the status by the table of the reference."""
    if origin == "ours" or came in {"same-origin", "none"}:
        return 303
    if origin == "another":
        return 403
    return 303 if not came and token == "own" else 200  # noqa: S105  no password


@each_case(("origin", "came", "token"), each_of(ORIGINS, CAME, TOKENS))
async def test_where_a_form_may_come_from(origin: str, came: str, token: str, shop: HostedShop) -> None:
    """Every combination of what a browser says: taken, or asked about, and never refused without a way on."""
    own = Forms.of_store(INDEX_KEY, shop.clock, ()).token()
    sent = {"own": own, "forged": "0" * 64}.get(token, token)
    headers = {"Origin": ORIGINS[origin], "Sec-Fetch-Site": came}
    given = {name: value for name, value in headers.items() if value}
    answer = await posted(shop, urlencode({**FORM, "form_token": sent}), given)
    assert answer.status_code == expected(origin, came, token)
    assert answer.status_code == 303 or said_of(answer.text, "buy")
    async with stranger(shop) as client:
        json = await client.post(CHECKOUT, json=FORM, headers=given)
    assert (json.status_code, "access-control-allow-origin" in json.headers) == (200, False)


LARGE = urlencode({**FORM, "form_token": "x" * 1024 * 1024})

ODD: dict[str, tuple[str, bytes | str, int]] = {
    "empty": (URLENCODED, b"", 422),
    "unknown field": (URLENCODED, urlencode({**FORM, "price": "1"}), 422),
    "a field twice": (URLENCODED, f"{urlencode(FORM)}&certCode=ccsp", 422),
    "a field is missing": (URLENCODED, "productType=cert&certCode=cissp", 422),
    "a wrong field": (URLENCODED, urlencode({**FORM, "certCode": "<b>"}), 422),
    "no form": (URLENCODED, b"{}", 400),
    "bytes that are no text": (URLENCODED, b"certCode=%ff", 400),
    "bytes beyond ASCII": (URLENCODED, "certCode=ü".encode("latin-1"), 400),
    "another charset": (f"{URLENCODED}; charset=windows-1252", urlencode(FORM), 415),
    "a megabyte": (URLENCODED, LARGE, 413),
    "in parts": ("multipart/form-data; boundary=x", b"--x--", 415),
    "as text": ("text/plain", b"certCode=cissp", 415),
    "unknown product": (URLENCODED, urlencode({**FORM, "certCode": "nothing"}), 404),
}


@each_case("case", ODD)
async def test_a_form_that_is_none(case: str, shop: HostedShop) -> None:
    """A page with the right status, that names nothing of what was sent; nothing is made."""
    kind, content, status = ODD[case]
    answer = await posted(shop, content, kind=kind)
    page = "unsold" if status == 404 else "bad_form"
    assert (answer.status_code, said_of(answer.text, page)) == (status, True)
    assert "Nothing was charged" in answer.text
    assert "<b>" not in answer.text
    assert shop.processor.calls == []


async def test_a_key_that_is_none(shop: HostedShop) -> None:
    """A form with a header that the operation refuses gets a page as well."""
    answer = await posted(shop, urlencode(FORM), headers={**OF_PAGE, "Idempotency-Key": "a key"})
    assert (answer.status_code, said_of(answer.text, "bad_form")) == (422, True)


async def test_a_slash_too_many(shop: HostedShop) -> None:
    """A form whose address was written with it sells; asked for again, it shows a page."""
    async with stranger(shop) as client:
        taken = await client.post(f"{CHECKOUT}/", data=FORM, headers=OF_PAGE)
    left = await Visitor(shop).get(f"{CHECKOUT}/")
    assert (taken.status_code, left.status_code, said_of(left.text, "unstarted")) == (303, 405, True)


async def test_what_a_browser_may_add() -> None:
    """UTF-8 by its name, in any letters, is the usual form."""
    answer = await posted(HostedShop(), urlencode(FORM), kind=f'{URLENCODED.upper()}; Charset="UTF-8"')
    assert answer.status_code == 303


@each_case(("error", "status", "tag"), [*TABLE, (RuntimeError("a bug"), 500, "internal")])
async def test_every_error_is_a_page(
    error: Exception, status: int, tag: str, shop: HostedShop, store: UnreliableStore
) -> None:
    """Whatever ends a purchase, the buyer reads a page that says that nothing was charged, and no JSON."""
    async with stranger(shop) as client:
        way = (await client.post(CHECKOUT, data=FORM, headers=OF_PAGE)).headers["location"]
        store.get_errors = [error]
        answer = await client.get(way)
    assert (answer.status_code, answer.headers["cache-control"]) == (status, "no-store")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert re.search("You were not charged|Nothing was charged", answer.text)
    assert (tag in {"not-configured", "not-preflighted"} or status == 404) == said_of(answer.text, "unsold")
    assert str(error) not in answer.text


async def test_a_store_that_fails(shop: HostedShop, store: UnreliableStore) -> None:
    """The buyer reads that nothing was charged; the same address leads on when the store is there again."""
    way = await way_on(Visitor(shop))
    store.get_errors = [StoreUnavailable("It is full.")]
    page = await Visitor(shop).get(way)
    assert (page.status_code, said_of(page.text, "unstarted")) == (503, True)
    assert way.partition("&")[0] in page.text
    assert "refresh" in (await Visitor(shop).get(way)).headers


async def test_too_many_forms() -> None:
    """Forms count as other purchases do; opening the way on counts as reading."""
    shop = HostedShop()
    visitor = Visitor(shop)
    answers = [await visitor.post(CHECKOUT, OF_PAGE, **FORM) for _ in range(STARTS + 1)]
    assert [one.status_code for one in answers] == [303] * STARTS + [429]
    assert (said_of(answers[-1].text, "busy"), answers[-1].headers["retry-after"]) == (True, "60")
    way = answers[0].headers["location"]
    pages = [await visitor.get(way) for _ in range(READS + 1)]
    assert [one.status_code for one in pages] == [200] * READS + [429]
    assert len(shop.processor.sessions) == 1


@each_case(("path", "status", "name"), [(CHECKOUT, 405, "unstarted"), (PAY, 404, "unsold")])
async def test_an_address_without_its_form(path: str, status: int, name: str) -> None:
    """A browser that asks for it again, after an outage or by a bookmark, shows a page."""
    page = await Visitor(HostedShop()).get(path)
    assert (page.status_code, said_of(page.text, name)) == (status, True)


async def test_a_failure_has_the_looks_of_the_site() -> None:
    """In its language, name and colour."""
    german = SiteSettings(origin="http://127.0.0.1", name="Nord", language="de", colour="#0a5c36").site()
    shop = HostedShop(site=german)
    answer = await posted(shop, urlencode({**FORM, "vendorSlug": "nobody"}))
    for part in ('<html lang="de">', "Nord", "#0a5c36", "Es wurde nichts abgebucht."):
        assert part in answer.text


async def test_an_order_shows_no_key() -> None:
    """What is printed of the orders has no key, and two orders are not alike."""
    orders = Orders.of_store(INDEX_KEY, ManualClock())
    assert str(INDEX_KEY) not in repr(orders)
    assert "key" not in repr(orders)
    assert orders.new("a/b", b"0" * 32) != orders.new("a/b", b"0" * 32)
