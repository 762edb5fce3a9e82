"""The checkout operation: tries, keys, deadlines, offers (decisions 2 to 8)."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from anyio.lowlevel import checkpoint

from orrery.adapters.memory import MemoryStore
from orrery.checkout.catalogue import ProductKey, session_parameters
from orrery.checkout.errors import KeyReused
from orrery.checkout.records import Offer
from orrery.checkout.selling.service import DEADLINE, CreatedSession, Purchase
from orrery.errors import NotConfigured, NotFound, StoreUnavailable
from orrery.ports.health import Finding
from orrery.ports.processor.errors import ProcessorError, ProcessorRefused, ProcessorUnreachable
from tests.support.checkout import OTHER, PRODUCT, TERMS, Shop
from tests.support.clock import START, ManualClock
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

NETWORK = ProcessorUnreachable("The processor cannot be reached.", same_key=True)
CONFLICT = ProcessorUnreachable("The processor answered 409.", same_key=True, status=409)
TOO_MANY = ProcessorUnreachable("The processor answered 429.", same_key=True, status=429)
HTML = ProcessorUnreachable("The processor answered 200.", same_key=True, status=200)
SERVER = ProcessorUnreachable("The processor answered 500.", same_key=False, status=500)
REFUSED = ProcessorRefused("Invalid value.", status=400, kind="invalid_request_error", param="success_url")

ONCE = Purchase(PRODUCT.key, "203.0.113.7")
KEYED = replace(ONCE, idempotency_key="click-1")


async def create(shop: Shop, purchase: Purchase = ONCE) -> CreatedSession:
    """Create a session, moving the clock on whenever the service waits."""
    task = asyncio.create_task(shop.checkout.create(purchase))
    while not task.done():
        await checkpoint()
        if shop.clock.sleepers:
            shop.clock.advance(0.1)
    return await task


def failing(*errors: ProcessorError, seconds: float = 0) -> Shop:
    """Return a shop whose processor fails so, one call after the other, then works."""
    shop = Shop()
    shop.processor.before["create"] += errors
    shop.processor.takes = seconds
    return shop


def keys_used(shop: Shop) -> list[str]:
    """Return the idempotency keys that the processor saw."""
    return [call.idempotency_key for call in shop.processor.calls]


async def test_a_session_is_created(shop: Shop) -> None:
    """The visitor gets the session's id and address; the processor got exactly the product's parameters."""
    assert await create(shop) == CreatedSession("cs_1", "https://pay.example/1")
    (call,) = shop.processor.calls
    assert call.parameters == session_parameters(PRODUCT, TERMS)


async def test_the_offer_is_kept(shop: Shop) -> None:
    """What was offered is stored with price, amount, currency, address and time (decision 8)."""
    await create(shop)
    (entry,) = await shop.entries("offer:")
    assert Offer.model_validate_json(entry.value) == Offer(
        session_id="cs_1",
        product_type="cert",
        cert_code="cissp",
        vendor_slug="isc2",
        price_id="price_cissp",
        amount_total=4900,
        currency="usd",
        client_address="203.0.113.7",
        created_at=START,
        title="CISSP",
    )
    (index,) = await shop.entries("offer-address:")
    assert index.value == b"cs_1"


@each_case("error", [NETWORK, CONFLICT, TOO_MANY, HTML, SERVER])
async def test_the_key_of_the_second_try(error: ProcessorUnreachable) -> None:
    """It is the first one's, but for a 5xx: that would be replayed under its key."""
    shop = failing(error)
    assert (await create(shop)).id == "cs_1"
    first, second = keys_used(shop)
    assert (first == second) is (error is not SERVER)


@pytest.mark.parametrize("errors", [[NETWORK] * 3, [SERVER] * 3, [SERVER, TOO_MANY, NETWORK]])
async def test_two_tries_at_most(errors: list[ProcessorUnreachable]) -> None:
    """The second failure is the visitor's answer, and no offer is stored."""
    shop = failing(*errors)
    with pytest.raises(ProcessorUnreachable) as failed:
        await create(shop)
    assert failed.value is errors[1]
    assert len(shop.processor.calls) == 2
    assert await shop.entries() == []


async def test_a_refusal_is_no_reason_to_try_again() -> None:
    """What the processor refuses is asked once."""
    shop = failing(REFUSED)
    with pytest.raises(ProcessorRefused):
        await create(shop)
    assert len(shop.processor.calls) == 1
    assert await shop.entries("offer") == []


