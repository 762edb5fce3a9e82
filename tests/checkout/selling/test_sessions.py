"""The owner's commands take a session's reference in place of its id (decision 46)."""

import pytest

from orrery.errors import NotFound
from orrery.ports.store import Put
from orrery.runtime.references import References
from tests.support.checkout import INDEX_KEY, Shop, record, session_json
from tests.support.tables import each_case

REFERENCES = References.of_store(INDEX_KEY)


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


@each_case("text", ["cs_1", "ann@example.org", "", "ref_", "owner_1", "prefix ref_000000000000"])
async def test_other_texts_are_left_as_they_are(text: str) -> None:
    """What is no reference is what it is: a session id, an address."""
    assert await Shop().lookup.named(text) == text
