"""What a receipt proves, and what differs from it (change rule 1): pure."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from orrery.checkout.catalogue import ProductKey
from orrery.checkout.records import Receipt
from orrery.checkout.selling.params import session_parameters
from orrery.checkout.selling.receipts import (
    ParameterChange,
    changes,
    digest_of,
    is_unaltered,
    parameters_of,
    price_of,
    stored_form,
    trial_key,
)
from orrery.ports.processor import Parameter, Parameters
from tests.support.checkout import API_VERSION, OTHER, PRODUCT, TERMS

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
