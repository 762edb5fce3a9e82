"""What opens an access in a browser, and what ends that."""

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from itertools import permutations, product

import httpx2
import pytest

from orrery.checkout.access.browsers import MOST, STAYS
from orrery.checkout.sites import ENDED
from tests.support.checkout import BUYER, OTHER, PRODUCT, metadata_of, session_json
from tests.support.clock import ManualClock
from tests.support.hosted import BACK, OPENED, HostedShop, Visitor, links, said_of, sold
from tests.support.soak import SOAKING
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio


async def until(shop: HostedShop, session_id: str = "cs_1") -> str:
    """Return what a page says of an access; the date does not break."""
    date = f"{(await shop.access(session_id)).expires_at:%-d %B %Y}".replace(" ", "\N{NO-BREAK SPACE}")
    return f"Access until {date}"


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
    assert await until(shop) in page.text
    assert "CISSP" in page.text
    assert 'href="http://127.0.0.1/practice/cissp/"' in page.text
    assert [await visitor.gate(), await visitor.gate(OTHER.name)] == [204, 403]
    assert said_of((await other.get(BACK)).text, "granted")
    assert said_of((await other.get(OPENED.removesuffix("&opened"))).text, "closed")
    assert await other.gate() == 401
    assert (await visitor.get(BACK)).status_code == 303


@pytest.mark.parametrize("way", ["payment", "link"])
async def test_a_browser_that_keeps_no_cookie(way: str) -> None:
    """It is told so right after the access was opened, and reads that the link in the e-mail opens it."""
    shop = HostedShop()
    visitor = Visitor(shop)
    await sold(shop)
    led = await visitor.get(BACK) if way == "payment" else await visitor.post((await links(shop))[0])
    visitor.cookies.clear()
    page = await visitor.get(led.headers["location"])
    assert said_of(page.text, "no_cookie")
    assert "CISSP" in page.text


@each_case(("hours", "status"), [(23, 303), (25, 200)])
async def test_only_on_the_first_day(hours: int, status: int) -> None:
    """An address that lies in a history for longer opens nothing."""
    shop = HostedShop()
    await sold(shop)
    shop.clock.advance(hours * 3600)
    assert (await Visitor(shop).get(BACK)).status_code == status


async def test_the_browser_that_has_it_open_goes_on_after_the_first_day() -> None:
    """The page of the payment agrees with the gate: by itself, or by its button where no person looked."""
    shop = HostedShop()
    visitor = Visitor(shop)
    await sold(shop)
    _ = await visitor.get(BACK)
    shop.clock.advance(timedelta(days=2).total_seconds())
    assert said_of((await Visitor(shop).get(BACK)).text, "granted")
    assert said_of((await visitor.get(BACK, {})).text, "paid")
    for led in (await visitor.get(BACK), await visitor.post(BACK)):
        assert (led.status_code, led.headers["location"]) == (303, OPENED)
    assert await visitor.gate() == 204


async def test_an_access_that_was_bought_again() -> None:
    """The address after the first payment shows the end of the second, before and after the first year ends."""
    shop = HostedShop()
    await sold(shop)
    shop.clock.advance(timedelta(days=30).total_seconds())
    await sold(shop, "cs_2")
    said = await until(shop, "cs_2")
    for days in (0, 350):
        shop.clock.advance(timedelta(days=days).total_seconds())
        assert said in (await Visitor(shop).get(BACK)).text
    _ = await shop.desk.revoke("cs_1", "asked by the buyer")
    assert said_of((await Visitor(shop).get(BACK)).text, "ended")


async def test_one_browser_keeps_its_cookie_for_all_that_it_opened() -> None:
    """A second purchase is open beside the first one, under one id; each page that shows one renews the cookie."""
    shop = HostedShop()
    visitor = Visitor(shop)
    await sold(shop)
    _ = await visitor.get(BACK)
    before = dict(visitor.cookies)
    shop.clock.advance(timedelta(days=30).total_seconds())
    await shop.offered("cs_2", cert_code=OTHER.cert_code, price_id=OTHER.price_id)
    _ = await shop.receive("evt_2", session_json("cs_2", metadata=metadata_of(OTHER)))
    led = await visitor.get("/guided/success?session_id=cs_2")
    led_again = await visitor.post((await links(shop))[0])
    assert dict(visitor.cookies) == before
    renewed = await visitor.get(OPENED)
    assert dict(visitor.cookies) == before
    for one in (led, led_again, renewed):
        assert f"Max-Age={400 * 86400};" in one.headers["set-cookie"]
    assert [await visitor.gate(), await visitor.gate(OTHER.name)] == [204, 204]


async def test_the_later_end_of_two_buyers() -> None:
    """A browser in which two buyers opened one product shows the end that is later."""
    shop = HostedShop()
    visitor = Visitor(shop)
    await sold(shop, "cs_2")
    _ = await visitor.get("/guided/success?session_id=cs_2")
    shop.clock.advance(timedelta(days=30).total_seconds())
    await sold(shop, "cs_1", customer_details={"email": "bob@example.org"})
    _ = await visitor.get(BACK)
    assert await until(shop) in (await visitor.get(OPENED)).text


