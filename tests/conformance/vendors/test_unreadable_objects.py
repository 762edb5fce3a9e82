"""One object that is not as documented hides no other of its list: every list, over the vendor's library."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.reads import StripeReads
from orrery.adapters.stripe.sales import StripeProcessor
from orrery.ports.processor import Dispute, split_unreadable
from orrery.ports.processor.errors import ItemUnreadable, ProcessorUnreachable
from tests.support.running_sandbox import KEY, Running
from tests.support.waiting import until

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
LIST = "rsl_sandbox_email_blocklist"

Listing = Callable[[StripeProcessor, StripeReads], AsyncIterator[Any]]

LISTS: list[tuple[str, str, Listing]] = [
    ("checkout.session", "payment_status", lambda sales, _: sales.list_completed_sessions(LONG_AGO)),
    ("checkout.session", "status", lambda _, reads: reads.list_sessions(LONG_AGO)),
    ("charge", "amount", lambda _, reads: reads.list_charges(LONG_AGO)),
    ("customer", "created", lambda _, reads: reads.list_customers()),
    ("review", "open", lambda _, reads: reads.list_reviews()),
    ("payment_method_configuration", "name", lambda _, reads: reads.list_configurations()),
    ("price", "currency", lambda _, reads: reads.list_prices()),
    ("radar.value_list", "alias", lambda _, reads: reads.list_value_lists()),
    ("radar.value_list_item", "created_by", lambda _, reads: reads.list_entries(LIST)),
    ("event", "pending_webhooks", lambda _, reads: reads.list_events()),
    ("webhook_endpoint", "url", lambda sales, _: sales.list_webhook_endpoints()),
]


def fill(box: Running) -> None:
    """Let there be two of each kind at least."""
    for number in range(2):
        box.pay(box.session(customer_creation="always"), verdict="review")
        box.post("/v1/radar/value_list_items", {"value": f"one{number}@example.org", "value_list": LIST})
    if len(list(box.sandbox.state.newest_first("webhook_endpoint"))) == 1:
        box.post(
            "/v1/webhook_endpoints", {"url": "https://other.example/hook", "enabled_events[0]": "price.updated"}
        )
    until(lambda: not box.deliveries("pending"))


async def found(box: Running, listing: Listing) -> tuple[list[Any], list[ItemUnreadable]]:
    """Return what a list yields, and what of it cannot be read."""
    connection = StripeConnection(KEY, base_url=box.url)
    return split_unreadable([one async for one in listing(StripeProcessor(connection), StripeReads(connection))])


@pytest.mark.parametrize(("kind", "field", "listing"), LISTS, ids=[f"{kind}.{field}" for kind, field, _ in LISTS])
def test_one_hides_no_other(box: Running, kind: str, field: str, listing: Listing) -> None:
    """An object with an unknown form of what decides is named, with its field; all others of its list are read."""
    fill(box)
    before, _ = asyncio.run(found(box, listing))
    whole = next(one for one in box.sandbox.state.newest_first(kind) if one["id"] == before[-1].id)
    with box.damaged(whole | {field: {"brand": "new"}}):
        items, unread = asyncio.run(found(box, listing))
    assert [(one.kind, one.item_id, one.fields) for one in unread] == [(kind, whole["id"], (field,))]
    assert [one.id for one in items] == [one.id for one in before[:-1]]


def test_a_page_ends_with_one(box: Running) -> None:
    """The list goes on behind a page whose last object cannot be read."""
    names = [f"page{number:03}@example.org" for number in range(130)]
    for name in names:
        box.post("/v1/radar/value_list_items", {"value": name, "value_list": LIST})
    entries = list(box.sandbox.state.newest_first("radar.value_list_item"))
    last_of_page = entries[99]
    with box.damaged(last_of_page | {"created": None}):
        items, unread = asyncio.run(found(box, lambda _, reads: reads.list_entries(LIST)))
    assert [one.item_id for one in unread] == [last_of_page["id"]]
    assert [one.id for one in items] == [one["id"] for one in entries if one is not last_of_page]


def test_one_session_by_its_id(box: Running) -> None:
    """A session that cannot be read is distinguished from a processor that is away; the sentence holds no id."""
    session = box.session()["id"]
    whole = box.sandbox.state.get("checkout.session", session)
    assert whole is not None
    reads = StripeReads(StripeConnection(KEY, base_url=box.url))
    with box.damaged(whole | {"payment_status": "halfway"}), pytest.raises(ItemUnreadable) as error:
        asyncio.run(reads.get_session(session))
    assert (error.value.kind, error.value.item_id) == ("checkout.session", session)
    assert session not in str(error.value)
    box.fault("html_200")
    with pytest.raises(ProcessorUnreachable) as away:
        asyncio.run(reads.get_session(session))
    assert not isinstance(away.value, ItemUnreadable)


def test_what_decides_nothing(box: Running) -> None:
    """New forms of what only describes a session or a charge hide neither."""
    session = box.session()["id"]
    box.pay({"id": session})
    state = box.sandbox.state
    sold = state.get("checkout.session", session)
    assert sold is not None
    charge = next(one for one in state.newest_first("charge") if one["payment_intent"] == sold["payment_intent"])
    described = ("custom_fields", "payment_method_types", "payment_method_options", "custom_text", "success_url")
    with box.damaged(sold | dict.fromkeys(described, 7), charge | {"failure_code": 7}):
        sessions, unread = asyncio.run(found(box, lambda sales, _: sales.list_completed_sessions(LONG_AGO)))
        charges, odd = asyncio.run(found(box, lambda _, reads: reads.list_charges(LONG_AGO)))
    assert (unread, odd) == ([], [])
    assert session in {one.id for one in sessions}
    assert charge["id"] in {one.id for one in charges}


def test_a_refund_hides_no_dispute(box: Running) -> None:
    """A refund that cannot be read is named by its event, and the dispute beside it is read."""
    box.pay(box.session(), email="two@example.org")
    charge = next(iter(box.sandbox.state.newest_first("charge")))
    for action in ("refund", "dispute"):
        assert box.web.post(f"/_charges/{charge['id']}/{action}", json={"amount": "1"}).status_code == 200
    refund = next(one for one in box.sandbox.state.newest_first("event") if one["type"] == "charge.refunded")
    with box.damaged(refund | {"data": {"object": refund["data"]["object"] | {"amount_refunded": "much"}}}):
        events, unread = asyncio.run(found(box, lambda _, reads: reads.list_charge_events(LONG_AGO)))
    assert [(one.kind, one.item_id) for one in unread] == [("event", refund["id"])]
    assert charge["id"] in {one.subject.charge for one in events if isinstance(one.subject, Dispute)}
