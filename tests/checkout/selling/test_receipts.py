"""What a receipt proves, what a session must show (change rules 1 and 2), and the result of a trial: pure."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from orrery.checkout.catalogue import ProductKey, session_parameters
from orrery.checkout.errors import SessionMismatch
from orrery.checkout.records import PreflightTrial, Receipt, TrialState
from orrery.checkout.selling.receipts import (
    ParameterChange,
    SessionCondition,
    catalogue_conditions,
    changes,
    digest_of,
    failed,
    is_unaltered,
    parameters_of,
    payment_page,
    price_of,
    rule_conditions,
    sold_conditions,
    stored_form,
    trial_key,
)
from orrery.checkout.selling.trials import TrialResult, outcome_of
from orrery.ports.processor import CheckoutSession, Parameter, Parameters
from tests.support.checkout import API_VERSION, OTHER, PRODUCT, TERMS, metadata_of
from tests.support.checkout import session as some_session
from tests.support.clock import START
from tests.support.tables import each_case

SENT = session_parameters(PRODUCT, TERMS)
VALUES = st.recursive(
    st.text(max_size=8) | st.integers(-5, 5) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
    max_leaves=8,
)
PARAMETERS = st.dictionaries(st.text("abc", min_size=1), VALUES, max_size=4)


def receipt(parameters: Parameters, api_version: str = API_VERSION) -> Receipt:
    """Return a receipt for parameters."""
    return Receipt(
        vendor_slug="isc2",
        cert_code="cissp",
        digest=digest_of(parameters, api_version),
        parameters=stored_form(parameters),
        api_version=api_version,
        run_id="run-1",
        deployment="here",
        session_id="cs_1",
        accepted_at=datetime(2026, 3, 1, tzinfo=UTC),
    )


@given(PARAMETERS)
def test_what_is_read_is_what_was_kept(parameters: Parameters) -> None:
    """Whatever parameters there are, a receipt on the disk gives back exactly them."""
    read = Receipt.model_validate_json(receipt(parameters).to_bytes())
    assert is_unaltered(read)
    assert parameters_of(read) == parameters
    assert repr(parameters_of(read)) == repr(parameters), "1 is not true"


@given(PARAMETERS, PARAMETERS)
def test_a_digest_tells_parameters_apart(one: Parameters, other: Parameters) -> None:
    """Two sets of parameters have the same digest exactly when they are the same, types and all."""
    same = digest_of(one, API_VERSION) == digest_of(other, API_VERSION)
    assert same == (_typed(one) == _typed(other))


def _typed(value: Parameter) -> object:
    """Return a value in which true is not 1, and the order of names does not count."""
    if isinstance(value, dict):
        return {name: _typed(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner) for inner in value]
    return (type(value), value)


def test_the_version_counts() -> None:
    """The same parameters in another API version are another digest."""
    assert digest_of(SENT, API_VERSION) != digest_of(SENT, "2026-09-30.endive")


def test_frozen_digest() -> None:
    """The digest of given parameters never changes: with another one, all that was accepted would count as new."""
    parameters: Parameters = {"mode": "payment", "line_items": [{"price": "price_1", "quantity": 1}], "ü": True}
    assert digest_of(parameters, "2026-08-26.dahlia") == (
        "87e3b1301191ee15ebd91e1b8281316e90bb2bc4257380dc91e238846eb1fe87"
    )


def test_a_changed_receipt() -> None:
    """A receipt that was changed after it was given proves nothing."""
    kept = receipt(SENT).to_bytes()
    assert is_unaltered(Receipt.model_validate_json(kept))
    for changed in (kept.replace(b"automatic", b"any"), kept.replace(b"dahlia", b"endive")):
        assert not is_unaltered(Receipt.model_validate_json(changed))


def test_the_price_that_is_sold() -> None:
    """The one line item's price is what an offer names."""
    assert price_of(SENT) == "price_cissp"


def test_what_differs() -> None:
    """Each single value is compared under the name that the processor gives it."""
    other: Parameters = {**SENT, "mode": "other", "payment_method_types": ["card", "link", "ideal"]}
    del other["cancel_url"]
    assert changes(receipt(SENT), other, "2026-09-30.endive") == [
        ParameterChange("api_version", API_VERSION, "2026-09-30.endive"),
        ParameterChange("cancel_url", "https://shop.example/isc2/cissp", None),
        ParameterChange("mode", "payment", "other"),
        ParameterChange("payment_method_types[2]", None, "ideal"),
    ]
    assert changes(receipt(SENT), SENT, API_VERSION) == []


