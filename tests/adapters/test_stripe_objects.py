"""Reading the processor's events: whatever a signed body holds, an event or a refusal comes out."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orrery.adapters.stripe.objects import read_event
from orrery.ports.processor import CheckoutSession, ProcessorEvent
from tests.support.checkout import event_body, session_json
from tests.support.json_values import json_values
from tests.support.soak import rounds
from tests.support.tables import each_case


def reads(body: bytes) -> ProcessorEvent | None:
    """Return the event, or None when it cannot be read; any error fails the test."""
    found = read_event(body)
    return found if isinstance(found, ProcessorEvent) else None


def event(**other: Any) -> dict[str, Any]:  # noqa: ANN401  any field of an event
    """Return an event with a completed session, with other fields where given."""
    return json.loads(event_body("evt_1", session_json())) | other


def completed(**other: Any) -> CheckoutSession | None:  # noqa: ANN401  any field of a session
    """Return the session of an event as we read it, with other fields where given."""
    found = reads(event_body("evt_1", session_json(**other)))
    return found.session if found else None


@settings(max_examples=rounds(30))
@given(st.binary(max_size=200))
def test_any_bytes(body: bytes) -> None:
    """Bytes of any kind are no event, and no other error."""
    assert reads(body) is None


@settings(max_examples=rounds(30))
@given(json_values)
def test_any_json(value: object) -> None:
    """JSON of any kind is no event, and no other error."""
    assert reads(json.dumps(value).encode()) is None


@settings(max_examples=rounds(30))
@given(st.dictionaries(st.sampled_from(sorted(event())), json_values, min_size=1, max_size=4))
def test_an_event_with_anything_in_it(changed: dict[str, Any]) -> None:
    """An event whose fields hold anything is read or refused."""
    reads(json.dumps(event() | changed).encode())


FIELDS = [
    *session_json(),
    "url",
    "line_items",
    "custom_fields",
    "payment_method_types",
    "payment_method_options",
    "custom_text",
]


@settings(max_examples=rounds(30))
@given(st.dictionaries(st.sampled_from(FIELDS), json_values, min_size=1, max_size=4))
def test_a_session_with_anything_in_it(changed: dict[str, Any]) -> None:
    """A session whose fields hold anything is read or refused."""
    completed(**changed)


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, b"1" * 100_000, b'{"id":"\\ud800"}'])
def test_extreme_json(body: bytes) -> None:
    """JSON that is very deep, very long or holds half a character is refused."""
    assert reads(body) is None


def test_an_event() -> None:
    """What an event says is read: id, type, time, mode, version and session."""
    found = reads(event_body("evt_1", session_json()))
    assert found is not None
    assert (found.id, found.type, found.livemode) == ("evt_1", "checkout.session.completed", False)
    assert (found.created, found.api_version) == (datetime(2026, 3, 1, 12, tzinfo=UTC), "2026-08-26.dahlia")
    assert found.session is not None
    assert (found.session.id, found.session.email, found.session.amount_total) == ("cs_1", "ann@example.org", 4900)
    assert found.session.price_ids is None


def test_an_event_of_another_object() -> None:
    """An event about something else has no session, whatever its object holds."""
    other = json.dumps(event(type="charge.dispute.created", data={"object": {"id": 7, "livemode": "?"}}))
    found = reads(other.encode())
    assert found is not None
    assert found.session is None


def test_fields_that_we_do_not_know() -> None:
    """The vendor may add fields anywhere."""
    body = json.dumps(event(brand_new={"a": [1]}, request={"id": "req"})).encode()
    assert reads(body) is not None
    assert completed(brand_new=[{"a": 1}], status_details={"x": None}) is not None


@each_case(
    ("field", "value"),
    [
        ("id", ""),
        ("id", "a b"),
        ("id", "x" * 256),
        ("id", 7),
        ("object", "list"),
        ("type", None),
        ("created", "now"),
        ("created", -1),
        ("created", 10**15),
        ("created", 1.5),
        ("created", True),
        ("livemode", "false"),
        ("livemode", 0),
        ("data", None),
        ("data", {}),
        ("data", {"object": []}),
    ],
)
def test_what_makes_no_event(field: str, value: object) -> None:
    """An event with a missing or wrong field that we rely on is refused."""
    assert reads(json.dumps(event(**{field: value})).encode()) is None
    lacking = event()
    del lacking[field]
    assert reads(json.dumps(lacking).encode()) is None


@each_case(
    "changed",
    [{"id": ""}, {"status": "paid"}, {"payment_status": "maybe"}, {"livemode": "true"}, {"metadata": {"a": 1}}],
)
def test_what_makes_no_session(changed: dict[str, Any]) -> None:
    """A session with a wrong field that we rely on is refused."""
    assert completed(**changed) is None


@pytest.mark.parametrize(
    ("reference", "told"), [("pi_1", "pi_1"), ({"id": "pi_1", "object": "payment_intent"}, "pi_1"), (None, None)]
)
def test_a_reference_is_an_id_or_the_object(reference: object, told: str | None) -> None:
    """Where the vendor expands a reference, its id is read from the object."""
    found = completed(payment_intent=reference)
    assert found is not None
    assert found.payment_intent == told


CONSENT = "marketing_consent"


@each_case(
    ("fields", "consent"),
    [
        ([], None),
        ([{"key": CONSENT, "type": "dropdown", "dropdown": {"value": "yes"}}], True),
        ([{"key": CONSENT, "type": "dropdown", "dropdown": {"value": "no"}}], False),
        ([{"key": CONSENT, "type": "dropdown", "dropdown": {"value": None}}], None),
        ([{"key": "colour", "type": "dropdown", "dropdown": {"value": "yes"}}], None),
        ([{"key": CONSENT, "type": "text", "text": {"value": "yes"}}], None),
    ],
)
def test_consent(fields: list[dict[str, Any]], consent: bool | None) -> None:  # noqa: FBT001  pytest passes parameters by position
    """Consent is what the buyer chose in our field, or nothing."""
    found = completed(custom_fields=fields)
    assert found is not None
    assert found.consent is consent


def test_prices_come_with_line_items() -> None:
    """A session with its line items tells their prices, as ids or objects."""
    items = {"data": [{"id": "li_1", "price": {"id": "price_1"}}, {"id": "li_2", "price": "price_2"}]}
    found = completed(line_items=items)
    assert found is not None
    assert found.price_ids == ("price_1", "price_2")
