"""The parameters of a payment session (spec 1, Session parameters; decision 5)."""

from dataclasses import replace

import pytest
from pydantic import ValidationError

from orrery.checkout.catalogue import CHANGE_RULE_3, Product, SessionTerms, session_parameters
from orrery.checkout.settings import CheckoutSettings
from orrery.errors import NotConfigured
from orrery.ports.processor import Parameters
from tests.support.tables import each_case

PRODUCT = Product("isc2", "cissp", "CISSP", "price_cissp")
TERMS = SessionTerms(
    "https://shop.example/done?s={CHECKOUT_SESSION_ID}", "https://shop.example/{vendorSlug}/{certCode}"
)

FROZEN: Parameters = {
    "mode": "payment",
    "line_items": [{"price": "price_cissp", "quantity": 1}],
    "payment_method_types": ["card", "link"],
    "payment_method_options": {"card": {"request_three_d_secure": "automatic"}},
    "custom_text": {
        "submit": {
            "message": "Instant access after payment: one year of practice questions for CISSP. "
            "One payment, no subscription, no auto-renewal."
        }
    },
    "success_url": "https://shop.example/done?s={CHECKOUT_SESSION_ID}",
    "cancel_url": "https://shop.example/isc2/cissp",
    "metadata": {"productType": "cert", "certCode": "cissp", "vendorSlug": "isc2"},
    "custom_fields": [
        {
            "key": "marketing_consent",
            "label": {"type": "custom", "custom": "May we write to you about new practice questions?"},
            "type": "dropdown",
            "dropdown": {"options": [{"label": "Yes", "value": "yes"}, {"label": "No", "value": "no"}]},
            "optional": True,
        }
    ],
}
"""What is sent, to the letter: anyone who changes it runs a preflight first (change rule 1)."""


def test_exactly_these_parameters_are_sent() -> None:
    """The parameters of a product are the frozen ones and nothing else."""
    assert session_parameters(PRODUCT, TERMS) == FROZEN


def test_no_configuration_and_no_branding_is_sent() -> None:
    """Neither payment_method_configuration nor a branding override is ever a parameter."""
    everything = SessionTerms(TERMS.success_url, TERMS.cancel_url, terms_of_service="required", promotions="auto")
    assert set(session_parameters(PRODUCT, everything)) == {*FROZEN, "consent_collection"}


def test_the_marketing_field_can_be_switched_off() -> None:
    """Without marketing consent there are no custom fields."""
    terms = SessionTerms(TERMS.success_url, TERMS.cancel_url, marketing_consent=False)
    expected = {name: value for name, value in FROZEN.items() if name != "custom_fields"}
    assert session_parameters(PRODUCT, terms) == expected


@pytest.mark.parametrize(
    ("terms_of_service", "promotions", "expected"),
    [
        ("required", None, {"terms_of_service": "required"}),
        (None, "auto", {"promotions": "auto"}),
        ("none", "none", {"terms_of_service": "none", "promotions": "none"}),
    ],
)
def test_consents_are_collected_as_set(
    terms_of_service: str | None, promotions: str | None, expected: dict[str, str]
) -> None:
    """Only the consents that are set are asked for."""
    terms = SessionTerms(
        TERMS.success_url, TERMS.cancel_url, terms_of_service=terms_of_service, promotions=promotions
    )
    assert session_parameters(PRODUCT, terms)["consent_collection"] == expected


def test_nothing_is_shared_between_two_sets_of_parameters() -> None:
    """Anyone who changes the parameters of one session changes no other's."""
    first = session_parameters(PRODUCT, TERMS)
    fields = first["custom_fields"]
    assert isinstance(fields, list)
    fields.clear()
    assert session_parameters(PRODUCT, TERMS) == FROZEN


def test_the_lighter_value_is_permitted() -> None:
    """any_3ds_required is the one other value of 3-D Secure."""
    terms = SessionTerms(TERMS.success_url, TERMS.cancel_url, three_d_secure="any_3ds_required")
    options = session_parameters(PRODUCT, terms)["payment_method_options"]
    assert options == {"card": {"request_three_d_secure": "any_3ds_required"}}


@each_case("value", ["any", "challenge", "", "Automatic", " automatic", "automatic\n", "off", "none"])
def test_no_other_value_of_3d_secure_is_accepted(value: str) -> None:
    """A forbidden value stops the start-up, quoting change rule 3 (decision 6)."""
    with pytest.raises(ValidationError) as refused:
        CheckoutSettings.model_validate({"three_d_secure": value})
    assert CHANGE_RULE_3 in str(refused.value)


def test_the_quoted_rule_is_the_specifications() -> None:
    """The sentence names what is permitted and what is not."""
    for words in ("must stay on", "any_3ds_required", "turning it off is not permitted", "value any is not used"):
        assert words in CHANGE_RULE_3


def test_the_session_id_must_come_back() -> None:
    """A success address without the session's placeholder is refused."""
    with pytest.raises(ValidationError, match="CHECKOUT_SESSION_ID"):
        CheckoutSettings.model_validate({"success_url": "https://shop.example/done"})


def test_both_addresses_are_needed() -> None:
    """Without one of the two addresses there are no parameters."""
    for name in ("success_url", "cancel_url"):
        one = CheckoutSettings.model_validate({name: TERMS.success_url})
        assert one.terms() is None


def test_methods_are_always_named() -> None:
    """An empty list of methods is refused: the processor would fall back to card only (spec 1, Errors)."""
    with pytest.raises(ValidationError, match="card only"):
        CheckoutSettings.model_validate({"payment_method_types": ()})


def test_without_a_price_there_are_no_parameters() -> None:
    """A product that names no price is never sent."""
    with pytest.raises(NotConfigured, match="isc2/cissp names no price"):
        session_parameters(replace(PRODUCT, price_id=None), TERMS)
