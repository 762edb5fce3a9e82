"""The buy button on a site's page: a real service and sandbox, and a page as hostile as a site's may be."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.accessibility import violations_in_both_schemes
from tests.browser.buying import BUY, FORM, HOSTILE, Answer, Site, await_payment, offline, pass_on, refuse, unsold
from tests.browser.conftest import ARGUMENTS, CHROMIUM, OpenPage, Watch, looks, path_of
from tests.support.deployment import Deployment, Product, running
from tests.support.tables import each_case

TAKE_AWAY = """(element) => {
  const answered = new MutationObserver(() => (document.title = "Answered"));
  answered.observe(element.shadowRoot, { attributes: true, subtree: true });
  window.taken = element;
  element.remove();
}"""

EDGE = """(button) => {
  const edge = getComputedStyle(button);
  return edge.borderTopWidth !== "0px" && edge.borderTopColor !== getComputedStyle(document.body).backgroundColor;
}"""
NAME = "Buy exam exam $49.00"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run one service beside its sandbox."""
    products = [Product("exam"), Product("other")]
    often = "sessions_per_minute = 1000\nsessions_per_hour = 1000"
    with running(Deployment(tmp_path_factory.mktemp("shop"), products=products, more_checkout=often)) as one:
        yield one


@pytest.fixture
def site(shop: Deployment, page: Page) -> Site:
    """Return the site."""
    return Site(shop, page)


def test_a_click_leads_to_the_payment_page(site: Site, page: Page) -> None:
    """Under a strict policy, the button names product and price, and a double click opens one payment of it."""
    site.open()
    before = site.sessions()
    page.get_by_role("button", name=NAME, exact=True).dblclick()
    await_payment(page)
    assert site.sessions() == before + 1
    assert [one.post_data_json for one in site.asked] == [
        {"productType": "cert", "certCode": "exam", "vendorSlug": "northwind"}
    ]


def test_the_keyboard_is_enough_and_the_focus_stays(site: Site, page: Page) -> None:
    """Tab and Enter are enough; while the answer is waited for, the button keeps the focus, and says so."""
    held = site.hold()
    site.open()
    button = page.get_by_role("button", name=NAME)
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
    assert button.evaluate("(button) => getComputedStyle(button).outlineStyle") != "none"
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Opening the payment page…")
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(button).to_be_focused()
    page.keyboard.press("Space")
    held().continue_()
    await_payment(page)
    assert len(site.asked) == 1


SAID: list[tuple[Answer, str, str]] = [
    (offline, "No answer came", "Es kam keine Antwort"),
    (refuse(502), "cannot be opened now", "lässt sich gerade nicht öffnen"),
    (refuse(503), "cannot be opened now", "lässt sich gerade nicht öffnen"),
    (unsold, "is not sold here", "wird hier nicht verkauft"),
    (refuse(404), "is not sold here", "wird hier nicht verkauft"),
    (refuse(429, Retry_After="61"), "Try again in 2 min.", "in 2 min noch einmal."),
    (refuse(429), "Try again in 1 min.", "in 1 min noch einmal."),
    (refuse(200), "No answer came", "Es kam keine Antwort"),
]


@each_case(("answer", "english", "german"), SAID)
def test_what_went_wrong_is_said(
    answer: Answer, english: str, german: str, site: Site, page: Page, watch: Watch
) -> None:
    """Each failure is a sentence in the page's language that says what to do; the button waits no more."""
    site.orders(answer)
    for lang, said, charged in (
        ("en-GB", english, "nothing was charged"),
        ("de-AT", german, "es wurde nichts abgebucht"),
    ):
        site.open(lang=lang)
        page.get_by_role("button").click()
        expect(page.get_by_role("status")).to_contain_text(said)
        expect(page.get_by_role("status")).to_contain_text(charged)
        expect(page.get_by_role("button")).to_have_attribute("aria-disabled", "false")
    watch.complaints.clear()


def test_the_next_click_after_a_lost_answer_is_the_same_order(site: Site, page: Page, watch: Watch) -> None:
    """After a lost answer the next click leads to the same session; after a refusal it is a new order."""

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    site.open()
    before = site.sessions()
    button = page.get_by_role("button")
    expect(button).to_have_attribute("aria-disabled", "false")
    for answer in (lose, refuse(503), refuse(429)):
        site.orders(answer)
        button.click()
        expect(button).to_have_attribute("aria-disabled", "false")  # answered, before another answer is set
    site.orders(pass_on)
    button.click()
    await_payment(page)
    keys = [one.headers["idempotency-key"] for one in site.asked]
    assert (keys[0] == keys[1] == keys[2], keys[2] == keys[3]) == (True, False)
    assert site.sessions() == before + 2
    watch.complaints.clear()


