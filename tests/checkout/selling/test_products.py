"""In live mode a visitor is sold what the processor has accepted, and nothing else (change rule 1)."""

import json
from dataclasses import replace

import pytest

from orrery.checkout.catalogue import Product, session_parameters
from orrery.checkout.errors import NotPreflighted, SessionMismatch
from orrery.checkout.records import Offer
from orrery.checkout.selling.service import CreatedSession, Purchase
from orrery.errors import NotConfigured, NotFound
from orrery.ports.store import Put
from tests.support.checkout import API_VERSION, OTHER, PRODUCT, TERMS
from tests.support.rehearsal import Rehearsal
from tests.support.tables import each_case

NEWER = replace(PRODUCT, trust_copy="Newer: one year for {CERT}.", price_id="price_newer")


async def buy(rehearsal: Rehearsal, product: Product = PRODUCT, key: str | None = None) -> CreatedSession:
    """Press the shop's button."""
    return await rehearsal.checkout.create(Purchase(product.key, "203.0.113.7", key))


async def test_never_accepted(rehearsal: Rehearsal) -> None:
    """A product without a receipt is not sold: the processor is not asked, and nothing is stored."""
    for key in (None, "click-1"):
        with pytest.raises(NotPreflighted):
            await buy(rehearsal, key=key)
    assert rehearsal.till.asked == []
    assert await rehearsal.memory.scan("") == []


async def test_accepted(rehearsal: Rehearsal) -> None:
    """After a preflight it is sold with exactly the accepted parameters, in their API version."""
    await rehearsal.preflighted("isc2/cissp")
    await buy(rehearsal)
    assert rehearsal.till.asked[-1] == (session_parameters(PRODUCT, TERMS), API_VERSION)
    with pytest.raises(NotPreflighted):
        await buy(rehearsal, OTHER)


async def test_newer_parameters_wait() -> None:
    """A changed setting or version does not reach a visitor before it was accepted; then it does."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    await rehearsal.preflighted()
    changed = rehearsal.again(products=(NEWER,), api_version="2026-09-30.endive")
    await buy(changed)
    assert changed.till.asked[-1] == (session_parameters(PRODUCT, TERMS), API_VERSION)
    await changed.preflighted()
    await buy(changed)
    assert changed.till.asked[-1] == (session_parameters(NEWER, TERMS), "2026-09-30.endive")


async def test_the_offer_names_the_accepted_price() -> None:
    """What is stored is what was sold: the receipt's price, not the setting's."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    await rehearsal.preflighted()
    changed = rehearsal.again(products=(NEWER,))
    created = await buy(changed)
    entry = await changed.memory.get(f"offer:{created.id}")
    assert entry is not None
    assert Offer.model_validate_json(entry.value).price_id == "price_cissp"


async def test_taken_out_of_the_catalogue(rehearsal: Rehearsal) -> None:
    """What is no longer in the catalogue is unknown, whatever receipts there are."""
    await rehearsal.preflighted()
    with pytest.raises(NotFound):
        await buy(rehearsal.again(products=(OTHER,)))


async def test_without_a_price() -> None:
    """A product whose price was taken away is not sold, in no mode, whatever receipts there are."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    await rehearsal.preflighted()
    bare = rehearsal.again(products=(replace(PRODUCT, price_id=None),))
    for one in (bare, bare.again(livemode=False)):
        with pytest.raises(NotConfigured, match="names no price"):
            await buy(one)


async def test_outside_live_mode() -> None:
    """In test and sandbox mode today's parameters are sold, with or without a receipt."""
    rehearsal = Rehearsal(livemode=False, products=(PRODUCT,))
    await buy(rehearsal)
    await rehearsal.preflighted()
    await buy(rehearsal.again(products=(NEWER,)))
    assert [sent for sent, _ in rehearsal.till.asked] == [
        session_parameters(PRODUCT, TERMS),
        session_parameters(PRODUCT, TERMS),
        session_parameters(NEWER, TERMS),
    ]


