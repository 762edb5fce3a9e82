"""The owner's commands take what people have of a session: a reference (decision 46), a charge, an address."""

from dataclasses import replace

import pytest

from orrery.checkout.records import Reversal
from orrery.errors import Invalid, NotFound
from orrery.ports.processor import Charge
from orrery.ports.store import Put
from orrery.runtime.references import References
from tests.support.checkout import BUYER, INDEX_KEY, Shop, record, session, session_json, stored_access
from tests.support.clock import START
from tests.support.tables import each_case

REFERENCES = References.of_store(INDEX_KEY)
CHARGE = Charge("ch_1", START, "pi_cs_1", 4900, 0, "usd", paid=True, disputed=False)


@pytest.mark.parametrize("prefix", ["access:", "pending:", "offer:", "own-session:"])
async def test_reference_finds_its_session(prefix: str, shop: Shop) -> None:
    """A reference finds a session of which any record is kept, also behind the first page."""
    for start in range(0, 2100, 700):
        await shop.store.commit([Put(f"{prefix}cs_{number}", b"") for number in range(start, start + 700)])
    found = [await shop.lookup.named(REFERENCES.of(f"cs_{number}")) for number in (0, 999, 1000, 2099)]
    assert found == ["cs_0", "cs_999", "cs_1000", "cs_2099"]


async def test_reference_of_a_sale(shop: Shop) -> None:
    """However a reference is typed, it leads to the sale."""
    await shop.offered("cs_test_a1")
    await shop.receive("evt_1", session_json("cs_test_a1"))
    assert await shop.lookup.named(f" {REFERENCES.of('cs_test_a1').upper()}") == "cs_test_a1"


async def test_reference_of_nobody(shop: Shop) -> None:
    """A reference of another store, or of a session that is not there, is said to be of no session here."""
    await shop.store.commit([Put("access:cs_1", record().to_bytes())])
    for reference in (REFERENCES.of("cs_2"), References.of_store(b"another").of("cs_1")):
        with pytest.raises(NotFound, match="No session here has this reference"):
            await shop.lookup.named(reference)


@each_case("text", ["cs_1", "", "ref_", "owner_1", "prefix ref_000000000000"])
async def test_other_texts_are_left_as_they_are(text: str) -> None:
    """What is no other name of a session is what it is."""
    assert await Shop().lookup.named(text) == text


async def test_an_address_names_the_only_session_of_its_buyer() -> None:
    """Of several the candidates are listed by their references, and none is chosen."""
    shop = Shop()
    with pytest.raises(NotFound, match="of this address"):
        await shop.lookup.named(BUYER)
    await shop.store.commit(stored_access(record("cs_1")))
    assert await shop.lookup.named(BUYER.upper()) == "cs_1"
    await shop.store.commit(stored_access(record("cs_2")))
    with pytest.raises(Invalid) as refused:
        await shop.lookup.named(BUYER)
    assert all(REFERENCES.of(one) in str(refused.value) for one in ("cs_1", "cs_2"))


async def test_a_charge_and_a_payment_name_their_session() -> None:
    """A charge is found in what went back, and else at the processor, which knows the session of a payment."""
    shop = Shop()
    shop.processor.add(session("cs_1"))
    shop.processor.charges = [replace(CHARGE, id="ch_1"), replace(CHARGE, id="ch_2", payment_intent="pi_none")]
    assert await shop.lookup.named("pi_cs_1") == "cs_1"
    assert await shop.lookup.named("ch_1") == "cs_1"
    for unknown in ("pi_none", "ch_2", "ch_3"):
        with pytest.raises(NotFound):
            await shop.lookup.named(unknown)
    gone_back = Reversal(payment_intent="pi_9", session_id="cs_9", charge_id="ch_3", currency="usd")
    await shop.store.commit([Put("taken-back:pi_9", gone_back.to_bytes())])
    assert await shop.lookup.named("ch_3") == "cs_9"
    assert await shop.lookup.named("ch_1") == "cs_1"  # what went back is another charge's
