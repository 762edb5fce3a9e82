"""The demo planet: what its pages say and do, beside a tiny remote that stands for Orrery's public operations."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from starlette.responses import JSONResponse, PlainTextResponse, Response

from orrery.errors import Invalid
from orrery.sandbox.site import SiteConfig, SiteProduct
from tests.support.planet_visitor import BUYER, NAVIGATOR, PRACTICE, Visitor
from tests.support.site_operations import TOKEN, OperationsStub

PILOT = SiteProduct("northwind", "cloud-pilot", "Cloud Pilot <beta>", "US$59", "One year.")
FORM = {"vendorSlug": "northwind", "certCode": "cloud-navigator", "intent": "one-intent"}


class Markup(HTMLParser):
    """Every start tag of a page, with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a tag."""
        self.tags.append((tag, dict(attrs)))


def test_shop_shows_title_price_and_trust_copy(visitor: Visitor) -> None:
    """The shop page shows the product's title, price and trust copy."""
    page = visitor.get("/")
    assert page.status_code == 200
    for words in (NAVIGATOR.title, NAVIGATOR.price_text, NAVIGATOR.trust_copy, "Buy"):
        assert words in page.text


def test_shop_names_what_is_sold(visitor: Visitor) -> None:
    """The shop page says: one year, instant, no subscription, no auto-renewal."""
    page = visitor.get("/").text
    for words in ("One year", "Instant access", "No subscription", "No auto-renewal"):
        assert words in page


def test_texts_are_escaped(operations: OperationsStub) -> None:
    """A title with markup in it is shown as text."""
    page = Visitor(operations, PILOT).get("/").text
    assert "Cloud Pilot &lt;beta&gt;" in page
    assert "<beta>" not in page


def test_shop_without_products_is_refused() -> None:
    """A site with nothing to sell cannot be configured."""
    with pytest.raises(Invalid, match="at least one product"):
        SiteConfig("http://127.0.0.1:1", TOKEN, ())


def test_config_hides_its_token() -> None:
    """The service token does not show in the configuration's representation."""
    assert TOKEN not in repr(SiteConfig("http://127.0.0.1:1", TOKEN, (NAVIGATOR,)))


def test_each_product_has_its_page(operations: OperationsStub) -> None:
    """With two products the front page shows the first and links to the second."""
    visitor = Visitor(operations, NAVIGATOR, PILOT)
    assert PILOT.shop_path in visitor.get("/").text
    assert "US$59" in visitor.get(PILOT.shop_path).text


@pytest.mark.parametrize(
    "path", ["/nowhere", "/shop/northwind/other", "/practice/northwind/other", "/site/x/site.css"]
)
def test_unknown_addresses_are_404_pages(visitor: Visitor, path: str) -> None:
    """An address without a page answers 404 with a page that leads back to the shop."""
    page = visitor.get(path)
    assert page.status_code == 404
    assert "There is no such page" in page.text


def test_buying_without_javascript_leads_to_the_payment_page(visitor: Visitor, operations: OperationsStub) -> None:
    """The posted form starts a checkout of that product and answers 303 to its payment page."""
    answer = visitor.post("/buy", FORM)
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"{operations.payment_url}/cs_test_1"
    assert operations.bodies == [{"productType": "cert", "certCode": "cloud-navigator", "vendorSlug": "northwind"}]


def test_posting_one_form_twice_gives_one_session(visitor: Visitor, operations: OperationsStub) -> None:
    """A double click without JavaScript carries one idempotency key, so both lead to the same session."""
    answers = [visitor.post("/buy", FORM) for _ in range(2)]
    assert len({answer.headers["Location"] for answer in answers}) == 1
    assert list(operations.sessions) == ["one-intent"]


def test_each_shop_page_carries_a_fresh_intent(visitor: Visitor) -> None:
    """Two visits to the shop are two intents."""
    intents = [re.findall(r'name="intent" value="(\w+)"', visitor.get("/").text) for _ in range(2)]
    assert intents[0] != intents[1]


def test_refusal_is_shown_in_the_operations_words(visitor: Visitor, operations: OperationsStub) -> None:
    """A refused checkout shows the operation's sentence, its status and its Retry-After."""
    problem = {"error": "too-many-requests", "message": "Too many attempts; try again in 30 seconds."}
    operations.answer = JSONResponse(problem, 429, {"Retry-After": "30"})
    page = visitor.post("/buy", FORM)
    assert (page.status_code, page.headers["Retry-After"]) == (429, "30")
    assert problem["message"] in page.text


@pytest.mark.parametrize(
    "answer",
    [PlainTextResponse("<html>Bad gateway</html>", 502), JSONResponse({"id": "cs_1"}), PlainTextResponse("", 200)],
)
def test_unusable_checkout_answer_says_nothing_was_charged(
    visitor: Visitor, operations: OperationsStub, answer: Response
) -> None:
    """When the checkout gives no usable answer, the shop page says so with a 503."""
    operations.answer = answer
    page = visitor.post("/buy", FORM)
    assert page.status_code == 503
    assert "Nothing was charged" in page.text


def test_buying_what_is_not_sold_is_a_404(visitor: Visitor, operations: OperationsStub) -> None:
    """A form that names another product calls no operation."""
    assert visitor.post("/buy", FORM | {"certCode": "other"}).status_code == 404
    assert operations.bodies == []


def test_oversized_form_is_refused(visitor: Visitor, operations: OperationsStub) -> None:
    """A form beyond 4 KiB is a 413 and calls no operation."""
    assert visitor.post("/buy", FORM | {"intent": "x" * 5000}).status_code == 413
    assert operations.bodies == []