@each_case(
    "headers",
    [
        {},
        {"Sec-Fetch-Dest": "empty", "Sec-Purpose": "prefetch"},
        {"Sec-Fetch-Dest": "document", "Sec-Purpose": "prefetch;prerender"},
        {"Sec-Fetch-Dest": "document", "Purpose": "prefetch"},
        {"Sec-Fetch-Dest": "iframe"},
    ],
)
async def test_what_no_person_looks_at_takes_no_place(headers: dict[str, str]) -> None:
    """A program, and a browser that fetches in advance, change nothing; the page has a button that opens."""
    shop = HostedShop()
    await sold(shop)
    before = await shop.entries()
    page = await Visitor(shop).get(BACK, headers)
    assert (said_of(page.text, "paid"), "set-cookie" in page.headers) == (True, False)
    assert await shop.entries() == before
    visitor, other = Visitor(shop), Visitor(shop)
    assert said_of((await other.post(BACK, {"Sec-Fetch-Site": "cross-site"})).text, "again")
    assert (await visitor.post(BACK)).headers["location"] == OPENED
    assert await visitor.gate() == 204
    for refused in (await other.post(BACK), await other.get(BACK, headers)):
        assert said_of(refused.text, "granted")


Before = Callable[[HostedShop, Visitor, str], Awaitable[object]]


async def by_button(_: HostedShop, visitor: Visitor, link: str) -> None:
    """Open the link."""
    await visitor.post(link)


async def ten_others(shop: HostedShop, _: Visitor, link: str) -> None:
    """Let ten other browsers in, each at the page or at the gate."""
    for at in range(MOST):
        other = Visitor(shop, f"203.0.113.{at}")
        await other.post(link)
        await (other.get(OPENED) if at % 2 else other.gate())


async def a_day(shop: HostedShop, *_: object) -> None:
    """Wait for a day."""
    shop.clock.advance(STAYS.total_seconds())


async def at_the_gate(_: HostedShop, visitor: Visitor, __: str) -> None:
    """Visit a page that is protected."""
    await visitor.gate()


async def revoked(shop: HostedShop, *_: object) -> None:
    """Take the access back."""
    await shop.desk.revoke("cs_1", "asked by the buyer")


async def erased(shop: HostedShop, *_: object) -> None:
    """Erase the buyer."""
    await shop.privacy.erase(BUYER, "asked by the buyer")


async def a_year(shop: HostedShop, *_: object) -> None:
    """Wait until the access has ended."""
    shop.clock.advance(timedelta(days=366).total_seconds())


TAKING, ENDING = (by_button, at_the_gate, ten_others, a_day), (revoked, erased, a_year)
USUAL = [*permutations(TAKING, 2), *product(TAKING[:2], ENDING), *permutations((by_button, ten_others, a_day), 3)]
ORDERS = [order for count in range(4) for order in permutations(TAKING + ENDING, count)] if SOAKING else USUAL
"""Of two steps those that take a place or end what took one, of three those that take and free one; or all."""


@each_case("steps", ORDERS)
async def test_page_and_gate_agree(steps: Sequence[Before]) -> None:
    """Whatever happened, in any order: the page says `opened` where the gate opens, whichever is asked first."""
    answers = list[tuple[bool, bool]]()
    for page_first in (True, False):
        shop = HostedShop()
        visitor = Visitor(shop)
        await sold(shop)
        [link] = await links(shop)
        for step in steps:
            await step(shop, visitor, link)
        gate = None if page_first else await visitor.gate()
        pages = [await visitor.get(path) for path in (OPENED, f"{ENDED}?product={PRODUCT.name}")]
        gate = await visitor.gate() if gate is None else gate
        said = {said_of(page.text, "opened") for page in pages}
        assert said == {gate == 204}
        elsewhere = Visitor(shop, "198.51.100.9", visitor.cookies)
        assert gate != 204 or (await elsewhere.get(BACK)).status_code == 303
        answers.append((gate == 204, said_of(pages[1].text, "full")))
    assert answers[0] == answers[1]


async def test_the_eleventh_in_a_day_is_refused_at_the_button() -> None:
    """It reads why, and opens a day later, when the one that was used longest ago makes room."""
    shop = HostedShop()
    eleventh = Visitor(shop, "203.0.113.99")
    await sold(shop)
    [link] = await links(shop)
    others = [Visitor(shop, f"203.0.113.{at}") for at in range(MOST)]
    for one in others:
        await one.post(link)
        assert await one.gate() == 204
    refused = await eleventh.post(link)
    assert (refused.status_code, said_of(refused.text, "full"), bool(eleventh.cookies)) == (403, True, False)
    assert "Answer the e-mail with the link" in refused.text
    shop.clock.advance(STAYS.total_seconds())
    assert [await one.gate() for one in others[1:]] == [204] * (MOST - 1)
    assert (await eleventh.post(link)).status_code == 303
    assert [await one.gate() for one in (eleventh, others[0])] == [204, 401]
    assert (await others[0].post(link)).status_code == 403


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


