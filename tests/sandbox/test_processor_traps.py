"""The traps of the processor: what it refuses and repeats, two modes of one account, webhooks."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import stripe

from orrery.sandbox.app import PriceSeed, SandboxConfig
from orrery.sandbox.ground import Document
from orrery.sandbox.processor.world import Mode
from tests.support.running_sandbox import (
    EVERYTHING_PERMITTED,
    OLD_PRICE,
    SESSION,
    Receiver,
    Running,
    running,
)

PATH = "/v1/checkout/sessions"


DAY = 24 * 3600


def test_keys_are_forgotten(box: Running) -> None:
    """After 24 hours a key is as good as new."""
    first = box.post(PATH, SESSION, Idempotency_Key="daily").json()
    box.advance(DAY - 60)
    assert box.post(PATH, SESSION, Idempotency_Key="daily").json() == first
    box.advance(120)
    assert box.post(PATH, SESSION, Idempotency_Key="daily").json()["id"] != first["id"]


MESSAGE = "custom_text[submit][message]"


NEW_VERSION = "2026-09-30.endive"


Refusal = tuple[dict[str, str], str, str, str | None]


def without(*names: str) -> dict[str, str]:
    """Return the service's parameters but for those that start with a name."""
    return {key: value for key, value in SESSION.items() if not key.startswith(names)}


def methods(*slugs: str, price: str | None = None) -> dict[str, str]:
    """Return the service's parameters with other payment methods, and perhaps another price."""
    named = {f"payment_method_types[{number}]": slug for number, slug in enumerate(slugs)}
    priced = {"line_items[0][price]": price} if price else {}
    return without("payment_method_types") | named | priced


REFUSALS: dict[str, Refusal] = {
    "cashapp": (methods("card", "cashapp"), "payment_method_types", "US", None),
    "klarna": (methods("card", "klarna"), "payment_method_types", "minimum amount", None),
    "affirm": (methods("card", "affirm"), "payment_method_types", "region", None),
    "not activated": (methods("card", "paypal"), "payment_method_types", "not activated", None),
    "unknown slug": (methods("card", "gold"), "payment_method_types[1]", "must be one of", None),
    "ideal in USD": (methods("ideal"), "payment_method_types", "only supports eur", None),
    "bancontact in USD": (methods("bancontact"), "payment_method_types", "only supports eur", None),
    "eps in USD": (methods("eps"), "payment_method_types", "only supports eur", None),
    "giropay in USD": (methods("giropay"), "payment_method_types", "only supports eur", None),
    "p24 in USD": (methods("p24"), "payment_method_types", "only supports eur", None),
    "a URL": (SESSION | {MESSAGE: "See https://example.org/terms"}, MESSAGE, "potentially unsafe", None),
    "a bare domain": (SESSION | {MESSAGE: "Ask at example.org, any time."}, MESSAGE, "potentially unsafe", None),
    "www": (SESSION | {MESSAGE: "See www.example"}, MESSAGE, "potentially unsafe", None),
    "a URL in another slot": (
        SESSION | {"custom_text[after_submit][message]": "http://x"},
        "custom_text[after_submit][message]",
        "potentially unsafe",
        None,
    ),
    "1201 characters": (
        SESSION | {MESSAGE: "x" * 1201},
        MESSAGE,
        "at most 1200",
        "parameter_invalid_string_length",
    ),
    "an empty message": (SESSION | {MESSAGE: ""}, MESSAGE, "empty string", "parameter_invalid_empty"),
    "branding": (SESSION | {"branding_settings[display_name]": "Other"}, "branding_settings", "account", None),
    "unknown parameter": (SESSION | {"colour": "red"}, "colour", "unknown parameter", "parameter_unknown"),
    "unknown parameter below": (
        SESSION | {"line_items[0][colour]": "red"},
        "line_items[0][colour]",
        "unknown parameter",
        "parameter_unknown",
    ),
    "no mode": (without("mode"), "mode", "Missing required", "parameter_missing"),
    "no line items": (without("line_items"), "line_items", "Missing required", "parameter_missing"),
    "no success_url": (without("success_url"), "success_url", "Missing required", "parameter_missing"),
    "no such price": (
        SESSION | {"line_items[0][price]": "price_none"},
        "line_items[0][price]",
        "No such price",
        "resource_missing",
    ),
    "inactive price": (SESSION | {"line_items[0][price]": OLD_PRICE}, "line_items[0][price]", "inactive", None),
    "no number": (
        SESSION | {"line_items[0][quantity]": "one"},
        "line_items[0][quantity]",
        "Invalid integer",
        "parameter_invalid_integer",
    ),
    "no boolean": (
        SESSION | {"custom_fields[0][optional]": "yes"},
        "custom_fields[0][optional]",
        "must be one of true, false",
        None,
    ),
    "no such value": (SESSION | {"mode": "gift"}, "mode", "must be one of", None),
    "3-D Secure off": (
        SESSION | {"payment_method_options[card][request_three_d_secure]": "off"},
        "payment_method_options[card][request_three_d_secure]",
        "any, automatic, challenge",
        None,
    ),
    "gone too soon": (SESSION | {"expires_at": "1"}, "expires_at", "at least 30 minutes", None),
    "open too long": (SESSION | {"expires_at": "99999999999"}, "expires_at", "at most 24 hours", None),
    "promotions": (
        SESSION | {"consent_collection[promotions]": "auto"},
        "consent_collection[promotions]",
        "in the US",
        None,
    ),
    "a text where a list is": (without("line_items") | {"line_items": "x"}, "line_items", "Invalid array", None),
    "a label too long": (
        SESSION | {"metadata[x]": "y" * 501},
        "metadata[x]",
        "500",
        "parameter_invalid_string_length",
    ),
    "unknown expansion": (SESSION | {"expand[0]": "moon"}, "expand", "cannot be expanded", None),
}