def test_a_first_preflight_changes_everything() -> None:
    """Without a receipt everything is new, flags in the form in which they are sent."""
    told = {one.name: (one.was, one.becomes) for one in changes(None, SENT, API_VERSION)}
    assert told["api_version"] == (None, API_VERSION)
    assert told["custom_fields[0][optional]"] == (None, "true")
    assert told["custom_fields[0][dropdown][options][1][value]"] == (None, "no")


def test_the_key_of_a_question() -> None:
    """The same run, product and attempt have the same key; nothing else has; and it fits the processor's 255."""
    keys = [
        trial_key(run, product, attempt)
        for run in ("run-1", "run-2")
        for product in (PRODUCT.key, OTHER.key, ProductKey("cert", "a" * 64, "b" * 64))
        for attempt in (1, 2)
    ]
    assert len(set(keys)) == len(keys)
    assert trial_key("run-1", PRODUCT.key, 1) == keys[0]
    assert max(map(len, keys)) < 255


METHODS = "payment_method_types"
THREE_D_SECURE = "payment_method_options.card.request_three_d_secure"
MESSAGE = "custom_text.submit.message"
REDUCED = replace(TERMS, three_d_secure="any_3ds_required")
AS_IT_SHOULD_BE: dict[str, Any] = {
    "payment_method_types": ("card", "link"),
    "three_d_secure": "automatic",
    "submit_message": "Instant access.",
    "price_ids": ("price_cissp",),
    "quantities": (1,),
    "success_url": "https://shop.example/done?s={CHECKOUT_SESSION_ID}",
    "cancel_url": "https://shop.example/isc2/cissp",
}


def session(**other: Any) -> CheckoutSession:  # noqa: ANN401  any field of a session
    """Return a session that is as it should be, with other fields where given."""
    return some_session(**(AS_IT_SHOULD_BE | other))


def kinds(conditions: list[SessionCondition]) -> list[str]:
    """Return the names of those that do not hold."""
    return [one.name for one in failed(conditions)]


@each_case(
    ("other", "letter", "sold"),
    [
        ({}, [], []),
        ({"payment_method_types": ("link", "card")}, [METHODS], []),
        ({"payment_method_types": ("card",)}, [METHODS], [METHODS]),
        ({"payment_method_types": ("card", "link", "ideal")}, [METHODS], [METHODS]),
        ({"payment_method_types": ("card", "link", "link")}, [METHODS], [METHODS]),
        ({"payment_method_types": ()}, [METHODS], [METHODS]),
        ({"three_d_secure": "any"}, [THREE_D_SECURE], [THREE_D_SECURE]),
        ({"three_d_secure": "any_3ds_required"}, [THREE_D_SECURE], [THREE_D_SECURE]),
        ({"three_d_secure": "Automatic"}, [THREE_D_SECURE], [THREE_D_SECURE]),
        ({"three_d_secure": None}, [THREE_D_SECURE], [THREE_D_SECURE]),
        ({"submit_message": None}, [MESSAGE], [MESSAGE]),
        ({"submit_message": " \n"}, [MESSAGE], [MESSAGE]),
        ({"submit_message": "Something else."}, [], []),
        (
            {"payment_method_types": ("card",), "three_d_secure": None, "submit_message": ""},
            [METHODS, THREE_D_SECURE, MESSAGE],
            [METHODS, THREE_D_SECURE, MESSAGE],
        ),
    ],
)
def test_the_three_conditions(other: dict[str, Any], letter: list[str], sold: list[str]) -> None:
    """Each condition of change rule 2 fails by itself; the order of the methods matters to the letter only."""
    assert kinds(rule_conditions(session(**other), "automatic")) == letter
    assert kinds(sold_conditions(session(**other), SENT)) == sold


def test_the_permitted_reduction() -> None:
    """any_3ds_required is no drift where it is the setting; to the letter it fails, and the note says why."""
    reduced = session(three_d_secure="any_3ds_required")
    assert failed(sold_conditions(reduced, session_parameters(PRODUCT, REDUCED))) == []
    (condition,) = failed(rule_conditions(reduced, "any_3ds_required"))
    assert condition.note == (
        "The setting is any_3ds_required, which is permitted; this check wants exactly automatic."
    )
    (condition,) = failed(rule_conditions(reduced, "automatic"))
    assert condition.note == ""


