"""The hosted pages: what a buyer reads in each state, and what opens an access in a browser."""

import re
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from importlib.resources import files
from string import Formatter
from typing import Any, get_args

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.settings import SiteSettings
from orrery.checkout.site.forms import LIFE
from orrery.checkout.site.pages import RENEWED, HostedPage
from orrery.checkout.sites import Language
from orrery.errors import StoreUnavailable
from tests.support.checkout import BUYER, OTHER, PRODUCT, session, session_json
from tests.support.clock import START, ManualClock
from tests.support.hosted import NORTH, OF_PAGE, HostedShop, Visitor, links, sold
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio

WORDS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    files("orrery").joinpath("web/guided/words.toml").read_text(encoding="utf-8")
)
BACK = "/guided/success?session_id=cs_1"
OPENED = f"/guided/success?product={PRODUCT.name}"


def said_of(page: str, name: str) -> bool:
    """Return whether a page has the title of that name."""
    title = WORDS["en"]["pages"][name]["title"].partition("{")[0]
    return f"<h1>{title}" in page


async def in_state(shop: HostedShop, state: str) -> None:
    """Bring the session of `BACK` into a state."""
    if state == "unknown":
        return
    await shop.offered("cs_1")
    if state in {"open", "pending", "failed"}:
        status = {"open": "open", "pending": "complete", "failed": "expired"}[state]
        shop.processor.add(session("cs_1", status=status))
    elif state == "delayed":
        _ = await shop.receive("evt_1", session_json(payment_status="unpaid"))
    else:
        _ = await shop.receive("evt_1", session_json())
        _ = await Visitor(shop, "203.0.113.1").get(BACK)
        if state == "ended":
            _ = await shop.desk.revoke("cs_1", "asked by the buyer")


@pytest.mark.parametrize("state", ["open", "pending", "delayed", "granted", "ended", "failed", "unknown"])
async def test_each_state_has_its_page(state: str) -> None:
    """A page of its own, which comes again by itself while it waits; `Payment received` is said of one alone."""
    shop = HostedShop()
    await in_state(shop, state)
    page = await Visitor(shop).get(BACK)
    assert page.status_code == (404 if state == "unknown" else 200)
    assert said_of(page.text, state)
    assert page.headers.get("refresh") == (str(RENEWED[state]) if state in RENEWED else None)
    assert ("Payment received" in page.text) == (state == "granted")
    assert ("a few days" in page.text) == (state == "delayed")
    assert "set-cookie" not in page.headers


@each_case(("minutes", "seconds"), [(0, 4), (3, 4), (10, 10), (60, 60), (1440, 1440)])
async def test_a_page_that_was_left_open_asks_ever_less(minutes: int, seconds: int) -> None:
    """Soon after a payment it asks every few seconds, after a day three times an hour."""
    shop = HostedShop()
    await in_state(shop, "pending")
    shop.clock.advance(minutes * 60)
    page = await Visitor(shop).get(BACK)
    assert (said_of(page.text, "pending"), page.headers["refresh"]) == (True, str(seconds))


async def test_the_first_browser_is_let_in() -> None:
    """It gets the cookie and an address without the id, where it reads product, end, and where to practise."""
    shop = HostedShop()
    visitor, other = Visitor(shop), Visitor(shop)
    await sold(shop)
    led = await visitor.get(BACK)
    assert (led.status_code, led.headers["location"]) == (303, OPENED)
    assert "HttpOnly; SameSite=Lax" in led.headers["set-cookie"]
    page = await visitor.get(OPENED)
    assert said_of(page.text, "opened")
    assert f"Access until {(await shop.access()).expires_at:%-d %B %Y}" in page.text
    assert "CISSP" in page.text
    assert 'href="http://127.0.0.1/practice/cissp/"' in page.text
    assert [await visitor.gate(), await visitor.gate(OTHER.name)] == [204, 403]
    assert said_of((await other.get(BACK)).text, "granted")
    assert said_of((await other.get(OPENED)).text, "closed")
    assert await other.gate() == 401
    assert (await visitor.get(BACK)).status_code == 303


@each_case(("hours", "status"), [(23, 303), (25, 200)])
async def test_only_on_the_first_day(hours: int, status: int) -> None:
    """An address that lies in a history for longer opens nothing."""
    shop = HostedShop()
    await sold(shop)
    shop.clock.advance(hours * 3600)
    assert (await Visitor(shop).get(BACK)).status_code == status


