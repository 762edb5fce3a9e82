"""What was accepted goes on selling after a mistake in the settings, and what the checks report about it."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest

from orrery.checkout.catalogue import Product, session_parameters
from orrery.checkout.selling.service import Purchase
from orrery.errors import NotConfigured, NotFound, OrreryError, StoreUnavailable
from orrery.ports.health import Finding
from orrery.runtime.outbox import Notification, Outbox
from orrery.runtime.watch import OVER_AFTER, OutageWatch
from tests.support.checkout import API_VERSION, OTHER, PRODUCT, TERMS
from tests.support.rehearsal import Rehearsal
from tests.support.tables import each_case

PART = "product isc2/cissp"
Change = Callable[[Rehearsal], Rehearsal]


def with_products(*products: Product) -> Change:
    """Return a restart with other products."""
    return lambda rehearsal: rehearsal.again(products=(*products, OTHER))


SLIPS: dict[str, Change] = {
    "a blank is missing": with_products(replace(PRODUCT, trust_copy="One year of questions.No subscription.")),
    "no text": with_products(replace(PRODUCT, trust_copy=" ")),
    "a long text": with_products(replace(PRODUCT, trust_copy="x" * 1201)),
    "an address in the title": with_products(replace(PRODUCT, title="shop.example")),
    "no title": with_products(replace(PRODUCT, title="")),
    "an empty price": with_products(replace(PRODUCT, price_id=" ")),
    "listed twice": with_products(PRODUCT, replace(PRODUCT, title="Another", price_id="price_other")),
    "no addresses": lambda rehearsal: rehearsal.again(terms=None),
}
"""Slips that Orrery refuses: with a receipt the accepted parameters are sold."""
TAKEN_OFF: dict[str, Change] = {
    "removed": with_products(),
    "another vendor_slug": with_products(replace(PRODUCT, vendor_slug="isc3")),
    "no slug": with_products(replace(PRODUCT, cert_code="CISSP")),
    "no price": with_products(replace(PRODUCT, price_id=None)),
    "no price, and a slip": with_products(replace(PRODUCT, price_id=None, title="")),
}
"""Changes after which the product is not sold, whatever receipts there are."""


async def live() -> Rehearsal:
    """Return a deployment whose products are accepted."""
    rehearsal = Rehearsal()
    await rehearsal.preflighted()
    return rehearsal


async def buy(rehearsal: Rehearsal) -> str:
    """Press the button of `PRODUCT`; return the session."""
    return (await rehearsal.checkout.create(Purchase(PRODUCT.key, "203.0.113.7"))).id


async def broken(rehearsal: Rehearsal) -> dict[str, Finding]:
    """Return what is broken, by part."""
    found = [*await rehearsal.preflight.unusable(), *await rehearsal.preflight.local()]
    return {one.part: one for one in found if one.state == "broken"}


@each_case("case", SLIPS)
async def test_what_was_accepted_goes_on(case: str) -> None:
    """A visitor gets exactly what was accepted; without a receipt, or outside live mode, nothing is sold."""
    changed = SLIPS[case](await live())
    await buy(changed)
    assert changed.till.asked[-1] == (session_parameters(PRODUCT, TERMS), API_VERSION)
    new = SLIPS[case](Rehearsal())
    for unsold in (new, changed.again(livemode=False)):
        asked = len(unsold.till.asked)
        with pytest.raises(NotConfigured, match="The settings of isc2/cissp cannot be used: "):
            await buy(unsold)
        assert len(unsold.till.asked) == asked


@each_case("case", TAKEN_OFF)
async def test_what_is_taken_off_sale(case: str) -> None:
    """A product that is not listed any more, or has no price, is not sold."""
    changed = TAKEN_OFF[case](await live())
    with pytest.raises((NotFound, NotConfigured)):
        await buy(changed)


@each_case("case", [*SLIPS, *TAKEN_OFF])
@each_case("livemode", [True, False])
@each_case("accepted", [True, False])
async def test_the_pages_agree_with_the_till(case: str, livemode: bool, accepted: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """What is said to be sold is sold, and nothing else: by status, finding, page and till."""
    rehearsal = await live() if accepted else Rehearsal()
    changed = (SLIPS | TAKEN_OFF)[case](rehearsal).again(livemode=livemode)
    sold = True
    try:
        await buy(changed)
    except OrreryError:
        sold = False
    statuses = [one for one in await changed.selling.statuses() if one.product.key == PRODUCT.key]
    assert [one.sold for one in statuses] == [sold] * len(statuses)
    said = " ".join(one.why for one in (await broken(changed)).values())
    mistake = any(one.state == "mistake" for one in statuses)
    assert ("what was accepted last is sold".casefold() in said.casefold()) == (mistake and sold)
    words = [row[1] for row in (await changed.preflight.panel()).rows if row[0] == PRODUCT.name]
    assert [("what was accepted last is sold" in str(one)) for one in words] == [mistake and sold] * len(words)


async def test_a_mistake_outside_live_mode_is_bad() -> None:
    """Where today's settings are sold, a mistake takes its product off sale."""
    changed = SLIPS["no title"](await live()).again(livemode=False)
    assert (await changed.preflight.panel()).tone == "bad"