def test_refused_sessions(box: Running) -> None:
    """Each is refused with the vendor's error type, the parameter at fault, and the reason."""
    for name, (sent, param, message, code) in REFUSALS.items():
        answer = box.post(PATH, sent)
        error = answer.json()["error"]
        found = (answer.status_code, error["type"], error.get("param"), error.get("code"))
        assert (name, found) == (name, (400, "invalid_request_error", param, code))
        assert message in error["message"], name
        assert error["request_log_url"].endswith(answer.headers["request-id"])
        assert answer.headers["stripe-should-retry"] == "false"


def test_a_version_without_methods(box: Running) -> None:
    """From 2026-09-30.endive on, `payment_method_types` is an unknown parameter (decision 1)."""
    refused = box.post(PATH, SESSION, Stripe_Version=NEW_VERSION)
    assert refused.json()["error"]["code"] == "parameter_unknown"
    assert refused.headers["stripe-version"] == NEW_VERSION
    taken = box.post(PATH, without("payment_method_types"), Stripe_Version=NEW_VERSION)
    assert taken.json()["payment_method_types"] == ["card"]


def test_unknown_routes(box: Running) -> None:
    """A route that does not exist, the fraud rules among them, answers 404 in the vendor's words."""
    for path in ("/v1/radar/rules", "/v1/refunds", "/v1/payment_intents", "/v1/", "/v1/checkout"):
        answer = box.get(path)
        assert answer.status_code == 404
        assert answer.json()["error"]["message"].startswith(f"Unrecognized request URL (GET: {path})")


def read(box: Running, session: Document) -> Document:
    """Return a session as it is now."""
    return box.get(f"/v1/checkout/sessions/{session['id']}").json()


def charges(box: Running, email: str) -> list[Document]:
    """Return the charges of one buyer, newest first."""
    found = box.get("/v1/charges?limit=100").json()["data"]
    return [charge for charge in found if charge["billing_details"]["email"] == email]


def test_attempts_share_a_payment(box: Running) -> None:
    """A declined attempt makes the payment by which the open session is found; the next goes on with it."""
    session = box.session()
    box.pay(session, email="stubborn@example.org", verdict="declined")
    [declined] = charges(box, "stubborn@example.org")
    found = box.client().checkout.sessions.list({"payment_intent": declined["payment_intent"]})
    assert [(one.id, one.status) for one in found.data] == [(session["id"], "open")]
    box.pay(session, email="stubborn@example.org")
    paid, again = charges(box, "stubborn@example.org")
    assert (again["id"], paid["status"]) == (declined["id"], "succeeded")
    assert paid["payment_intent"] == declined["payment_intent"] == read(box, session)["payment_intent"]


