"""Reading what the owner looks at: objects with little in them, with more than we know, and with nonsense."""

import json
from contextlib import suppress
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from orrery.adapters.stripe.payments import BalanceObject, ChargeObject, CustomerObject, PriceObject, ReviewObject
from orrery.adapters.stripe.settings import (
    AccountObject,
    ConfigurationObject,
    EventObject,
    ValueListItem,
    ValueListObject,
)
from orrery.ports.processor import Balance
from tests.support.json_values import json_values
from tests.support.soak import rounds

AT = 1_790_000_000
CHARGE: dict[str, object] = {"id": "ch_1", "created": AT, "amount": 4900, "currency": "usd", "paid": True}
KINDS: list[type[BaseModel]] = [
    AccountObject,
    BalanceObject,
    ChargeObject,
    ConfigurationObject,
    CustomerObject,
    EventObject,
    PriceObject,
    ReviewObject,
    ValueListItem,
    ValueListObject,
]


def charge(**other: object) -> ChargeObject:
    """Return a charge with other fields where given."""
    return ChargeObject.model_validate_json(json.dumps({**CHARGE, **other}))


def test_a_charge_with_little_in_it() -> None:
    """What the processor does not tell is not told."""
    found = charge().to_value()
    assert (found.created, found.status) == (datetime.fromtimestamp(AT, UTC), "")
    assert (found.decline, found.wallet, found.three_d_secure, found.card_fingerprint) == (None,) * 4


def test_a_decline_without_an_outcome() -> None:
    """Without an outcome's reason the failure's code says why; a reason of a paid charge is no decline."""
    assert charge(status="failed", failure_code="card_declined").to_value().decline == "card_declined"
    manual = charge(
        status="succeeded", outcome={"reason": "elevated_risk_level", "risk_level": "elevated"}
    ).to_value()
    assert (manual.decline, manual.risk) == (None, "elevated")


def test_whose_charge_it_was() -> None:
    """The address of the billing details goes before the receipt's; an expanded payment is its id."""
    both = charge(
        billing_details={"email": "a@b.example"}, receipt_email="c@d.example", payment_intent={"id": "pi_1"}
    )
    assert (both.to_value().email, both.to_value().payment_intent) == ("a@b.example", "pi_1")
    assert charge(billing_details={"email": None}, receipt_email="c@d.example").to_value().email == "c@d.example"


def test_a_balance_in_several_parts() -> None:
    """What is told in several parts is added up by currency."""
    funds = [{"amount": 5, "currency": "usd"}, {"amount": 7, "currency": "usd"}, {"amount": -1, "currency": "nzd"}]
    found = BalanceObject.model_validate_json(json.dumps({"available": funds, "pending": []})).to_value()
    assert found == Balance({"usd": 12, "nzd": -1}, {})


def test_a_configuration_of_a_newer_kind() -> None:
    """Methods that nobody knew are read; fields that are no switch are left out."""
    fields = {
        "id": "pmc_1",
        "name": "Shop",
        "is_default": True,
        "active": True,
        "object": "payment_method_configuration",
        "application": None,
        "tele_pay": {"available": True, "display_preference": {"value": "on", "preference": "none"}},
        "card": {"available": False, "display_preference": {"value": "off"}},
        "limits": {"most": 3},
    }
    found = ConfigurationObject.model_validate_json(json.dumps(fields)).to_value()
    assert found.methods == {"tele_pay": True, "card": False}
    assert found.enabled == ("tele_pay",)


def test_branding_with_an_expanded_file() -> None:
    """A logo that comes as an object is its id; what is null or absent is not told."""
    looks = {"logo": {"id": "file_1", "object": "file"}, "icon": None}
    found = AccountObject.model_validate_json(
        json.dumps({"id": "acct_1", "settings": {"branding": looks}})
    ).to_value()
    assert found.branding == {"settings.branding.logo": "file_1"}


@settings(max_examples=rounds(100))
@given(
    st.sampled_from(KINDS),
    st.dictionaries(st.sampled_from(["id", "created", "data", "settings", "amount", "available"]), json_values),
)
def test_nonsense_is_refused(kind: type[BaseModel], fields: dict[str, object]) -> None:
    """Whatever an object holds, it is read or found to be none: no other error comes."""
    with suppress(ValidationError):
        kind.model_validate_json(json.dumps(fields))