async def test_the_owner_is_told_at_once_and_once() -> None:
    """One push at the first look after the start, none at the next start, and one when it is over."""
    changed = SLIPS["a blank is missing"](await live())
    (push,) = await told(changed, watch_of(changed))
    assert (push.title, push.priority) == (f"Broken: {PART}", "high")
    assert push.body.startswith(
        "The settings cannot be used, and what was accepted last is sold: trust_copy holds"
    )
    assert "`orrery config check`" in push.body
    changed.clock.advance(3600)
    again = changed.again()
    assert len(await told(again, watch_of(again))) == 1
    corrected = changed.again(products=(PRODUCT, OTHER))
    watch = watch_of(corrected)
    assert len(await told(corrected, watch)) == 1
    changed.clock.advance(OVER_AFTER.total_seconds())
    assert [row.title for row in await told(corrected, watch)] == [f"Broken: {PART}", f"Works again: {PART}"]


def watch_of(rehearsal: Rehearsal) -> OutageWatch:
    """Return what tells the owner, in a process that starts."""
    return OutageWatch(rehearsal.memory, rehearsal.clock, rehearsal.preflight.unusable)


async def told(rehearsal: Rehearsal, watch: OutageWatch) -> list[Notification]:
    """Let it look; return every push about the product."""
    await watch.notify()
    rows = [row async for row in Outbox(rehearsal.memory, rehearsal.clock, {}).rows()]
    return sorted((row for row in rows if PART in row.title), key=lambda row: row.created_at)


@pytest.mark.parametrize(("others", "essential"), [((OTHER,), False), ((), True)])
async def test_a_new_product_with_a_mistake(
    others: tuple[Product, ...], *, essential: bool, rehearsal: Rehearsal
) -> None:
    """It is not sold, which is essential only where nothing else is."""
    await rehearsal.preflighted("isc2/ccsp")
    wrong = replace(PRODUCT, cert_code="issap", trust_copy="See example.com.")
    finding = (await broken(rehearsal.again(products=(wrong, *others))))["product isc2/issap"]
    assert finding.why.startswith("It is not sold: trust_copy holds 'example.com'")
    assert (finding.essential, finding.settled, finding.of_settings) == (essential, True, True)


async def test_a_store_that_fails() -> None:
    """A mistake is named without the store; what is sold instead is then said to be unknown."""
    changed = SLIPS["a blank is missing"](await live())
    changed.watched.get_errors.append(StoreUnavailable("locked"))
    finding = {one.part: one for one in await changed.preflight.unusable()}[PART]
    assert finding.why.startswith("trust_copy holds")
    assert finding.why.endswith("What is sold instead is not known: the store cannot be read.")
    assert not finding.essential


async def test_a_preflight_names_mistakes_and_tries_the_rest() -> None:
    """A product whose settings cannot be used is named with the reason, and the others are tried."""
    changed = SLIPS["no title"](await live())
    report = await changed.preflighted()
    assert [(one.product, one.result) for one in report.outcomes] == [
        ("isc2/cissp", "mistake"),
        ("isc2/ccsp", "accepted"),
    ]
    assert not report.is_well
    (only,) = (await changed.run("isc2/cissp")).outcomes
    assert (only.result, only.note) == ("mistake", "title is empty.")