async def outage(shop: Shop) -> Finding:
    """Return how session creation goes."""
    (found,) = await shop.creation_health.local()
    return found


@each_case("error", [NETWORK, CONFLICT, TOO_MANY, HTML, SERVER, REFUSED])
async def test_what_the_processor_fails_is_an_outage(error: ProcessorError) -> None:
    """Each visitor's request that the processor fails counts once, however often it was tried; the fifth tells."""
    shop = failing(*[error] * 10)
    for _ in range(5):
        assert (await outage(shop)).state == "ok"
        with pytest.raises(ProcessorError):
            await create(shop)
    found = await outage(shop)
    assert (found.state, str(error) in found.why) == ("broken", True)
    assert await shop.told() == []


async def test_a_session_ends_a_row_of_failures() -> None:
    """Four failures, a session and four failures are no outage."""
    shop = failing(*[REFUSED] * 4)
    for _ in range(2):
        for _ in range(4):
            with pytest.raises(ProcessorRefused):
                await create(shop)
        await create(shop)
        shop.processor.before["create"] += [REFUSED] * 4
    assert (await outage(shop)).state == "ok"


async def test_what_is_not_the_processors_doing_is_no_outage() -> None:
    """An unknown product, a key that comes back with another one, and a store that fails do not count."""
    clock = ManualClock()
    shop = Shop(clock, store := UnreliableStore(MemoryStore(clock)))
    unconfigured = Shop(shop.clock, shop.store, terms=None)
    await create(shop, KEYED)
    for _ in range(6):
        with pytest.raises(NotFound):
            await create(shop, Purchase(ProductKey("cert", "ccie", "cisco"), "203.0.113.7"))
        with pytest.raises(KeyReused):
            await create(shop, replace(KEYED, product=OTHER.key))
        with pytest.raises(NotConfigured):
            await create(unconfigured)
        store.commit_errors = [StoreUnavailable("full")]
        with pytest.raises(StoreUnavailable):
            await create(shop)
    assert [(await outage(one)).state for one in (shop, unconfigured)] == ["ok", "ok"]


async def test_the_deadline_is_split() -> None:
    """The first try has half of the 10 s, the second what is left."""
    shop = failing(NETWORK, seconds=3)
    await create(shop)
    assert [call.deadline for call in shop.processor.calls] == [DEADLINE / 2, DEADLINE - 3]
    assert DEADLINE == 10.0


async def test_the_pause_counts() -> None:
    """What is waited after a 429 is taken from the second try's time."""
    shop = failing(TOO_MANY, seconds=5)
    await create(shop)
    first, second = [call.deadline for call in shop.processor.calls]
    assert (first, 4 < second < 5) == (5.0, True)


async def test_an_unknown_product(shop: Shop) -> None:
    """For a product that is not on sale the processor is not asked."""
    for key in (ProductKey("cert", "ccie", "cisco"), ProductKey("cert", "cissp", "cisco")):
        with pytest.raises(NotFound):
            await create(shop, Purchase(key, "203.0.113.7", "click-1"))
    assert shop.processor.calls == []
    assert await shop.entries() == []


async def test_without_addresses_nothing_is_sold() -> None:
    """A checkout without success and cancel address is not configured, and asks nobody."""
    shop = Shop(terms=None)
    with pytest.raises(NotConfigured):
        await create(shop)
    assert shop.processor.calls == []


async def test_a_double_click(shop: Shop) -> None:
    """The same key brings the same session, without asking the processor again."""
    assert await create(shop, KEYED) == await create(shop, KEYED)
    assert len(shop.processor.calls) == 1


async def test_two_clicks_at_once() -> None:
    """Two requests under one key at the same moment lead to one session."""
    clock = ManualClock()
    shop = Shop(clock, UnreliableStore(MemoryStore(clock)))
    first, second = await asyncio.gather(create(shop, KEYED), create(shop, KEYED))
    assert first == second
    assert len(shop.processor.calls) == 1
    assert len(await shop.entries("offer:")) == 1


async def test_without_a_key_each_request_is_its_own(shop: Shop) -> None:
    """Two requests without a key are two sessions, and leave no attempt behind."""
    assert (await create(shop)).id != (await create(shop)).id
    assert await shop.entries("attempt:") == []


async def test_another_product_under_the_key(shop: Shop) -> None:
    """A key that comes back with another product is refused (decision 2)."""
    await create(shop, KEYED)
    with pytest.raises(KeyReused):
        await create(shop, replace(KEYED, product=OTHER.key))
    assert len(shop.processor.calls) == 1


