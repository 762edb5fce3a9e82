"""What the processor refuses: spec 1's Errors table, wrong parameters, wrong keys, unknown routes."""

import pytest
import stripe

from tests.sandbox.conftest import OLD_PRICE, READER_KEY, SESSION, Running

PATH = "/v1/checkout/sessions"
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


BRANDING = {"branding_settings[display_name]": "Other"}
FIELD = "custom_fields[0]"
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
    "branding": (SESSION | BRANDING, "branding_settings", "account", None),
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
        SESSION | {f"{FIELD}[optional]": "yes"},
        f"{FIELD}[optional]",
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


@pytest.mark.parametrize(("sent", "param", "message", "code"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_refused_session(box: Running, sent: dict[str, str], param: str, message: str, code: str | None) -> None:
    """The session is refused with the vendor's error type, the parameter at fault, and the reason."""
    answer = box.post(PATH, sent)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert error.get("param") == param
    assert message in error["message"]
    assert error.get("code") == code
    assert error["request_log_url"].endswith(answer.headers["request-id"])
    assert answer.headers["stripe-should-retry"] == "false"


def test_a_version_without_methods(box: Running) -> None:
    """From 2026-09-30.endive on, `payment_method_types` is an unknown parameter (decision 1)."""
    refused = box.post(PATH, SESSION, Stripe_Version=NEW_VERSION)
    assert refused.json()["error"]["code"] == "parameter_unknown"
    assert refused.headers["stripe-version"] == NEW_VERSION
    taken = box.post(PATH, without("payment_method_types"), Stripe_Version=NEW_VERSION)
    assert taken.json()["payment_method_types"] == ["card"]


@pytest.mark.parametrize("path", ["/v1/radar/rules", "/v1/refunds", "/v1/payment_intents", "/v1/", "/v1/checkout"])
def test_unknown_routes(box: Running, path: str) -> None:
    """A route that does not exist, the fraud rules among them, answers 404 in the vendor's words."""
    answer = box.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["message"].startswith(f"Unrecognized request URL (GET: {path})")


def test_no_key(box: Running) -> None:
    """Without a key the answer is 401."""
    answer = box.web.get("/v1/balance")
    assert answer.status_code == 401
    assert "did not provide an API key" in answer.json()["error"]["message"]


def test_a_wrong_key(box: Running) -> None:
    """A key that is not the account's is shown masked."""
    with pytest.raises(stripe.AuthenticationError) as refused:
        box.client("sk_test_somebody_elses_key").balance.retrieve()
    assert "sk_test_" in str(refused.value)
    assert "somebody" not in str(refused.value)
    assert str(refused.value).endswith("_key")


def test_a_restricted_key(box: Running) -> None:
    """A restricted key does what it was given and nothing beyond."""
    client = box.client(READER_KEY)
    client.charges.list()
    client.checkout.sessions.list()
    with pytest.raises(stripe.PermissionError, match="checkout_session_write"):
        client.checkout.sessions.create({"mode": "payment"})
    with pytest.raises(stripe.PermissionError, match="value_list_read"):
        client.radar.value_lists.list()


def test_an_unknown_id(box: Running) -> None:
    """An id that names nothing is a 404 that names the parameter."""
    with pytest.raises(stripe.InvalidRequestError, match=r"No such checkout\.session") as refused:
        box.client().checkout.sessions.retrieve("cs_test_none")
    assert refused.value.http_status == 404
    assert refused.value.error is not None
    assert (refused.value.error.code, refused.value.error.param) == ("resource_missing", "session")


def test_expiring_what_is_not_open(box: Running) -> None:
    """A session can be expired once only; a paid one never."""
    session, sold = box.session(), box.session()
    sessions = box.client().checkout.sessions
    sessions.expire(session["id"])
    box.pay(sold)
    for closed, status in ((session, "expired"), (sold, "complete")):
        with pytest.raises(stripe.InvalidRequestError, match=f"this one is {status}"):
            sessions.expire(closed["id"])


def test_a_key_that_lacks_a_permission(box: Running) -> None:
    """A restricted key without the permission is answered which one it needs; of the key only the end is shown."""
    with pytest.raises(stripe.PermissionError, match="rak_value_list_read") as refused:
        box.client(READER_KEY).radar.value_lists.list()
    assert READER_KEY not in str(refused.value)
    box.fault("no_permission", path="/v1/balance")
    with pytest.raises(stripe.PermissionError, match="rak_balance_read"):
        box.client().balance.retrieve()
    box.client().balance.retrieve()