NEWER = replace(PRODUCT, trust_copy="Newer words for {CERT}.")
BARE = replace(PRODUCT, cert_code="bare", price_id=None)


async def parts(rehearsal: Rehearsal) -> dict[str, Finding]:
    """Return what is found, by part."""
    return {one.part: one for one in await rehearsal.preflight.local()}


async def test_nothing_can_be_sold() -> None:
    """Before the first preflight nothing can be sold: that is essential, and each product is named."""
    finding = (await parts(Rehearsal()))["checkout receipts"]
    assert (finding.state, finding.essential) == ("broken", True)
    assert "isc2/cissp, isc2/ccsp" in finding.why
    assert "orrery checkout preflight" in finding.todo


async def test_one_cannot_be_sold(rehearsal: Rehearsal) -> None:
    """A product that was added is named, and is no reason to take the others off the air."""
    await rehearsal.preflighted("isc2/cissp")
    finding = (await parts(rehearsal))["checkout receipts"]
    assert (finding.state, finding.essential) == ("broken", False)
    assert "isc2/ccsp" in finding.why
    assert "isc2/cissp" not in finding.why


async def test_newer_ones_wait(rehearsal: Rehearsal) -> None:
    """Newer parameters that wait are told, and are not essential: the accepted ones are sold."""
    await rehearsal.preflighted()
    assert {one.state for one in (await parts(rehearsal)).values()} == {"ok"}
    found = await parts(rehearsal.again(products=(NEWER, OTHER)))
    assert set(found) == {"checkout parameters"}
    finding = found["checkout parameters"]
    assert (finding.state, finding.essential) == ("broken", False)
    assert "isc2/cissp" in finding.why


async def test_only_newer_ones_and_new_ones(rehearsal: Rehearsal) -> None:
    """When every product waits, but one is sold as it was accepted, something is sold."""
    await rehearsal.preflighted("isc2/cissp")
    found = await parts(rehearsal.again(products=(NEWER, OTHER)))
    assert [one.essential for one in found.values()] == [False, False]


async def test_without_a_price() -> None:
    """A product without a price cannot be sold in any mode, and is named, whatever else is wrong with it."""
    for livemode, bare in product((True, False), (BARE, replace(BARE, title=""))):
        finding = (await parts(Rehearsal(livemode=livemode, products=(PRODUCT, bare))))["checkout prices"]
        assert (finding.state, finding.essential, finding.settled) == ("broken", False, False)
        assert "isc2/bare" in finding.why


async def test_outside_live_mode() -> None:
    """Where today's settings are sold, receipts are nobody's concern."""
    assert await parts(Rehearsal(livemode=False)) == {}


async def test_many_products() -> None:
    """Of many products the first five are named."""
    many = tuple(replace(PRODUCT, cert_code=f"cert-{number}") for number in range(9))
    finding = (await parts(Rehearsal(products=many)))["checkout receipts"]
    assert "isc2/cert-4 and 4 more." in finding.why
    assert "cert-5" not in finding.why


async def test_without_addresses_or_store() -> None:
    """Without addresses, or while the store fails, other parts say what is wrong."""
    assert await parts(Rehearsal(terms=None)) == {}
    rehearsal = Rehearsal()
    rehearsal.watched.get_errors.append(StoreUnavailable("locked"))
    assert await parts(rehearsal) == {}


async def test_the_owner_is_told_once_a_day(rehearsal: Rehearsal) -> None:
    """What waits is pushed once a day until it was tried."""
    await rehearsal.preflighted()
    changed = rehearsal.again(products=(NEWER, OTHER))
    watch = OutageWatch(changed.memory, changed.clock, changed.preflight.local)
    for _ in range(3):
        await watch.notify()
        changed.clock.advance(3600)
    told = [row async for row in Outbox(changed.memory, changed.clock, {}).rows() if row.id.startswith("broken-")]
    assert [(row.channel, row.priority) for row in told] == [("push", "high")]
    assert "newer ones wait for a preflight" in told[0].body
