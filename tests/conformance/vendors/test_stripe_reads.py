"""What the owner looks at, over the vendor's library, against the sandbox: every page and column."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.objects import read_event
from orrery.adapters.stripe.reads import StripeReads
from orrery.ports.processor import Charge, Dispute, ProcessorEvent
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused, ProcessorUnreachable
from tests.support.items import gathered
from tests.support.running_sandbox import EUR_PRICE, KEY, OLD_PRICE, PRICE, READER_KEY, Running
from tests.support.waiting import until

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
Item = TypeVar("Item")


def reads(box: Running, key: str | None = KEY) -> StripeReads:
    """Return the port over the sandbox."""
    return StripeReads(StripeConnection(key, base_url=box.url))


def every(items: AsyncIterator[Item | ItemUnreadable]) -> list[Item]:
    """Return everything that is yielded, of which nothing may be unreadable."""
    return asyncio.run(gathered(items))


def charge_of(box: Running, email: str) -> Charge:
    """Return the newest charge of one buyer."""
    return next(one for one in every(reads(box).list_charges(LONG_AGO)) if one.email == email)


def test_sessions_of_any_state_over_pages(box: Running) -> None:
    """Open, expired and completed sessions are yielded with prices, the newest first, beyond two pages of 100."""
    box.advance(1)
    began = box.clock.now()
    first = box.session()["id"]
    kept = [box.sandbox.state.get(kind, first) for kind in ("checkout.session", "_line_items")]
    made = [first, *(one["id"] for one, _ in box.copied(204, *filter(None, kept), names=(first,)))]
    box.post(f"/v1/checkout/sessions/{made[0]}/expire", {})
    box.pay({"id": made[1]})
    found = every(reads(box).list_sessions(began))
    assert [one.id for one in found] == made[::-1]
    assert {one.price_ids for one in found} == {(PRICE,)}
    assert {one.status for one in found[-2:]} == {"complete", "expired"}
    assert every(reads(box).list_sessions(began + timedelta(days=1))) == []


def test_refunds_and_disputes(box: Running) -> None:
    """Refunds have the charge after each, disputes their deadline and how they ended, the newest first."""
    box.advance(1)
    began = box.clock.now()
    box.pay(box.session(), email="moved@example.org")
    charge = charge_of(box, "moved@example.org")
    for action in ("refund", "dispute", "lose"):
        assert box.web.post(f"/_charges/{charge.id}/{action}", json={"amount": "100"}).status_code == 200
        box.advance(1)
    lost, opened, refunded = [one.subject for one in every(reads(box).list_charge_events(began))]
    assert isinstance(refunded, Charge)
    assert isinstance(opened, Dispute)
    assert isinstance(lost, Dispute)
    assert (refunded.id, refunded.amount_refunded) == (charge.id, 100)
    assert (opened.charge, opened.payment_intent) == (charge.id, charge.payment_intent)
    assert (opened.status, opened.respond_by is not None) == ("needs_response", True)
    assert (lost.id, lost.status) == (opened.id, "lost")
    assert every(reads(box).list_charge_events(began + timedelta(days=1))) == []


def test_a_session_by_its_payment(box: Running) -> None:
    """An open session that somebody tried to pay is found by its payment, with all attempts in it."""
    session = box.session()
    box.pay(session, email="tries@example.org", verdict="declined")
    attempt = charge_of(box, "tries@example.org")
    (found,) = every(reads(box).list_sessions(payment_intent=attempt.payment_intent))
    assert (found.id, found.status) == (session["id"], "open")
    assert every(reads(box).list_sessions(payment_intent="pi_of_nobody")) == []


def test_a_declined_charge(box: Running) -> None:
    """A decline has its reason, how far it went, the risk, and whose card it was."""
    box.pay(box.session(), email="no@example.org", verdict="declined")
    charge = charge_of(box, "no@example.org")
    assert (charge.status, charge.paid, charge.decline) == ("failed", False, "generic_decline")
    assert (charge.network_status, charge.risk) == ("declined_by_network", "normal")
    assert charge.message == "The bank did not approve the payment."
    assert charge.card_fingerprint is not None


def test_a_blocked_charge(box: Running) -> None:
    """A charge that the screening blocked never went to the network."""
    (emails,) = [one.id for one in every(reads(box).list_value_lists()) if one.alias == "email_blocklist"]
    box.post("/v1/radar/value_list_items", {"value": "blocked@example.org", "value_list": emails})
    box.pay(box.session(), email="blocked@example.org")
    charge = charge_of(box, "blocked@example.org")
    assert (charge.decline, charge.network_status, charge.risk) == ("rule", "not_sent_to_network", "highest")
    (entry,) = every(reads(box).list_entries(emails, "blocked@example.org"))
    assert (entry.value, entry.list_id) == ("blocked@example.org", emails)


@pytest.mark.parametrize(
    ("fields", "method", "wallet", "three_d_secure"),
    [
        ({"method": "google_pay"}, "card", "google_pay", None),
        ({"method": "link"}, "link", None, None),
        ({"confirmed": "yes"}, "card", None, "authenticated"),
    ],
)
def test_how_it_was_paid(
    box: Running, fields: dict[str, str], method: str, wallet: str | None, three_d_secure: str | None
) -> None:
    """A charge has the method, the wallet over the card, and what came of 3-D Secure; no decline."""
    email = f"{wallet or three_d_secure or method}@example.org"
    box.pay(box.session(), email=email, **fields)
    charge = charge_of(box, email)
    assert (charge.method, charge.wallet, charge.three_d_secure) == (method, wallet, three_d_secure)
    assert (charge.status, charge.decline) == ("succeeded", None)


def test_buyers(box: Running) -> None:
    """Buyer records are found by their address."""
    for email in ("first@example.org", "second@example.org"):
        box.pay(box.session(customer_creation="always"), email=email)
    (found,) = every(reads(box).list_customers("first@example.org"))
    assert (found.email, found.id[:4]) == ("first@example.org", "cus_")
    assert len(every(reads(box).list_customers())) >= 2


def test_reviews(box: Running) -> None:
    """An open review has the payment, and the client address that a charge lacks."""
    box.pay(box.session(), email="look@example.org", verdict="review")
    charge = charge_of(box, "look@example.org")
    review = every(reads(box).list_reviews())[0]
    assert (review.charge, review.payment_intent) == (charge.id, charge.payment_intent)
    assert (review.open, review.reason, review.client_address) == (True, "manual", "127.0.0.1")


def test_the_balance(box: Running) -> None:
    """The balance is by currency, in the smallest unit."""
    box.pay(box.session())
    found = asyncio.run(reads(box).get_balance())
    assert set(found.available) == set(found.pending) == {"nzd"}
    assert found.available["nzd"] > 0


def test_the_account(box: Running) -> None:
    """The account has its id, currency and country, and what buyers see of it, as far as it is set."""
    found = asyncio.run(reads(box).get_account())
    assert (found.id[:5], found.default_currency, found.country) == ("acct_", "nzd", "NZ")
    assert found.branding["settings.branding.primary_color"] == "#1d4ed8"
    assert found.branding["settings.payments.statement_descriptor"] == "ORRERY PRACTICE"
    assert "settings.branding.logo" not in found.branding


def test_the_configurations(box: Running) -> None:
    """There are four, of which two share the default's name and are marked as it (spec 1)."""
    found = [one for one in every(reads(box).list_configurations()) if one.id.startswith("pmc_sandbox")]
    defaults = [one for one in found if one.is_default]
    assert (len(found), len(defaults), len({one.name for one in defaults})) == (4, 2, 1)
    assert {one.enabled for one in found} == {("card", "link")}
    assert {one.parent for one in found} == {None, "pmc_sandbox_parent"}
    assert found[0].methods["klarna"] is False