def test_a_payment_page_that_does_not_come_can_be_opened_again(site: Site, page: Page) -> None:
    """Ten seconds after the answer, the button works again, and leads to the same session."""
    page.clock.install()
    payments: list[str] = []

    def no_page(route: Route) -> None:
        payments.append(route.request.url)
        route.fulfill(status=204)

    page.route("**/pay/*", no_page)
    site.open()
    for _ in range(2):
        with page.expect_request("**/pay/*"):
            page.get_by_role("button").click()
        expect(page.get_by_role("button")).to_have_attribute("aria-disabled", "true")
        page.clock.run_for(10_000)
        expect(page.get_by_role("button")).to_have_attribute("aria-disabled", "false")
    assert len(payments) == 2
    assert len({*payments}) == 1


def test_a_slow_answer_is_waited_for(site: Site, page: Page) -> None:
    """The service may ask its processor for longer than ten seconds; after thirty there is no answer any more."""
    page.clock.install()
    held = site.hold()
    site.open()
    page.get_by_role("button").click()
    page.clock.run_for(20_000)
    expect(page.get_by_role("status")).to_have_text("Opening the payment page…")
    held().continue_()
    await_payment(page)


def test_the_back_button_brings_a_button_that_is_ready(chromium: Browser, shop: Deployment) -> None:
    """A page that the browser kept as it was left, waiting, is ready when it comes back."""
    browser = chromium.browser_type.launch(
        executable_path=path_of(CHROMIUM),  # the one without windows keeps no page
        args=ARGUMENTS,
        ignore_default_args=["--disable-back-forward-cache"],
    )
    page = browser.new_page()
    site = Site(shop, page)
    site.open()
    page.evaluate("addEventListener('pageshow', (event) => (document.title = event.persisted))")
    page.get_by_role("button").click()
    await_payment(page)
    page.go_back(wait_until="commit")
    expect(page).to_have_title("true")
    expect(page.get_by_role("status")).to_be_empty()
    expect(page.get_by_role("button")).to_have_attribute("aria-disabled", "false")
    page.get_by_role("button").click()
    await_payment(page)
    assert len({one.headers["idempotency-key"] for one in site.asked}) == 2
    browser.close()


def test_another_product_takes_the_place_of_an_order(site: Site, page: Page) -> None:
    """Where an attribute changes, the answer that is on its way leads nowhere; the next click buys the other."""
    held = site.hold()
    site.open()
    page.get_by_role("button").click()
    page.locator("orrery-buy").evaluate("(one) => one.setAttribute('cert', 'other')")
    button = page.get_by_role("button", name="Buy other exam $49.00", exact=True)
    expect(button).to_have_attribute("aria-disabled", "false")
    with page.expect_response("**/guided/api/checkout"):
        held().continue_()
    site.orders(pass_on)
    button.click()
    await_payment(page)
    assert site.products() == ["exam", "other"]


def test_a_button_that_is_taken_away_leads_nowhere(site: Site, page: Page) -> None:
    """A button removed while it waits opens nothing; put back, it is ready."""
    held = site.hold()
    site.open()
    page.get_by_role("button").click()
    page.locator("orrery-buy").evaluate(TAKE_AWAY)
    held().continue_()
    expect(page).to_have_title("Answered")
    page.evaluate("document.querySelector('main').append(window.taken)")
    expect(page.get_by_role("button")).to_have_attribute("aria-disabled", "false")
    expect(page.get_by_role("status")).to_be_empty()
    assert page.url.endswith("/shop")


def test_many_buttons_ask_for_the_products_once(site: Site, page: Page) -> None:
    """Buttons at any time and by any script share one question; each waits for itself."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    site.orders(lambda _: None)
    site.script += (
        '<script defer src="/guided/buy.js?old"></script><script defer src="/guided/buy.js?old"></script>'
    )
    site.open(BUY + '<orrery-buy vendor="northwind" cert="other"></orrery-buy>')
    page.evaluate("""() => {
      const late = document.createElement("orrery-buy");
      document.querySelector("main").append(late);
      late.setAttribute("vendor", "northwind");
      late.setAttribute("cert", "exam");
      late.lang = "de";
    }""")
    names = [NAME, "Buy other exam $49.00", "exam exam kaufen 49,00 $"]
    for name in names:
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()
    page.get_by_role("button", name=names[1]).click()
    expect(page.get_by_role("button", disabled=True)).to_have_text(names[1])
    assert len([one for one in asked if one.endswith("/products")]) == 1


PRICED = [
    ("jpy", 4900, 0, "¥4,900"),
    ("huf", 499050, 2, "HUF 4,990.50"),
    ("kwd", 4900, 3, "KWD 4.900"),
    (None, None, None, ""),
]


@each_case(("currency", "price", "decimals", "shown"), PRICED)
def test_a_price_has_the_digits_of_its_currency(
    currency: str | None, price: int | None, decimals: int | None, shown: str, site: Site, page: Page
) -> None:
    """The smallest unit is the payment processor's, and nothing of it is rounded away."""
    one = {
        "vendor": "northwind",
        "cert": "exam",
        "title": "CISSP",
        "sold": True,
        "price": price,
        "currency": currency,
    }
    page.route("**/guided/api/products", lambda route: route.fulfill(json=[one | {"decimals": decimals}]))
    site.open()
    name = f"Buy CISSP {shown}".strip().replace("HUF ", "HUF\xa0").replace("KWD ", "KWD\xa0")
    expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()