KEYS: dict[Mode, str] = {"test": "sk_test_sandbox", "live": "sk_live_sandbox"}


READERS: dict[Mode, str] = {"test": "rk_test_sandbox", "live": "rk_live_sandbox"}


PRICE_OF: dict[Mode, str] = {"test": "price_of_test", "live": "price_of_live"}


BOTH: tuple[Mode, Mode] = ("test", "live")


OTHER: dict[Mode, Mode] = {"test": "live", "live": "test"}


def with_both(config: SandboxConfig) -> SandboxConfig:
    """Let the sandbox play both modes, each with one price."""
    return replace(
        config,
        api_keys=dict.fromkeys(KEYS.values(), EVERYTHING_PERMITTED)
        | dict.fromkeys(READERS.values(), frozenset({"price_read"})),
        prices=tuple(PriceSeed(PRICE_OF[mode], f"Practice in {mode} mode", 4900, mode=mode) for mode in BOTH),
        webhook_endpoints=(),
    )


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a sandbox in both modes, without webhook endpoints."""
    with running(tmp_path_factory.mktemp("both"), Receiver(), change=with_both) as one:
        yield one


def begin(box: Running, mode: Mode, price: str | None = None) -> stripe.checkout.Session:
    """Create a session with the key of a mode."""
    return box.client(KEYS[mode]).checkout.sessions.create(
        {
            "mode": "payment",
            "line_items": [{"price": price or PRICE_OF[mode], "quantity": 1}],
            "success_url": "https://shop.example/thanks",
        }
    )


def sell(box: Running, mode: Mode) -> stripe.checkout.Session:
    """Create a session and pay it on its page."""
    session = begin(box, mode)
    assert box.web.post(f"/pay/{session.id}", data={"email": f"{mode}@example.org"}).status_code == 303
    return box.client(KEYS[mode]).checkout.sessions.retrieve(session.id)


@pytest.mark.parametrize("mode", BOTH)
def test_both_modes_sell(both: Running, mode: Mode) -> None:
    """Each mode has its own sessions, with their pages, and the objects of a sale have the mode."""
    begun = begin(both, mode)
    assert begun.id.startswith(f"cs_{mode}_")
    assert both.web.get(f"/pay/{begun.id}").status_code == 200
    sold = sell(both, mode)
    assert (sold.payment_status, sold.livemode) == ("paid", mode == "live")
    here = both.client(KEYS[mode])
    lists = (here.checkout.sessions.list(), here.charges.list(), here.events.list(), here.prices.list())
    for found in (*lists, here.payment_method_configurations.list()):
        assert {one.livemode for one in found.data} == {mode == "live"}
    assert sold.id in {one.id for one in here.checkout.sessions.list().data}
    assert sold.id not in {one.id for one in both.client(KEYS[OTHER[mode]]).checkout.sessions.list().data}
    assert here.balance.retrieve().livemode is (mode == "live")


@pytest.mark.parametrize("mode", BOTH)
def test_what_is_of_the_other_mode(both: Running, mode: Mode) -> None:
    """A key sees nothing of the other mode, and is answered that it is there; what is nowhere is just missing."""
    other = OTHER[mode]
    hint = f"; a similar object exists in {other} mode, but a {mode} mode key was used to make this request."
    with pytest.raises(stripe.InvalidRequestError) as unsold:
        begin(both, mode, PRICE_OF[other])
    assert (unsold.value.http_status, unsold.value.code) == (400, "resource_missing")
    assert unsold.value.param == "line_items[0][price]"  # pyright: ignore[reportUnknownMemberType]  the vendor's
    assert unsold.value.user_message == f"No such price: '{PRICE_OF[other]}'{hint}"
    session = begin(both, other)
    with pytest.raises(stripe.InvalidRequestError) as unseen:
        both.client(KEYS[mode]).checkout.sessions.retrieve(session.id)
    assert (unseen.value.http_status, unseen.value.code) == (404, "resource_missing")
    assert str(unseen.value.user_message).endswith(hint)
    with pytest.raises(stripe.InvalidRequestError) as nowhere:
        begin(both, mode, "price_of_none")
    assert nowhere.value.user_message == "No such price: 'price_of_none'"