def test_prices(box: Running) -> None:
    """Prices come with what they cost; those that are active can be asked for alone."""
    found = {one.id: one for one in every(reads(box).list_prices())}
    assert (found[EUR_PRICE].amount, found[EUR_PRICE].currency, found[EUR_PRICE].active) == (4500, "eur", True)
    assert not found[OLD_PRICE].active
    assert OLD_PRICE not in {one.id for one in every(reads(box).list_prices(active=True))}
    first = asyncio.run(reads(box).first_active_price())
    assert first is not None
    assert first.active


def test_a_long_list_of_entries(box: Running) -> None:
    """A list's entries are read to the end, beyond two pages."""
    (bins,) = [one for one in every(reads(box).list_value_lists()) if one.alias == "card_bin_blocklist"]
    first = box.post("/v1/radar/value_list_items", {"value": "400000", "value_list": bins.id}).json()
    made = [first, *(one for (one,) in box.copied(204, first, names=(first["id"], "400000")))]
    found = every(reads(box).list_entries(bins.id))
    assert {one.value for one in found} == {one["value"] for one in made}
    assert (bins.item_type, found[0].list_id) == ("card_bin", bins.id)


async def new_since(found: StripeReads, since: datetime) -> dict[str, list[str]]:
    """Return what there is since, by kind: the buyers' addresses, and values that are as telling."""
    lists = [one for one in await gathered(found.list_value_lists()) if one.alias == "email_blocklist"]
    return {
        "customers": [one.email or "" for one in await gathered(found.list_customers(since=since))],
        "reviews": [one.reason for one in await gathered(found.list_reviews(since))],
        "prices": [one.id for one in await gathered(found.list_prices(since=since))],
        "lists": [one.alias for one in await gathered(found.list_value_lists(since))],
        "entries": [
            one.value for each in lists for one in await gathered(found.list_entries(each.id, since=since))
        ],
    }