@each_case(("lang", "said"), [("en", "is not sold here."), ("de", "wird hier nicht verkauft.")])
def test_what_is_not_sold_is_said_before_a_click(lang: str, said: str, site: Site, page: Page) -> None:
    """A product that the service lists as not sold."""
    listed = {"vendor": "northwind", "cert": "exam", "title": "Exam", "sold": False, "currency": None}
    page.route("**/guided/api/products", lambda route: route.fulfill(json=[listed]))
    site.open(lang=lang)
    expect(page.get_by_role("status")).to_contain_text(said)


UNNAMED = [
    ('<orrery-buy vendor="northwind" cert="exam"></orrery-buy>', "Buy"),
    (BUY, "Get the questions"),
    ('<orrery-buy vendor="northwind" cert="exam" label="Get access"></orrery-buy>', "Get access"),
    ('<orrery-buy vendor="northwind" cert="exam" lang="de"></orrery-buy>', "Kaufen"),
]


@each_case(("markup", "name"), UNNAMED)
def test_without_a_price_the_button_still_sells(
    markup: str, name: str, site: Site, page: Page, watch: Watch
) -> None:
    """Where the service does not tell the products, the button has the owner's words or its own, and works."""
    page.route("**/guided/api/products", refuse(503))
    site.hold()
    site.open(markup)
    with page.expect_request("**/guided/api/checkout"):
        page.get_by_role("button", name=name, exact=True).click()
    watch.forgive("503")


def test_the_form_alone_names_the_product(site: Site, page: Page) -> None:
    """An element without attributes takes the product from its form; a label replaces all words."""
    site.open(f'<orrery-buy label="Get access">{FORM}</orrery-buy>')
    button = page.get_by_role("button", name="Get access $49.00, exam exam", exact=True)
    expect(button).to_have_text("Get access $49.00")
    button.click()
    await_payment(page)


def test_without_javascript_the_form_is_there(open_page: OpenPage, shop: Deployment) -> None:
    """A reader without JavaScript sees the owner's form, which leads to the payment page."""
    page = open_page(java_script_enabled=False)
    Site(shop, page).open()
    page.get_by_role("button", name="Get the questions", exact=True).click()
    await_payment(page)


def test_the_style_of_the_page_stays_outside(site: Site, page: Page) -> None:
    """A page that resets and hides everything leaves the button as large and as readable as it is."""
    site.open(css=HOSTILE)
    button = page.get_by_role("button", name=NAME, exact=True)
    expect(button).to_be_visible()
    expect(button).to_have_css("background-color", "rgb(63, 60, 166)")
    expect(button).to_have_css("color", "rgb(255, 255, 255)")
    box = button.bounding_box()
    assert box
    assert box["height"] >= 24  # WCAG 2.5.8
    button.click()
    await_payment(page)


def test_the_owner_dresses_the_button(site: Site, page: Page) -> None:
    """Custom properties and parts are what a page's style reaches."""
    css = """orrery-buy { --orrery-buy-background: rgb(1, 2, 3); --orrery-buy-ink: rgb(4, 5, 6);
      --orrery-buy-radius: 7px; --orrery-buy-font: 20px monospace }
      orrery-buy::part(price) { color: rgb(7, 8, 9) }
      orrery-buy::part(status) { color: rgb(10, 11, 12) }"""
    site.open(css=css)
    button = page.get_by_role("button")
    expect(button).to_have_css("background-color", "rgb(1, 2, 3)")
    expect(button).to_have_css("color", "rgb(4, 5, 6)")
    expect(button).to_have_css("border-radius", "7px")
    expect(button).to_have_css("font-size", "20px")
    expect(page.get_by_text("$49.00")).to_have_css("color", "rgb(7, 8, 9)")
    expect(page.get_by_role("status")).to_have_css("color", "rgb(10, 11, 12)")


@each_case(("lang", "more"), [("en", ""), ("de", ""), ("ar", 'dir="rtl"')])
def test_no_look_has_a_barrier(lang: str, more: str, site: Site, page: Page, watch: Watch) -> None:
    """axe-core finds nothing; nothing is cut off at 320 px, which is 400 percent; forced colours keep an edge."""
    site.orders(offline)
    site.open(lang=lang, more=more)
    page.get_by_role("button").click()
    expect(page.get_by_role("status")).not_to_be_empty()
    assert violations_in_both_schemes(page) == []
    assert len([*looks(page)]) > 1
    page.emulate_media(forced_colors="active")
    assert page.get_by_role("button").evaluate(EDGE)
    page.emulate_media(forced_colors="none")
    page.set_viewport_size({"width": 320, "height": 256})
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    watch.forgive("ERR_INTERNET_DISCONNECTED")