def test_methods_of_the_setting() -> None:
    """Further methods that were sent are no drift; to the letter they are a difference."""
    sent = session_parameters(PRODUCT, replace(TERMS, payment_method_types=("card", "link", "ideal")))
    with_ideal = session(payment_method_types=("ideal", "card", "link"))
    assert failed(sold_conditions(with_ideal, sent)) == []
    assert kinds(rule_conditions(with_ideal, "automatic")) == [METHODS]


@each_case(
    ("other", "differing"),
    [
        ({}, []),
        ({"price_ids": ("price_other",)}, ["price"]),
        ({"price_ids": ("price_cissp", "price_cissp")}, ["price"]),
        ({"price_ids": None}, ["price"]),
        ({"quantities": (2,)}, ["quantity"]),
        ({"quantities": None}, ["quantity"]),
        ({"metadata": metadata_of(replace(PRODUCT, cert_code="ccsp"))}, ["metadata"]),
        ({"metadata": metadata_of(PRODUCT) | {"more": "x"}}, ["metadata"]),
        ({"success_url": "https://elsewhere.example/"}, ["success_url"]),
        ({"cancel_url": None}, ["cancel_url"]),
    ],
)
def test_what_must_be_the_catalogues(other: dict[str, Any], differing: list[str]) -> None:
    """Price, quantity, metadata and both addresses are compared one by one."""
    assert kinds(catalogue_conditions(session(**other), SENT)) == differing


OUTCOMES: dict[TrialState, tuple[TrialResult, bool, bool]] = {
    "asked": ("unanswered", False, False),
    "open": ("unsettled", True, False),
    "expired": ("accepted", True, False),
    "completed": ("completed", True, False),
    "left open": ("left open", True, True),
    "rejected": ("rejected", False, False),
    "gone": ("unreadable", False, False),
}
"""By state: the result, whether its session is named, and whether an approval is."""


def test_each_state_has_an_outcome() -> None:
    """No state is forgotten."""
    assert OUTCOMES.keys() == {*get_args(TrialState)}


def trial(state: TrialState, *, stand_in: bool = False) -> PreflightTrial:
    """Return a trial in this state, with all that it may have."""
    return PreflightTrial(
        run_id="run-1",
        deployment="d",
        intent_id="in_run",
        vendor_slug="northwind",
        cert_code="cloud-navigator",
        digest="digest",
        parameters={},
        api_version="v",
        stand_in=stand_in,
        idempotency_key="key",
        state=state,
        session_id="cs_1",
        expiry_intent_id="in_expiry",
        note="why",
        asked_at=START,
    )


@each_case("state", OUTCOMES)
def test_the_outcome_of_a_trial(state: TrialState) -> None:
    """A session is named once the processor has made it, the approval only while it is waited for."""
    result, has_session, has_intent = OUTCOMES[state]
    found = outcome_of(trial(state))
    assert (found.result, found.note) == (result, "why")
    assert found.session_id == ("cs_1" if has_session else None)
    assert found.intent_id == ("in_expiry" if has_intent else None)


def test_a_stand_in_is_only_tried() -> None:
    """With another's price it has no receipt."""
    assert outcome_of(trial("expired", stand_in=True)).result == "tried"


@each_case(
    ("url", "is_page"),
    [
        ("https://pay.example/c/1", True),
        ("http://127.0.0.1:8443/c/1", True),
        ("http://localhost/c/1", True),
        ("http://pay.example/c/1", False),
        ("http://127.0.0.1.pay.example/c/1", False),
        ("ftp://127.0.0.1/c/1", False),
        ("https:///c/1", False),
        ("https://pay.example/a b", False),
        (None, False),
    ],
)
def test_where_a_visitor_is_sent(url: str | None, is_page: bool) -> None:  # noqa: FBT001  a table's column
    """A visitor pays over HTTPS, or at a sandbox on this machine."""
    made = some_session("cs_test_1", mode="payment", status="open", payment_status="unpaid", url=url)
    try:
        page = payment_page(made, PRODUCT.key, "price_cissp", livemode=False)
    except SessionMismatch:
        page = None
    assert page == (url if is_page else None), url