def test_what_is_new_since(box: Running) -> None:
    """Buyers, reviews, prices, lists and their entries are asked for from a moment on, as charges are."""
    box.pay(box.session(customer_creation="always"), email="before@example.org", verdict="review")
    box.advance(60)
    moment = box.clock.now()
    (emails,) = [one.id for one in every(reads(box).list_value_lists()) if one.alias == "email_blocklist"]
    box.pay(box.session(customer_creation="always"), email="after@example.org", verdict="review")
    box.post("/v1/radar/value_list_items", {"value": "later@example.org", "value_list": emails})
    found = asyncio.run(new_since(reads(box), moment))
    assert found == {
        "customers": ["after@example.org"],
        "reviews": ["manual"],
        "prices": [],
        "lists": [],
        "entries": ["later@example.org"],
    }
    everything = asyncio.run(new_since(reads(box), LONG_AGO))
    assert all(len(everything[kind]) > len(new) for kind, new in found.items() if kind != "entries")


def test_events(box: Running) -> None:
    """Events have their subject and how many deliveries wait; one can be read as a webhook brings it."""
    box.pay(box.session(), email="event@example.org")
    until(lambda: not box.deliveries("pending"))
    found = every(reads(box).list_events(box.clock.now() - timedelta(days=1)))
    completed = next(one for one in found if one.type == "checkout.session.completed")
    event = read_event(asyncio.run(reads(box).get_event(completed.id)))
    assert isinstance(event, ProcessorEvent)
    assert event.session is not None
    assert (event.id, event.session.id) == (completed.id, completed.object_id)
    assert completed.pending == 0
    assert completed.id not in {one.id for one in every(reads(box).list_events(undelivered=True))}


def test_events_that_were_not_accepted(box: Running) -> None:
    """An event whose delivery failed is among those that are not delivered."""
    box.fault("webhook_down", count=None)
    session = box.session()
    box.post(f"/v1/checkout/sessions/{session['id']}/expire", {})
    (expired,) = [one for one in every(reads(box).list_events(undelivered=True)) if one.object_id == session["id"]]
    assert (expired.type, expired.pending) == ("checkout.session.expired", 1)
    box.web.delete("/_faults")
    box.advance(86400)


def test_a_key_that_lacks_a_permission(box: Running) -> None:
    """The refusal of a restricted key names the missing permission; no part of the key is shown."""
    with pytest.raises(ProcessorRefused) as refused:
        asyncio.run(reads(box, READER_KEY).get_balance())
    assert refused.value.status == 403
    assert "it needs rak_balance_read" in str(refused.value)
    assert READER_KEY[-4:] not in str(refused.value)
    assert every(reads(box, READER_KEY).list_charges(box.clock.now() + timedelta(days=1))) == []


def test_half_a_list(box: Running) -> None:
    """A list whose second page fails raises, so that half is not taken for all."""

    async def read_on() -> None:
        items = reads(box).list_entries(bins.id)
        assert await anext(items)
        box.fault("server_error", path="/v1/radar/value_list_items")
        with pytest.raises(ProcessorUnreachable):
            assert [item async for item in items]

    (bins,) = [one for one in every(reads(box).list_value_lists()) if one.alias == "card_bin_blocklist"]
    for number in range(101):
        box.post("/v1/radar/value_list_items", {"value": str(500000 + number), "value_list": bins.id})
    asyncio.run(read_on())
