"""A payment session is read by its id, or by the reference that stands for it."""

from dataclasses import dataclass

import pytest

from orrery.account.session import SessionLookup
from orrery.errors import NotFound
from orrery.ports.processor import CheckoutSession, ProcessorReads
from orrery.ports.processor.errors import ProcessorRefused
from orrery.ports.store import Put
from orrery.runtime.references import References
from tests.support.checkout import INDEX_KEY, Shop, record, session


@dataclass
class OneSession(ProcessorReads):
    """A processor that has the session cs_1; with a `status` it refuses any other question with it."""

    status: int = 404

    async def get_session(self, session_id: str) -> CheckoutSession:
        """Return the session."""
        if session_id == "cs_1":
            return session("cs_1")
        raise ProcessorRefused("It was refused.", status=self.status)


async def lookup(status: int = 404) -> SessionLookup:
    """Return the lookup of a shop that knows cs_1."""
    shop = Shop()
    await shop.store.commit([Put("access:cs_1", record("cs_1").to_bytes())])
    reads = OneSession(status)  # pyright: ignore[reportAbstractUsage]  only a session is asked for
    return SessionLookup(reads, shop.lookup)


@pytest.mark.parametrize("named", ["cs_1", References.of_store(INDEX_KEY).of("cs_1")])
async def test_a_session_is_found_by_its_id_and_by_its_reference(named: str) -> None:
    """Both lead to the same session."""
    assert (await (await lookup()).find(named)).id == "cs_1"


@pytest.mark.parametrize("named", ["cs_2", References.of_store(INDEX_KEY).of("cs_2")])
async def test_a_session_that_nobody_knows(named: str) -> None:
    """Neither an id that the processor does not know is found, nor a reference that the shop does not know."""
    with pytest.raises(NotFound):
        await (await lookup()).find(named)


async def test_another_refusal_is_not_hidden() -> None:
    """A key without the right to read sessions is not said to be a session that is missing."""
    with pytest.raises(ProcessorRefused):
        await (await lookup(403)).find("cs_2")
