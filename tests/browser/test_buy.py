"""The whole way through the running demo, clicked in a real browser: shop, payment, access, practice."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import violations_in_both_schemes
from tests.browser.conftest import OpenPage, Watch
from tests.support.demo import Demo, running_demo
from tests.support.soak import SOAKING
from tests.support.waiting import eventually

BUYER = "ada@example.test"
UNTIL = re.compile(r"Access until \d{1,2}\s\w+\s20\d\d")


FOCUSED = "(document.activeElement.shadowRoot?.activeElement ?? document.activeElement)"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """Run one demo for these tests; it has logged no error when Ctrl-C ends it."""
    with running_demo(tmp_path_factory.mktemp("demo") / "data") as demo:
        yield demo
        assert demo.press_ctrl_c() == 0
        assert demo.errors() == []


def go_and_buy(page: Page, demo: Demo) -> None:
    """Go from the shop to the payment page."""
    page.goto(demo.shop)
    page.get_by_role("button", name="Buy").click()
    expect(page.get_by_role("heading", name="Your order")).to_be_visible()


def pay(page: Page, email: str = BUYER) -> None:
    """Fill in the payment page and pay."""
    page.get_by_label("E-mail").fill(email)
    page.get_by_role("button", name="Pay").click()


def buy(page: Page, demo: Demo, email: str = BUYER) -> None:
    """Buy, and wait until the access is open."""
    go_and_buy(page, demo)
    pay(page, email)
    expect(page.get_by_role("heading", level=1)).to_have_text(UNTIL)


def test_from_the_shop_to_the_questions(demo: Demo, page: Page) -> None:
    """Buy, pay, see the access open by itself at an address without the session's id, and practise."""
    buy(page, demo)
    assert page.url == f"{demo.shop}/guided/success?product=northwind/cloud-navigator&opened"
    page.get_by_role("link", name="Start practising").click()
    first = page.get_by_role("group").first
    first.get_by_label("The same idempotency key").check()
    first.get_by_role("button", name="Check answer").click()
    expect(first.get_by_role("status")).to_contain_text("Correct.")


def test_the_same_way_with_the_keyboard_only(demo: Demo, page: Page) -> None:
    """Tab, typing and Enter are enough, and what has the focus shows it."""
    page.goto(demo.shop)
    tab_to(page, "Buy one year of access\n$49.00")
    assert page.evaluate(f"getComputedStyle({FOCUSED}).outlineStyle") in {"solid", "auto"}
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Your order").wait_for()
    tab_to(page, "E-mail")
    page.keyboard.type(BUYER)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(UNTIL)
    tab_to(page, "Start practising")
    page.keyboard.press("Enter")
    page.get_by_role("group").first.wait_for()
    tab_to(page, "A longer timeout on the second attempt")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("group").first.get_by_role("status")).to_contain_text("Correct.")


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the element of that name has the focus."""
    named = f"{FOCUSED}.labels?.[0]?.innerText || {FOCUSED}.innerText"
    for _ in range(30):
        page.keyboard.press("Tab")
        if str(page.evaluate(named)).strip() == name:
            return
    pytest.fail(f"the keyboard does not reach {name}")


def test_declined_card_buys_nothing(demo: Demo, page: Page, watch: Watch) -> None:
    """A declined card keeps the buyer on the payment page with a reason; another try may succeed."""
    go_and_buy(page, demo)
    page.get_by_label("The bank's answer").select_option("declined")
    pay(page)
    expect(page.get_by_role("alert")).to_contain_text("did not go through")
    watch.forgive("402")
    page.get_by_label("The bank's answer").select_option("approved")
    pay(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(UNTIL)


def test_turning_back_charges_nothing(demo: Demo, page: Page) -> None:
    """Back from the payment page says that nothing was charged, and the practice page stays closed."""
    go_and_buy(page, demo)
    page.get_by_role("link", name="Back to the shop").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing was charged")
    page.get_by_role("link", name="Back to the shop").click()
    page.get_by_role("link", name="Practice").click()
    expect(page.get_by_label("Your e-mail address")).to_be_visible()


def test_one_tap_opens_another_browser(demo: Demo, page: Page, open_page: OpenPage) -> None:
    """A second browser is closed; the lost link comes by e-mail, shows what it opens, and its button opens it."""
    email = "grace@example.test"
    buy(page, demo, email)
    other = open_page()
    other.goto(f"{demo.shop}/practice/northwind/cloud-navigator")
    other.get_by_label("Your e-mail address").fill(email)
    other.get_by_role("button", name="Send the link").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Look into your mailbox")
    key = follow_the_link(other, demo, email).rpartition(".")[2]
    expect(other.get_by_role("main")).to_contain_text("Cloud Navigator, until")
    other.get_by_role("button", name="Open in this browser").click()
    expect(other.get_by_role("heading", level=1)).to_have_text(UNTIL)
    other.get_by_role("link", name="Start practising").click()
    expect(other.get_by_role("group")).to_have_count(6)
    kept = [path.read_bytes() for path in demo.data.glob("orrery.db*")]
    assert len(key) == 22
    assert key.encode() not in b"".join([*kept, demo.program.printed().encode()])


def follow_the_link(page: Page, demo: Demo, email: str) -> str:
    """Open the link in the newest e-mail to a buyer, once it has come, and return its address."""

    def click() -> str:
        page.goto(f"{demo.sandbox}/mail")
        sent = page.get_by_role("article").filter(has_text=email).get_by_role("link")
        assert sent.count() == 2
        sent.first.click()
        return page.url

    return eventually(click)


def test_unpaid_session_stays_open(demo: Demo, page: Page) -> None:
    """Typing the success address of an unpaid session opens nothing, and says that nothing was charged."""
    go_and_buy(page, demo)
    session_id = page.url.rpartition("/")[2]
    page.goto(f"{demo.shop}/guided/success?session_id={session_id}")
    expect(page.get_by_role("main")).to_contain_text("Nothing was charged")
    page.goto(f"{demo.shop}/practice/northwind/cloud-navigator")
    expect(page.get_by_role("heading", level=1)).to_have_text("Open your access in this browser")


def test_no_page_has_a_barrier(demo: Demo, open_page: OpenPage) -> None:
    """axe-core finds nothing wrong with any page on the way of a buyer, nor with the owner's, light or dark.

    What the tests of the hosted pages and the owner's page look at is looked at here in `./run soak looks`.
    """
    owner = {"username": "", "password": demo.password}
    page = open_page(reduced_motion="reduce", http_credentials=owner)
    page.goto(demo.shop)
    found = violations_in_both_schemes(page)
    go_and_buy(page, demo)
    found += violations_in_both_schemes(page)
    pay(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(UNTIL)
    found += violations_in_both_schemes(page) if SOAKING else []
    page.get_by_role("link", name="Start practising").click()
    found += violations_in_both_schemes(page)
    for address in (f"{demo.shop}/analytics", f"{demo.shop}/admin"):
        page.goto(address)
        found += violations_in_both_schemes(page)
    if SOAKING:
        page.goto(f"{demo.private}/owner")
        expect(page.get_by_role("region", name="Sales")).to_contain_text("sold today")
        found += violations_in_both_schemes(page)
    assert found == []
