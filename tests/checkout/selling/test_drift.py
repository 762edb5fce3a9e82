"""What a session must show (change rule 2), to the letter and against what was sent."""

from dataclasses import replace
from typing import Any

import pytest

from orrery.checkout.selling.params import session_parameters
from orrery.checkout.selling.receipts import (
    Condition,
    catalogue_conditions,
    failed,
    rule_conditions,
    sold_conditions,
)
from orrery.ports.processor import CheckoutSession
from tests.support.checkout import PRODUCT, TERMS, metadata_of
from tests.support.checkout import session as some_session

METHODS = "payment_method_types"
THREE_D_SECURE = "payment_method_options.card.request_three_d_secure"
MESSAGE = "custom_text.submit.message"
SENT = session_parameters(PRODUCT, TERMS)
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


def kinds(conditions: list[Condition]) -> list[str]:
    """Return the names of those that do not hold."""
    return [one.name for one in failed(conditions)]


@pytest.mark.parametrize(
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
        "The setting says any_3ds_required, which is permitted; this check wants automatic to the letter."
    )
    (condition,) = failed(rule_conditions(reduced, "automatic"))
    assert condition.note == ""


def test_methods_of_the_setting() -> None:
    """Further methods that were sent are no drift; to the letter they are a difference."""
    sent = session_parameters(PRODUCT, replace(TERMS, payment_method_types=("card", "link", "ideal")))
    with_ideal = session(payment_method_types=("ideal", "card", "link"))
    assert failed(sold_conditions(with_ideal, sent)) == []
    assert kinds(rule_conditions(with_ideal, "automatic")) == [METHODS]


@pytest.mark.parametrize(
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