def test_practice_opens_for_a_granted_access(buyer: Visitor, operations: OperationsStub) -> None:
    """The practice page asks for this session and product, and opens."""
    page = buyer.get(PRACTICE)
    assert page.status_code == 200
    assert page.text.count("<fieldset") >= 5
    assert operations.bodies[-1] == {"sessionId": BUYER, "certCode": "cloud-navigator", "vendorSlug": "northwind"}


def test_practice_without_a_purchase_is_closed(visitor: Visitor, operations: OperationsStub) -> None:
    """Without the cookie the practice page is a 403 that links to the shop, and asks nobody."""
    page = visitor.get(PRACTICE)
    assert page.status_code == 403
    assert NAVIGATOR.shop_path in page.text
    assert operations.bodies == []


@pytest.mark.parametrize("state", ["pending", "ended"])
def test_practice_is_closed_unless_granted(buyer: Visitor, operations: OperationsStub, state: str) -> None:
    """A pending or ended access does not open the practice page."""
    operations.access[BUYER] = state
    page = buyer.get(PRACTICE)
    assert page.status_code == 403
    assert "<fieldset" not in page.text


@pytest.mark.parametrize(
    "answer",
    [
        JSONResponse({"error": "unauthorized", "message": "No."}, 401),
        JSONResponse({"granted": "yes", "expires_at": None}),
        JSONResponse({"granted": True, "expires_at": None}, 500),
        PlainTextResponse("<html>granted</html>"),
        JSONResponse([]),
    ],
)
def test_practice_never_opens_on_an_unusable_answer(
    buyer: Visitor, operations: OperationsStub, answer: Response
) -> None:
    """Anything but a proper answer is a 503 page without a question on it."""
    operations.answer = answer
    page = buyer.get(PRACTICE)
    assert page.status_code == 503
    assert "stays closed" in page.text
    assert "<fieldset" not in page.text


def test_practice_gives_up_at_its_deadline(operations: OperationsStub) -> None:
    """A service that takes the question and stays silent makes a 503, not a page that hangs."""
    operations.silent = True
    visitor = Visitor(operations, access_deadline=0.05)
    visitor.cookies.set("planet_session", BUYER)
    assert visitor.get(PRACTICE).status_code == 503


def test_answers_are_judged_without_javascript(buyer: Visitor) -> None:
    """A submitted question comes back with its verdict and the reason."""
    page = buyer.get(f"{PRACTICE}?q1=1&q2=0&q3=%C2%B2").text
    shown = re.findall(r'class="verdict" role="status">(.*?)</div>', page)
    assert "Correct." in shown[0]
    assert "Not quite." in shown[1]
    assert shown[2] == ""


def test_product_without_questions_says_so(operations: OperationsStub) -> None:
    """A certification whose questions are not written yet opens with a sentence instead."""
    visitor = Visitor(operations, PILOT)
    visitor.cookies.set("planet_session", BUYER)
    assert "are being written" in visitor.get(PILOT.practice_path).text


def test_cancelled_says_nothing_was_charged(visitor: Visitor) -> None:
    """The page after a cancelled payment says that nothing was charged."""
    assert "Nothing was charged" in visitor.get("/cancelled").text


def every_page(visitor: Visitor) -> Iterator[str]:
    """Yield every kind of page."""
    for path in ("/", "/cancelled", "/nowhere", "/success", PRACTICE, f"/success?session_id={BUYER}", PRACTICE):
        yield visitor.get(path).text


def test_pages_need_no_inline_code_and_no_other_host(visitor: Visitor) -> None:
    """No page has inline scripts, styles or handlers, nor an address on another host."""
    for page in every_page(visitor):
        for tag, attributes in Markup(page).tags:
            assert tag != "style"
            assert tag != "script" or attributes["src"]
            assert not [name for name in attributes if name == "style" or name.startswith("on")]
            for name in ("src", "href", "action"):
                assert re.match("#|/(?!/)", attributes.get(name) or "/")


def test_pages_say_what_they_may_load(operations: OperationsStub) -> None:
    """Pages allow themselves this origin only, and forms that lead here or to the payment page."""
    policy = Visitor(operations).get("/").headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'self';")
    assert policy.endswith("form-action 'self' https://pay.test")


def test_pages_have_one_heading_and_one_main(visitor: Visitor) -> None:
    """Every page has one main landmark with one first heading, and names its language."""
    for page in every_page(visitor):
        shown = re.sub(r"<template.*?</template>", "", page, flags=re.DOTALL)
        tags = [tag for tag, _ in Markup(shown).tags]
        assert (tags.count("main"), tags.count("h1")) == (1, 1)
        assert ("html", {"lang": "en"}) in Markup(page).tags


def test_pages_are_never_stored_and_files_for_ever(visitor: Visitor) -> None:
    """Pages are not stored and name their address to nobody; static files are kept for ever."""
    page = visitor.get("/")
    assert page.headers["Cache-Control"] == "private, no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    files = re.findall(r'"(/site/\w+/[\w.]+)"', page.text)
    assert len(files) == 6
    for path in files:
        assert "immutable" in visitor.get(path).headers["Cache-Control"]


def test_answers_of_the_questions_exist(buyer: Visitor) -> None:
    """Every question's right answer is one of its choices."""
    page = buyer.get(PRACTICE).text
    for form in page.split("<form")[1:]:
        right = re.search(r'data-right="(\d+)"', form)
        assert right
        assert f'value="{right[1]}"' in form


def test_wrong_service_token_opens_nothing(operations: OperationsStub) -> None:
    """With a token that Orrery refuses, the practice page stays closed even to a buyer."""
    visitor = Visitor(operations, token="another-token")  # noqa: S106 - a token that opens nothing
    visitor.get(f"/success?session_id={BUYER}")
    assert visitor.get(PRACTICE).status_code == 503
