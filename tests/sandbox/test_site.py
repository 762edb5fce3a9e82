"""The demo planet: what its pages say and do, beside a tiny remote that stands for Orrery's public operations."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urlencode

import anyio
import httpx2
import pytest
from starlette.responses import JSONResponse, PlainTextResponse, Response

from orrery.errors import Invalid
from orrery.sandbox.site import SiteConfig, SiteProduct, create_site
from tests.support.site_operations import TOKEN, OperationsStub
from tests.support.waiting import PATIENCE

NAVIGATOR = SiteProduct(
    "northwind", "cloud-navigator", "Cloud Navigator", "US$39", "Instant access. No auto-renewal."
)
PILOT = SiteProduct("northwind", "cloud-pilot", "Cloud Pilot <beta>", "US$59", "One year.")
PRACTICE = "/practice/northwind/cloud-navigator"
BUYER = "cs_test_buyer"
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


class Visitor:
    """A browser without JavaScript, with one cookie jar."""

    def __init__(
        self,
        operations: OperationsStub,
        *products: SiteProduct,
        access_deadline: float = PATIENCE,
        token: str = TOKEN,
    ) -> None:
        config = SiteConfig(
            "http://127.0.0.1:1", token, products or (NAVIGATOR,), "https://pay.test", access_deadline
        )
        self._site = create_site(config, httpx2.ASGITransport(operations.app()))
        self.cookies = httpx2.Cookies()

    def get(self, path: str) -> httpx2.Response:
        """Open a page."""
        return anyio.run(self._request, "GET", path, b"")

    def post(self, path: str, form: dict[str, str]) -> httpx2.Response:
        """Post a form."""
        return anyio.run(self._request, "POST", path, urlencode(form).encode())

    async def _request(self, method: str, path: str, body: bytes) -> httpx2.Response:
        transport = httpx2.ASGITransport(self._site)
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://planet.test", cookies=self.cookies
        ) as client:
            with anyio.fail_after(PATIENCE):
                answer = await client.request(method, path, content=body)
            self.cookies = client.cookies
            return answer


@pytest.fixture
def operations() -> OperationsStub:
    """Return operations that know one buyer with access."""
    return OperationsStub(access={BUYER: "granted"})


@pytest.fixture
def visitor(operations: OperationsStub) -> Visitor:
    """Return a visitor of a shop with one product."""
    return Visitor(operations)


@pytest.fixture
def buyer(visitor: Visitor) -> Visitor:
    """Return a visitor who came from the payment page with access granted."""
    visitor.get(f"/success?session_id={BUYER}")
    return visitor


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


def test_granted_access_shows_its_end(visitor: Visitor) -> None:
    """The success page of a granted access says until when, and links to the practice page."""
    page = visitor.get(f"/success?session_id={BUYER}").text
    assert "21 November 2027</time>" in page
    assert f'href="{PRACTICE}"' in page


@pytest.mark.parametrize("state", ["open", "pending", "granted", "ended", "failed", "unknown"])
def test_only_a_granted_access_is_called_paid(visitor: Visitor, operations: OperationsStub, state: str) -> None:
    """The words "Payment received" are said of a granted access and of no other session (decision 48)."""
    operations.access = {} if state == "unknown" else {BUYER: state}
    page = shown(visitor.get(f"/success?session_id={BUYER}").text)
    assert ("Payment received" in page) == (state == "granted")


def shown(page: str) -> str:
    """Return what a page shows by itself, without what it holds for later."""
    return re.sub(r"<template.*?</template>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("state", ["open", "failed"])
def test_who_did_not_pay_may_buy(visitor: Visitor, operations: OperationsStub, state: str) -> None:
    """A buyer whose payment was not completed, or failed, reads that nothing was taken, and is led to the shop."""
    operations.access[BUYER] = state
    page = shown(visitor.get(f"/success?session_id={BUYER}").text)
    assert re.search("Nothing was (charged|taken)", page)
    assert 'class="button" href="/"' in page
    assert "no need to pay again" not in page


@pytest.mark.parametrize("state", ["open", "failed"])
def test_what_opens_nothing_is_not_remembered(buyer: Visitor, operations: OperationsStub, state: str) -> None:
    """A session that was not paid does not take the place of the one that opens the practice page."""
    operations.access["cs_test_other"] = state
    buyer.get("/success?session_id=cs_test_other")
    assert buyer.get(PRACTICE).status_code == 200


def test_pending_access_refreshes_without_javascript(visitor: Visitor, operations: OperationsStub) -> None:
    """While pending, a page without JavaScript reloads itself, more and more slowly."""
    operations.access[BUYER] = "pending"
    page = visitor.get(f"/success?session_id={BUYER}").text
    assert "Confirming your payment…" in page
    pauses: list[int] = []
    while match := re.search(r'http-equiv="refresh" content="(\d+);url=([^"]+)"', page):
        pauses.append(int(match[1]))
        page = visitor.get(match[2].replace("&amp;", "&")).text
    assert pauses == sorted(pauses)
    assert 120 <= sum(pauses) <= 300
    assert "Do not pay again" in page


def test_unreachable_service_leaves_the_success_page_waiting(visitor: Visitor, operations: OperationsStub) -> None:
    """A payer never sees an error because the service is away for a moment: the page goes on asking."""
    operations.answer = PlainTextResponse("", 500)
    page = visitor.get(f"/success?session_id={BUYER}")
    assert page.status_code == 200
    assert 'data-access="pending"' in page.text


def test_ended_access_says_so(visitor: Visitor, operations: OperationsStub) -> None:
    """The success page of an ended access says when it ended."""
    operations.access[BUYER] = "ended"
    page = visitor.get(f"/success?session_id={BUYER}").text
    assert "This access has ended" in page
    assert "it ended on" in page


@pytest.mark.parametrize(
    "session_id", ["cs_test_nobody", "", "../check", f"{BUYER}?x", f"x/../{BUYER}", "cs_\u00e9", "cs_" + "x" * 300]
)
def test_unknown_session_is_a_clear_404(visitor: Visitor, session_id: str) -> None:
    """A session that Orrery does not know is a 404 page and leaves no cookie."""
    page = visitor.get("/success?" + urlencode({"session_id": session_id}))
    assert page.status_code == 404
    assert "We do not know this payment" in page.text
    assert "Set-Cookie" not in page.headers


def test_malformed_session_asks_nobody(visitor: Visitor, operations: OperationsStub) -> None:
    """What cannot be a session id is never put into an address."""
    visitor.get("/success?" + urlencode({"session_id": f"{BUYER}?x"}))
    assert operations.bodies == []


def test_session_cookie_is_kept_from_scripts(visitor: Visitor) -> None:
    """The cookie with the session id is HttpOnly and SameSite=Lax."""
    cookie = visitor.get(f"/success?session_id={BUYER}").headers["Set-Cookie"]
    assert f"={BUYER};" in cookie
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()


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
