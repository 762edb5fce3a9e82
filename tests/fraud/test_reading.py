"""How declines are read, and joined with the client address that they came from (decision 18)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from orrery.fraud.reading import LOOKUPS
from orrery.ports.processor import Review
from orrery.ports.processor.errors import ItemUnreadable, ProcessorUnreachable
from tests.fraud.screen import ADDRESS, CARD, EMAIL, OTHER_ADDRESS, Shop

DAY = timedelta(hours=24)


async def test_declines_are_joined_with_the_address_of_the_offer(shop: Shop) -> None:
    """Three declines whose sessions one client address asked for are a cluster of that address."""
    shop.decline(-20, -10, 0)
    look = await shop.fraud.reading.search(DAY)
    assert [(one.trait, one.value, len(one.declines)) for one in look.clusters] == [("address", ADDRESS, 3)]
    assert (look.charges, look.declines, look.unasked) == (3, 3, 0)


async def test_only_failed_charges_count(shop: Shop) -> None:
    """What went through, or is under way, is no decline."""
    shop.decline(-30, -20)
    shop.decline(-10, status="succeeded", paid=True)
    shop.decline(0, status="pending")
    look = await shop.fraud.reading.search(DAY)
    assert (look.clusters, look.charges, look.declines) == ((), 4, 2)


async def test_what_the_processor_stopped_counts_and_is_told_apart(shop: Shop) -> None:
    """A charge that reached no bank is a decline of the cluster, and is counted by itself, too."""
    shop.decline(-20, -10)
    shop.decline(0, network_status="not_sent_to_network")
    (cluster,) = (await shop.fraud.reading.search(DAY)).clusters
    assert (len(cluster.declines), cluster.stopped) == (3, 1)


async def test_a_review_tells_an_address_that_no_offer_does(shop: Shop) -> None:
    """Where no offer is known, the open reviews are asked: by charge or by payment."""
    shop.decline(-20, -10, 0, address=None)
    first, second, third = reversed(shop.screen.charges)
    review = Review("prv_1", shop.clock.now(), True, "rule", first.id, None, f"::ffff:{ADDRESS}")  # noqa: FBT003  a value type
    shop.screen.reviews = [review, replace(review, charge=None, payment_intent=second.payment_intent)]
    shop.screen.addresses[third.payment_intent or ""] = ADDRESS
    assert [one.value for one in (await shop.fraud.reading.search(DAY)).clusters] == [ADDRESS]
    assert shop.screen.asked.count("list_reviews") == 1


@pytest.mark.parametrize("noted", [None, "unknown", "not an address"])
async def test_an_unknown_address_groups_nothing(noted: str | None, shop: Shop) -> None:
    """Declines whose address is known from nowhere share no address, but may share a card or an e-mail address."""
    shop.decline(-20, -10, 0, address=noted, card_fingerprint=CARD, email=EMAIL.upper())
    found = (await shop.fraud.reading.search(DAY)).clusters
    assert {(one.trait, one.value) for one in found} == {("card", CARD), ("email", EMAIL)}


async def test_a_charge_without_a_payment_is_not_asked_about(shop: Shop) -> None:
    """A charge of another program may have no payment intent; nothing is asked for it."""
    shop.decline(-20, -10, 0, payment_intent=None, card_fingerprint=CARD)
    look = await shop.fraud.reading.search(DAY)
    assert [one.trait for one in look.clusters] == ["card"]
    assert (shop.screen.asked.count("address_of"), look.unasked) == (0, 0)


async def test_a_payment_is_asked_about_once(shop: Shop) -> None:
    """The same payment is asked about once: within a look, in the next one, and when its address is not known."""
    shop.decline(-20, -10, payment_intent="pi_same")
    shop.decline(0, address=None)
    await shop.fraud.reading.search(DAY)
    assert shop.screen.asked.count("address_of") == 2
    shop.decline(5)
    shop.clock.advance(10)
    await shop.fraud.reading.search(DAY)
    assert shop.screen.asked.count("address_of") == 3


async def test_lonely_declines_are_not_asked_about(shop: Shop) -> None:
    """A decline that lies too far from others to be in any cluster costs no call."""
    shop.decline(-3000, -2000, -1000, -10, 0)
    assert (await shop.fraud.reading.search(DAY)).clusters == ()
    assert shop.screen.asked == ["list_charges"]


async def test_a_look_asks_for_a_bounded_number_of_payments(shop: Shop) -> None:
    """A long attack is looked up over several looks, its newest declines first; the look tells what is left."""
    shop.decline(*range(-(LOOKUPS + 20), 0))
    look = await shop.fraud.reading.search(DAY)
    assert (shop.screen.asked.count("address_of"), look.unasked) == (LOOKUPS, 20)
    assert [len(one.declines) for one in look.clusters] == [LOOKUPS]
    assert look.clusters[0].last == shop.screen.charges[0].created
    look = await shop.fraud.reading.search(DAY)
    assert (shop.screen.asked.count("address_of"), look.unasked) == (LOOKUPS + 20, 0)
    assert [len(one.declines) for one in look.clusters] == [LOOKUPS + 20]


async def test_a_processor_that_is_away_is_asked_again(shop: Shop) -> None:
    """A look that fails tells so, and what it could not learn is asked for by the next."""
    shop.decline(-20, -10, 0)
    shop.screen.troubles["address_of"] = [ProcessorUnreachable("No answer.", same_key=True)]
    with pytest.raises(ProcessorUnreachable):
        await shop.fraud.reading.search(DAY)
    assert len((await shop.fraud.reading.search(DAY)).clusters) == 1


async def test_two_addresses_are_two_clusters(shop: Shop) -> None:
    """Declines from different addresses are not added up."""
    shop.decline(-20, -10, 0)
    shop.decline(-22, -12, -2, address=OTHER_ADDRESS)
    shop.decline(-5, -4, address="8.8.4.4")
    assert {one.value for one in (await shop.fraud.reading.search(DAY)).clusters} == {ADDRESS, OTHER_ADDRESS}


async def test_a_charge_that_cannot_be_read_hides_no_cluster(shop: Shop) -> None:
    """The declines around a charge that is not as documented are a cluster all the same, and it is named."""
    shop.decline(-20, -10, 0)
    odd = ItemUnreadable("charge", "ch_odd", ("amount",))
    shop.screen.unreadable.append(odd)
    look = await shop.fraud.reading.search(DAY)
    assert [len(one.declines) for one in look.clusters] == [3]
    assert look.unreadable == (odd,)