async def test_a_key_belongs_to_a_client_address(shop: Shop) -> None:
    """The same key from another address is another visitor's."""
    first = await create(shop, KEYED)
    assert await create(shop, replace(KEYED, client_address="203.0.113.8", product=OTHER.key)) != first
    assert len(shop.processor.calls) == 2


async def test_a_key_is_forgotten_after_a_day(shop: Shop) -> None:
    """A key counts for 24 h: then it may start another session, of another product too."""
    first = await create(shop, KEYED)
    shop.clock.advance(timedelta(hours=24).total_seconds() - 1)
    assert await create(shop, KEYED) == first
    shop.clock.advance(1)
    assert await create(shop, replace(KEYED, product=OTHER.key)) != first


@pytest.mark.parametrize(
    ("errors", "keys"),
    [
        ((NETWORK, NETWORK), [0, 0, 0]),
        ((TOO_MANY, TOO_MANY), [0, 0, 0]),
        ((SERVER, SERVER), [0, 1, 2]),
        ((SERVER, NETWORK), [0, 1, 1]),
    ],
    ids=["lost answers", "429", "server errors", "a server error and a lost answer"],
)
async def test_the_next_click_after_two_failures(errors: tuple[ProcessorError, ...], keys: list[int]) -> None:
    """The visitor's next click asks under the key of the last try, or under a new one where a 5xx spoilt that."""
    shop = failing(*errors)
    with pytest.raises(ProcessorUnreachable):
        await create(shop, KEYED)
    await create(shop, KEYED)
    used = keys_used(shop)
    assert [used.index(key) for key in used] == keys


async def test_changed_parameters_get_a_fresh_key() -> None:
    """A click repeated after the price changed carries a new processor key: the old one would be refused."""
    shop = failing(NETWORK, NETWORK)
    with pytest.raises(ProcessorUnreachable):
        await create(shop, KEYED)
    dearer = Shop(shop.clock, shop.store, products=(replace(PRODUCT, price_id="price_dearer"),))
    await create(dearer, KEYED)
    assert keys_used(dearer)[0] not in keys_used(shop)
    (entry,) = await dearer.entries("offer:")
    assert Offer.model_validate_json(entry.value).price_id == "price_dearer"


async def test_a_finished_attempt_outlives_a_change(shop: Shop) -> None:
    """A double click returns its session even when the price changed in between."""
    first = await create(shop, KEYED)
    dearer = Shop(shop.clock, shop.store, products=(replace(PRODUCT, price_id="price_dearer"),))
    assert await create(dearer, KEYED) == first
    assert dearer.processor.calls == []


async def test_processor_keys_are_unguessable_and_fit(shop: Shop) -> None:
    """Every processor key is new, within the vendor's 255 characters, and holds nothing of the visitor."""
    for _ in range(20):
        await create(shop)
    assert len(set(keys_used(shop))) == 20
    assert all(len(key) < 255 and "203" not in key.split("-")[0] for key in keys_used(shop))


async def test_an_offer_that_cannot_be_stored() -> None:
    """When the store fails after the session was made, the visitor gets no address and no half of it is kept."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    shop = Shop(clock, store)
    store.commit_errors = [StoreUnavailable("full")]
    with pytest.raises(StoreUnavailable):
        await create(shop)
    assert await shop.entries() == []


async def test_the_session_survives_a_lost_offer() -> None:
    """A click whose offer could not be stored leads, when repeated, to the same session and its offer."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    shop = Shop(clock, store)

    async def fail_the_second_commit() -> None:
        if store.commits == 2:
            raise StoreUnavailable("full")

    store.overtaken_by = fail_the_second_commit
    with pytest.raises(StoreUnavailable):
        await create(shop, KEYED)
    assert (await create(shop, KEYED)).id == "cs_1"
    assert len(shop.processor.created) == 1
    assert len(await shop.entries("offer:")) == 1


async def test_an_offer_is_kept_as_long_as_events_are(shop: Shop) -> None:
    """An offer goes after 400 days, with what is compared with it (decision 10)."""
    created = await create(shop)
    shop.clock.advance(timedelta(days=400).total_seconds() - 1)
    assert await shop.store.get(f"offer:{created.id}")
    shop.clock.advance(1)
    assert await shop.store.get(f"offer:{created.id}") is None
