"""The hosted pages: what a buyer reads in each state, in each language."""

import re
from string import Formatter
from typing import get_args

import pytest

from orrery.checkout.settings import SiteSettings
from orrery.checkout.site.pages import RENEWED, HostedPage
from orrery.checkout.sites import BUTTON, CANCELLED, ENDED, LOST, OPEN, Language
from orrery.errors import StoreUnavailable
from tests.support.checkout import PRODUCT, session, session_json
from tests.support.clock import START, ManualClock
from tests.support.hosted import BACK, NORTH, OPENED, WORDS, HostedShop, Visitor, said_of, sold
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio


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


@each_case("state", ["open", "pending", "delayed", "granted", "ended", "failed", "unknown"])
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
    assert "nothing was charged" not in page.text
    assert "set-cookie" not in page.headers


@each_case(("minutes", "seconds"), [(0, 4), (3, 4), (10, 10), (60, 60), (1440, 1440)])
async def test_a_page_that_was_left_open_asks_ever_less(minutes: int, seconds: int) -> None:
    """Soon after a payment it asks every few seconds, after a day three times an hour."""
    shop = HostedShop()
    await in_state(shop, "pending")
    shop.clock.advance(minutes * 60)
    page = await Visitor(shop).get(BACK)
    assert (said_of(page.text, "pending"), page.headers["refresh"]) == (True, str(seconds))


@each_case(
    ("back", "to"),
    [
        ("/practice/a/x.html?y=1", "/practice/a/x.html?y=1"),
        ("/", "/"),
        ("/a%20b/%C3%BC", "/a%20b/%C3%BC"),
        ("/a%2520b", "/a%20b"),
        ("/c++.html", "/c++.html"),
        ("/a%22%3E%3Cb%3E", "/a%22%3E%3Cb%3E"),
        ("//evil.example", ""),
        ("/%2Fevil.example", ""),
        ("/%5Cevil.example", ""),
        ("/%09/evil.example", ""),
        ("https://evil.example", ""),
        ("/a%5Cb", ""),
        ("/a%0Ab", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)
async def test_back_is_an_address_of_the_site(back: str, to: str) -> None:
    """The page that a visitor wanted is linked where no browser takes it for another host."""
    page = await Visitor(HostedShop()).get(f"/guided/lost?back={back}")
    assert said_of(page.text, "lost")
    assert re.findall(r'href="([^"]*)">I have opened the link', page.text) == ([to] if to else [])
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
        ("/guided/success?product=northwind/other&opened", "no_cookie"),
        ("/guided/success?opened", "closed"),
        ("/guided/success?session_id=", "unknown"),
        (f"/guided/success?session_id=cs_{'x' * 300}", "unknown"),
        ("/guided/success?session_id=access:cs_1", "unknown"),
    ],
)
async def test_the_other_pages(path: str, name: str, clock: ManualClock, store: UnreliableStore) -> None:
    """Each without a session of ours; what a stranger puts into an address is not on the page."""
    page = await Visitor(HostedShop(clock, store)).get(path)
    assert said_of(page.text, name)
    assert "North" in page.text
    assert "<b>" not in page.text
    assert not store.reads
    assert "northwind" not in re.sub(r'href="[^"]*"', "", page.text)


@pytest.mark.parametrize("path", [BACK, OPENED, CANCELLED, ENDED, OPEN, LOST])
async def test_a_program_that_only_looks(path: str) -> None:
    """HEAD has the headers of the page, and opens nothing: the first browser that comes back is let in."""
    shop = HostedShop()
    await sold(shop)
    looked = await Visitor(shop).head(path)
    assert (looked.status_code, "set-cookie" in looked.headers) == (404 if path == OPEN else 200, False)
    assert looked.headers["content-type"] == "text/html; charset=utf-8"
    assert (await Visitor(shop).get(BACK)).status_code == 303


async def test_what_each_page_forbids() -> None:
    """No script and no frame, kept by no cache; no address of it reaches another site."""
    page = await Visitor(HostedShop()).get("/guided/lost")
    policy = page.headers["content-security-policy"]
    assert "script" not in f"{policy} {page.text}"
    assert {"default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"} < set(policy.split("; "))
    assert (page.headers["cache-control"], page.headers["referrer-policy"]) == ("no-store", "no-referrer")
    assert not re.findall(r"https?://", page.text.replace(NORTH.origin, ""))


async def test_a_store_that_cannot_be_read(clock: ManualClock, store: UnreliableStore) -> None:
    """A buyer reads that the access is not lost, on a page that tries again."""
    shop = HostedShop(clock, store)
    await sold(shop)
    store.get_errors = [StoreUnavailable("It is full.")] * 3
    page = await Visitor(shop).get(BACK)
    assert (page.status_code, page.headers["refresh"]) == (503, str(RENEWED["away"]))
    assert "not lost: do not pay again" in page.text


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
    date = "1. März 2026".replace(" ", "\N{NO-BREAK SPACE}")
    for part in ('<html lang="de">', "&lt;i&gt;N&lt;/i&gt;", date, "#0a5c36", "dieses Produkt"):
        assert part in page


async def test_the_script_of_the_buy_button() -> None:
    """A site's page takes it from its own origin, for five minutes; a browser that has it is told so."""
    visitor = Visitor(HostedShop())
    script = await visitor.get(BUTTON)
    assert script.headers["content-type"].startswith("text/javascript")
    assert (script.headers["cache-control"], "set-cookie" in script.headers) == ("public, max-age=300", False)
    again = await visitor.get(BUTTON, {"If-None-Match": script.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", script.headers["etag"])