@pytest.mark.parametrize("ended_by", ["new link", "change address", "revoke"])
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
    else:
        _ = await shop.desk.revoke("cs_1", "asked by the buyer")
    shown = "ended" if ended_by == "revoke" else "gone"
    assert said_of((await visitor.get(link)).text, shown)
    assert said_of((await visitor.post(link)).text, shown)
    assert await visitor.gate() != 204
    if ended_by == "new link":
        assert (await Visitor(shop).get(BACK)).status_code == 200
        [newest] = await links(shop)
        assert (await visitor.post(newest)).status_code == 303


async def test_an_erased_buyer_keeps_the_link() -> None:
    """The browsers and the address are erased; the access stays open to those who have the e-mail alone."""
    shop = HostedShop()
    visitor = Visitor(shop)
    await sold(shop)
    [link] = await links(shop)
    _ = await visitor.post(link)
    _ = await shop.privacy.erase(BUYER, "asked by the buyer")
    assert await visitor.gate() == 401
    for anybody in (visitor, Visitor(shop)):
        assert (await anybody.get(BACK)).status_code == 200
    _ = await visitor.post(link)
    assert await visitor.gate() == 204


async def test_no_key_is_kept(clock: ManualClock, store: UnreliableStore) -> None:
    """What is stored has no key of a link, before and after the e-mail was sent; a wrong key costs no read."""
    shop = HostedShop(clock, store)
    await sold(shop)
    [link] = await links(shop)
    key = link.rpartition(".")[2]
    assert len(key) == 22
    assert [one.key for one in await shop.entries() if key in f"{one.key} {one.value!r}"] == []
    store.reads.clear()
    for wrong in (
        link[:-1],
        f"{link}x",
        link.replace(shop.stored.references.link_to("cs_1", 0), shop.stored.references.link_to("cs_2", 0)),
        link.replace(".0.", ".1."),
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
    pages = list[httpx2.Response]()
    for at, address in enumerate((BUYER, f" {BUYER.upper()} ", "eve@example.org", "nobody", "@")):
        pages.append(await Visitor(shop, f"203.0.113.{at}").post("/guided/lost", email=address))
        await finished(shop)
        shop.clock.advance(600)
    assert {one.status_code for one in pages} == {200}
    assert len({re.sub(r'value="[^"]*"', "", one.text) for one in pages}) == 1
    assert await links(shop) == [first]
    assert {one.to for one in await shop.told() if one.channel == "email"} == {BUYER}
    shop.clock.advance(3600)
    _ = await Visitor(shop, "203.0.113.99").post("/guided/lost", email=BUYER)
    await finished(shop)
    assert await links(shop) == [first]
    _ = await shop.desk.revoke("cs_1", "asked by the buyer")
    shop.clock.advance(3600)
    _ = await Visitor(shop, "203.0.113.99").post("/guided/lost", email=BUYER)
    await finished(shop)
    assert await links(shop) == []


async def test_one_client_may_not_ask_for_many() -> None:
    """The sixth within ten minutes is told to wait, another client is not, and no form of another page counts."""
    shop = HostedShop()
    for _ in range(6):
        elsewhere = await Visitor(shop, "2001:db8::1").post("/guided/lost", {"Sec-Fetch-Site": "cross-site"})
        assert elsewhere.status_code == 403
        shop.clock.advance(60)  # another limit, of all pages
    asked = [await Visitor(shop, f"2001:db8::{at}").post("/guided/lost", email=BUYER) for at in range(5)]
    shop.clock.advance(60)
    refused = await Visitor(shop, "2001:db8::9").post("/guided/lost", email=BUYER)
    assert [one.status_code for one in (*asked, refused)] == [200] * 5 + [429]
    assert refused.headers["retry-after"] == "540"
    assert said_of(refused.text, "busy")
    assert (await Visitor(shop, "203.0.113.1").post("/guided/lost", email=BUYER)).status_code == 200
    await finished(shop)


async def test_strangers_shut_no_buyer_out() -> None:
    """However often strangers ask for an address, it gets one e-mail an hour, and so does its buyer who asks."""
    shop = HostedShop()
    await sold(shop)
    [first] = await links(shop)
    for hour in range(3):
        for at in range(12):
            stranger = Visitor(shop, f"198.51.{hour}.{at}")
            assert said_of((await stranger.post("/guided/lost", email=BUYER)).text, "sent")
            await finished(shop)
        assert await links(shop) == [first]
        shop.clock.advance(3600)
    _ = await Visitor(shop).post("/guided/lost", email=BUYER)
    await finished(shop)
    assert await links(shop) == [first]