@each_case(
    ("old", "new"),
    [
        (b'"automatic"', b'"any"'),
        (b'"price_cissp"', b'"price_other"'),
        (b"dahlia", b"endive"),
        (b'"v":1', b'"v":2'),
        (b"{", b""),
    ],
)
async def test_an_altered_receipt_proves_nothing(old: bytes, new: bytes) -> None:
    """A receipt that was changed since, or cannot be read, is none: the product is not sold."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    await rehearsal.preflighted()
    (entry,) = await rehearsal.memory.scan("receipt:")
    assert old in entry.value
    await rehearsal.memory.commit([Put(entry.key, entry.value.replace(old, new, 1))])
    with pytest.raises(NotPreflighted):
        await buy(rehearsal)


async def test_a_receipt_of_a_rehearsal() -> None:
    """What a sandbox, or the test mode, has accepted proves nothing once the same store sells for money."""
    rehearsal = Rehearsal(products=(PRODUCT,), livemode=False, deployment="the sandbox")
    await rehearsal.preflighted()
    live = rehearsal.again(livemode=True, deployment="live")
    assert (await live.selling.status(PRODUCT)).state == "never"
    with pytest.raises(NotPreflighted):
        await buy(live)
    live.till.livemode = True
    await live.preflighted()
    assert await buy(live)


async def test_another_products_receipt(rehearsal: Rehearsal) -> None:
    """A receipt that was put in another one's place sells nothing: a visitor would get the wrong product."""
    await rehearsal.preflighted()
    receipts = await rehearsal.memory.scan("receipt:")
    swapped = [Put(one.key, other.value) for one, other in zip(receipts, receipts[::-1], strict=True)]
    await rehearsal.memory.commit(swapped)
    with pytest.raises(NotPreflighted):
        await buy(rehearsal)


async def test_one_read_a_checkout() -> None:
    """A checkout in live mode reads the store once."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    await rehearsal.preflighted()
    rehearsal.watched.reads.clear()
    await buy(rehearsal)
    assert rehearsal.watched.reads.total() == 1


async def test_another_amount_than_the_accepted_one() -> None:
    """A session that asks for more or less than the accepted one reaches no visitor."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    await rehearsal.preflighted()
    for amount in (4899, 9900):
        rehearsal.till.makes = {"amount_total": amount}
        with pytest.raises(
            SessionMismatch, match=f"{amount} usd in the smallest unit, where 4900 usd was accepted"
        ):
            await buy(rehearsal)
    rehearsal.till.makes = {}
    assert await buy(rehearsal)


async def test_another_currency_than_the_accepted_one() -> None:
    """It is sold, and the owner gets one push until the new currency was accepted, or another one comes."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    await rehearsal.preflighted()
    for currency, pushes in (("nzd", 1), ("nzd", 1), ("usd", 1), ("eur", 2)):
        rehearsal.till.makes = {"amount_total": 8200, "currency": currency} if currency != "usd" else {}
        assert await buy(rehearsal)
        told = [row for row in await rehearsal.told() if row.id.startswith("session-currency-")]
        assert len(told) == pushes
    assert (told[0].title, told[0].priority) == ("Another currency: isc2/cissp", "high")
    rehearsal.till.makes = {"amount_total": 8200, "currency": "nzd"}
    await rehearsal.preflighted()
    rehearsal.till.makes = {"amount_total": 4900, "currency": "nzd"}
    with pytest.raises(SessionMismatch):
        await buy(rehearsal)


async def test_a_receipt_of_an_older_release() -> None:
    """A receipt without an amount sells as before; the next preflight learns the amount."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    await rehearsal.preflighted()
    (entry,) = await rehearsal.memory.scan("receipt:")
    old = {
        name: value for name, value in json.loads(entry.value).items() if name not in {"amount_total", "currency"}
    }
    await rehearsal.memory.commit([Put(entry.key, json.dumps(old).encode())])
    rehearsal.till.makes = {"amount_total": 9900}
    assert await buy(rehearsal)
    await rehearsal.preflighted()
    rehearsal.till.makes = {}
    with pytest.raises(SessionMismatch):
        await buy(rehearsal)