async def test_one_browser_keeps_its_cookie_for_all_that_it_opened() -> None:
    """A second purchase is open beside the first one, under one id, as long as the longer of both."""
    shop = HostedShop()
    visitor = Visitor(shop)
    await sold(shop)
    _ = await visitor.get(BACK)
    before = dict(visitor.cookies)
    shop.clock.advance(timedelta(days=30).total_seconds())
    await shop.offered("cs_2", cert_code=OTHER.cert_code, price_id=OTHER.price_id)
    bought = {"productType": "cert", "certCode": OTHER.cert_code, "vendorSlug": OTHER.vendor_slug}
    _ = await shop.receive("evt_2", session_json("cs_2", metadata=bought))
    led = await visitor.get("/guided/success?session_id=cs_2")
    assert dict(visitor.cookies) == before
    assert f"Max-Age={365 * 86400};" in led.headers["set-cookie"]
    assert [await visitor.gate(), await visitor.gate(OTHER.name)] == [204, 204]


async def test_looking_at_a_link_changes_nothing() -> None:
    """Programs that look for harmful links open them; the button opens the access, in browser after browser."""
    shop = HostedShop()
    await sold(shop)
    [link] = await links(shop)
    before = await shop.entries()
    for _ in range(2):
        page = await Visitor(shop).get(link)
        assert said_of(page.text, "link")
        assert "set-cookie" not in page.headers
    assert await shop.entries() == before
    for _ in range(2):
        visitor = Visitor(shop)
        led = await visitor.post(link)
        assert (led.status_code, led.headers["location"]) == (303, OPENED)
        assert await visitor.gate() == 204


async def test_a_link_is_the_same_until_the_access_ends() -> None:
    """Each e-mail has the same one; from the end on it says so, and its button opens nothing."""
    shop = HostedShop()
    await sold(shop)
    [first] = await links(shop)
    await shop.desk.resend("cs_1", "asked by the buyer")
    assert await links(shop) == [first]
    shop.clock.advance(timedelta(days=400).total_seconds())
    visitor = Visitor(shop)
    for answer in (await visitor.get(first), await visitor.post(first)):
        assert said_of(answer.text, "ended")
    assert not visitor.cookies


@pytest.mark.parametrize("ended_by", ["new link", "change address", "revoke", "erase"])
async def test_what_ends_a_link(ended_by: str) -> None:
    """A former link, and the address after the payment, open nothing; the browsers that they opened are closed."""
    shop = HostedShop()
    visitor = Visitor(shop)
    await sold(shop)
    [link] = await links(shop)
    _ = await visitor.post(link)
    if ended_by == "new link":
        await shop.desk.resend("cs_1", "it was passed on", new_link=True)
    elif ended_by == "change address":
        _ = await shop.desk.change_email("cs_1", "bob@example.org", "mistyped")
    elif ended_by == "revoke":
        _ = await shop.desk.revoke("cs_1", "asked by the buyer")
    else:
        _ = await shop.privacy.erase(BUYER, "asked by the buyer")
    shown = "ended" if ended_by == "revoke" else "gone"
    assert said_of((await visitor.get(link)).text, shown)
    assert said_of((await visitor.post(link)).text, shown)
    assert await visitor.gate() != 204
    if ended_by == "new link":
        [newest] = await links(shop)
        assert (await visitor.post(newest)).status_code == 303
        assert (await Visitor(shop).get(BACK)).status_code == 200


async def test_no_key_is_kept() -> None:
    """What is stored has no key of a link, before and after the e-mail was sent; a wrong key costs no read."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    shop = HostedShop(clock, store)
    await sold(shop)
    [link] = await links(shop)
    key = link.rpartition("key=")[2]
    assert len(key) == 22
    assert [one.key for one in await shop.entries() if key in f"{one.key} {one.value!r}"] == []
    store.reads.clear()
    for wrong in (
        link[:-1],
        f"{link}x",
        link.replace("cs_1", "cs_2"),
        link.replace("link=0", "link=1"),
        "/guided/open",
    ):
        page = await Visitor(shop).get(wrong)
        assert (page.status_code, said_of(page.text, "gone")) == (404, True)
    assert not store.reads


async def finished(shop: HostedShop) -> None:
    """Wait for what goes on behind an answer."""
    await shop.tasks.finish()


async def test_a_lost_link_goes_to_the_address_on_file() -> None:
    """The answer is the same whoever asks for whom; the e-mail goes to the buyer, at most once an hour."""
    shop = HostedShop()
    await sold(shop)
    [first] = await links(shop)
    pages = [
        await Visitor(shop, f"203.0.113.{at}").post("/guided/lost", email=address)
        for at, address in enumerate((BUYER, f" {BUYER.upper()} ", "eve@example.org", "nobody", "@"))
    ]
    await finished(shop)
    assert {one.status_code for one in pages} == {200}
    assert len({re.sub(r'value="[^"]*"', "", one.text) for one in pages}) == 1
    assert await links(shop) == [first]
    assert {one.to for one in await shop.told() if one.channel == "email"} == {BUYER}
    shop.clock.advance(3600)
    _ = await Visitor(shop, "203.0.113.99").post("/guided/lost", email=BUYER)
    await finished(shop)
    assert await links(shop) == [first]


async def test_one_client_may_not_ask_for_many() -> None:
    """The sixth within ten minutes is told to wait, and another client is not."""
    shop = HostedShop()
    asked = [await Visitor(shop, f"2001:db8::{at}").post("/guided/lost", email=BUYER) for at in range(5)]
    shop.clock.advance(60)
    refused = await Visitor(shop, "2001:db8::9").post("/guided/lost", email=BUYER)
    assert [one.status_code for one in (*asked, refused)] == [200] * 5 + [429]
    assert refused.headers["retry-after"] == "540"
    assert said_of(refused.text, "busy")
    assert (await Visitor(shop, "203.0.113.1").post("/guided/lost", email=BUYER)).status_code == 200
    await finished(shop)


async def test_one_address_is_not_flooded() -> None:
    """Strangers with many addresses of their own cause ten e-mails a day at most, and learn nothing from it."""
    shop = HostedShop()
    await sold(shop)
    _ = await links(shop)
    for at in range(24):
        asked = await Visitor(shop, f"198.51.100.{at}").post("/guided/lost", email=BUYER)
        assert said_of(asked.text, "sent")
        await finished(shop)
        shop.clock.advance(3600)
    assert len(await links(shop)) == 10


FROM: dict[str, tuple[dict[str, str], str, bool]] = {
    "a page of ours": (OF_PAGE, "", True),
    "typed again": ({"Sec-Fetch-Site": "none"}, "", True),
    "a sibling": ({"Sec-Fetch-Site": "same-site"}, "own", False),
    "another site": ({"Sec-Fetch-Site": "cross-site", "Origin": "null"}, "own", False),
    "an old browser": ({"Origin": NORTH.origin}, "", True),
    "an old browser elsewhere": ({"Origin": "https://evil.example"}, "own", False),
    "no referrer": ({"Origin": "null"}, "own", True),
    "no header": ({}, "own", True),
    "no token": ({"Origin": "null"}, "", False),
    "a forged token": ({"Origin": "null"}, "forged", False),
    "a token that is none": ({"Origin": "null"}, "²³.x", False),
    "a late token": ({"Origin": "null"}, "late", False),
}


@each_case("case", FROM)
async def test_where_a_form_may_come_from(case: str) -> None:
    """What a browser says decides; where it says nothing of use, the token of the form."""
    headers, which, taken = FROM[case]
    shop = HostedShop()
    await sold(shop)
    [link] = await links(shop)
    page = (await Visitor(shop).get(link)).text
    own = re.search(r'name="form_token" value="([^"]+)"', page)
    assert own
    made = {"own": own[1], "late": own[1], "forged": f"{int(START.timestamp())}.{'0' * 32}"}.get(which, which)
    shop.clock.advance(LIFE.total_seconds() + (1 if which == "late" else 0))
    answer = await Visitor(shop).post(link, headers, form_token=made)
    assert (answer.status_code, "set-cookie" in answer.headers) == ((303, True) if taken else (403, False))
    assert taken or said_of(answer.text, "again")


async def test_a_form_of_another_kind() -> None:
    """JSON, which a page elsewhere may not send, and a form that is far too large, are no forms."""
    shop = HostedShop()
    assert (await Visitor(shop).post("/guided/lost", {**OF_PAGE, "Content-Type": "text/plain"})).status_code == 415
    assert (await Visitor(shop).post("/guided/lost", email="a" * 5000)).status_code == 413


@each_case(
    ("back", "led"),
    [
        ("/practice/a/x.html?y=1", True),
        ("/", True),
        ("//evil.example", False),
        ("/\\evil.example", False),
        ("https://evil.example", False),
        ("/a\\b", False),
        ("/a b", False),
        ("javascript:alert(1)", False),
        ("", False),
    ],
)
async def test_back_is_an_address_of_the_site(back: str, led: bool) -> None:  # noqa: FBT001  a column of the table
    """The page that a visitor wanted is linked where no browser takes it for another host."""
    page = await Visitor(HostedShop()).get(f"/guided/lost?back={back.replace(chr(92), '%5C').replace(' ', '%20')}")
    assert said_of(page.text, "lost")
    assert ("I have opened the link" in page.text) == led
    assert "evil" not in page.text
    assert "javascript" not in page.text


@each_case(
    ("path", "name"),
    [
        (f"/guided/cancelled?product={PRODUCT.name}", "cancelled"),
        ("/guided/cancelled", "cancelled"),
        (f"/guided/ended?product={PRODUCT.name}", "closed"),
        ("/guided/ended?product=<b>/x", "closed"),
        ("/guided/success?product=northwind/other", "closed"),
        ("/guided/success?session_id=", "unknown"),
        (f"/guided/success?session_id=cs_{'x' * 300}", "unknown"),
        ("/guided/success?session_id=access:cs_1", "unknown"),
    ],
)
async def test_the_other_pages(path: str, name: str) -> None:
    """Each without a session of ours; what a stranger puts into an address is not on the page."""
    page = await Visitor(HostedShop()).get(path)
    assert said_of(page.text, name)
    assert "<b>" not in page.text
    assert "northwind" not in re.sub(r'href="[^"]*"', "", page.text)


async def test_what_each_page_forbids() -> None:
    """No script and no frame, kept by no cache; no address of it reaches another site."""
    page = await Visitor(HostedShop()).get("/guided/lost")
    policy = page.headers["content-security-policy"]
    assert "script" not in f"{policy} {page.text}"
    assert {"default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"} < set(policy.split("; "))
    assert (page.headers["cache-control"], page.headers["referrer-policy"]) == ("no-store", "no-referrer")
    assert not re.findall(r"https?://", page.text.replace(NORTH.origin, ""))


async def test_a_store_that_cannot_be_read() -> None:
    """A buyer reads that the access is not lost, on a page that tries again."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    shop = HostedShop(clock, store)
    await sold(shop)
    store.get_errors = [StoreUnavailable("It is full.")] * 3
    page = await Visitor(shop).get(BACK)
    assert (page.status_code, page.headers["refresh"]) == (503, str(RENEWED["away"]))
    assert "not lost" in page.text


def placeholders(words: str | list[str]) -> set[str]:
    """Return the names that are filled in."""
    return {name for _, name, _, _ in Formatter().parse("".join(words)) if name}


def test_each_language_says_the_same() -> None:
    """Every page in every language: the same parts, the same links, the same things filled in."""
    assert set(WORDS) == set(get_args(Language))
    english = WORDS["en"]
    for words in WORDS.values():
        assert set(words) == set(english)
        assert len(words["months"]) == 12
        assert set(words["pages"]) == set(english["pages"])
        for name, page in words["pages"].items():
            same = english["pages"][name]
            assert set(page) == set(same), name
            assert list(page.get("links", {})) == list(same.get("links", {})), name
            for part in ("title", "text"):
                assert placeholders(page[part]) == placeholders(same[part]), name


def test_a_site_has_its_own_looks() -> None:
    """Name, language and colour are the site's; what it is named cannot be mark-up."""
    site = SiteSettings(origin="https://n.example", name="<i>N</i>", language="de", colour="#0a5c36").site()
    page = HostedPage(name="opened", site=site, until=START).html()
    for part in ('<html lang="de">', "&lt;i&gt;N&lt;/i&gt;", "bis 1. März 2026", "#0a5c36", "dieses Produkt"):
        assert part in page
