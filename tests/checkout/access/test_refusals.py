"""Webhooks that are refused: counted by reason, one problem, and no flood by a stranger (decision 44)."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout import probe
from orrery.checkout.access.events import DELIVERY_TIME
from orrery.checkout.access.outages import NOTED_EVERY, SEVERAL
from orrery.checkout.records import RefusedWebhooks
from orrery.errors import Invalid, StoreUnavailable
from orrery.ports.health import ACT_TODAY, Finding
from orrery.ports.store import Put
from tests.support.checkout import SIGNING_SECRET, Shop, event_body, session_json, signed
from tests.support.clock import START, ManualClock
from tests.support.unreliable_store import UnreliableStore

BODY = event_body("evt_1", session_json(metadata={}))
OTHER = b"whsec_of_somebody_else"
HOUR, DAY = timedelta(hours=1).total_seconds(), timedelta(days=1).total_seconds()


async def refuse(shop: Shop, header: str = "", times: int = 1) -> None:
    """Deliver what is refused, with a signature that another secret made now unless one is given."""
    for _ in range(times):
        with pytest.raises(Invalid):
            await shop.webhook.receive(BODY, header or signed(BODY, shop.clock.now(), OTHER))


async def accept(shop: Shop) -> None:
    """Deliver what is accepted."""
    assert await shop.webhook.receive(BODY, signed(BODY, shop.clock.now())) == "foreign"


async def found(shop: Shop) -> Finding:
    """Return the problem that the list has while they are refused."""
    (one,) = await shop.webhook.refusals.local()
    return one


async def is_outage(shop: Shop) -> bool:
    """Return whether the list has it."""
    return (await found(shop)).state == "broken"


def signature(at: datetime, secret: bytes = SIGNING_SECRET) -> str:
    """Return a header signed at that time."""
    return signed(BODY, at, secret)


async def test_a_wrong_secret_is_one_outage(shop: Shop) -> None:
    """Several well-formed signatures in a row that do not match are one problem, for days, with its cause."""
    await refuse(shop, times=SEVERAL - 1)
    assert not await is_outage(shop)
    for _ in range(5):
        await refuse(shop, times=50)
        shop.clock.advance(DAY)
    problem = await found(shop)
    assert (problem.state, problem.priority, problem.settled) == ("broken", ACT_TODAY, True)
    assert "signing secret" in problem.why
    assert "stranger" in problem.why
    lasting = await shop.stored.refused_webhooks.require()
    assert lasting.record.since == START


async def test_the_next_good_signature_ends_it(shop: Shop) -> None:
    """The problem is over, and its part is well."""
    await refuse(shop, times=SEVERAL)
    shop.clock.advance(HOUR)
    for _ in range(3):
        await accept(shop)
    assert not await is_outage(shop)
    assert await shop.stored.refused_webhooks.get() is None


async def test_it_ends_after_a_restart(shop: Shop) -> None:
    """A wrong secret is put right by a restart: the next process ends the outage of the one before."""
    await refuse(shop, times=SEVERAL)
    restarted = Shop(shop.clock, shop.store)
    await accept(restarted)
    assert not await is_outage(restarted)


async def test_a_restart_in_an_outage_begins_none(shop: Shop) -> None:
    """A process that starts during an outage leaves its beginning as it is."""
    await refuse(shop, times=SEVERAL)
    shop.clock.advance(2 * DAY)
    await refuse(Shop(shop.clock, shop.store), times=SEVERAL)
    lasting = await shop.stored.refused_webhooks.require()
    assert lasting.record.since == START


async def test_one_that_another_node_accepts_ends_it(shop: Shop) -> None:
    """It knows of the outage by its last health round; where the first node still refuses, that begins it anew."""
    other = Shop(shop.clock, shop.store)
    await accept(other)
    await refuse(shop, times=SEVERAL)
    assert await is_outage(other)
    await accept(other)
    assert not await is_outage(shop)
    await refuse(shop)
    assert await is_outage(other)


async def test_two_nodes_push_a_days_first_outage_once(shop: Shop) -> None:
    """Neither a second node nor a restart pushes the second outage of a day at once."""
    for node in (shop, Shop(shop.clock, shop.store), Shop(shop.clock, shop.store)):
        await refuse(node, times=SEVERAL)
        await accept(node)
    assert len(await shop.told()) == 1


async def test_a_few_between_good_ones_are_no_outage(shop: Shop) -> None:
    """What is refused between accepted events is counted, and told to nobody."""
    for _ in range(5):
        await refuse(shop, times=SEVERAL - 1)
        assert not await is_outage(shop)
        await accept(shop)
    assert shop.webhook.refusals.counts == {"wrong signature": 10}


JUNK = [
    "garbage",
    "t=1,v1=00",
    f"t=now,v1={'0' * 64}",
    f"v1={'0' * 64}",
    f"t=1772366400,v0={'0' * 64}",
    f"t=999999999999,v1={'0' * 64}",
]


@pytest.mark.parametrize("header", JUNK)
async def test_junk_says_nothing_about_the_secret(header: str, shop: Shop) -> None:
    """A header that is not the processor's is counted, and nothing is stored, however often it comes."""
    await refuse(shop, header, 50)
    assert await shop.entries() == []
    assert shop.webhook.refusals.counts == {"no signature": 50}


@pytest.mark.parametrize("seconds", [301, -301, 10**9])
async def test_an_old_signature_of_a_stranger(seconds: int, shop: Shop) -> None:
    """A time that is far away, signed with another secret, says nothing about ours or about the clock."""
    await refuse(shop, signature(START - timedelta(seconds=seconds), OTHER), 50)
    assert await shop.entries() == []
    assert shop.webhook.refusals.counts == {"old signature": 50}


@pytest.mark.parametrize("seconds", [301, -301])
async def test_a_wrong_clock(seconds: int, shop: Shop) -> None:
    """The right secret at a time that is far away is a problem that names the clock."""
    await refuse(shop, signature(START - timedelta(seconds=seconds)), 50)
    assert "the clock of this machine" in (await found(shop)).why


@pytest.mark.parametrize("wrong", [HOUR, -HOUR])
async def test_a_machine_whose_clock_differs_from_the_stores(wrong: float) -> None:
    """What either clock finds fresh is accepted; what neither does, and a wrong secret, are refused as ever."""
    shop, other = Shop(), ManualClock(START + timedelta(seconds=wrong))
    shop.stored.store_time = other.now
    for clock in (shop.clock, other):
        for seconds in (-300, 300):
            header = signature(clock.now() + timedelta(seconds=seconds))
            assert await shop.webhook.receive(BODY, header) == "foreign"
        await refuse(shop, signature(clock.now(), OTHER))
        for seconds in (-301, 301):
            await refuse(shop, signature(clock.now() + timedelta(seconds=seconds)))
    assert shop.webhook.refusals.counts == {"wrong signature": 2, "clock": 4}


async def test_a_stranger_who_waits_for_good_events(shop: Shop) -> None:
    """Junk between all good events is a problem each time, and one push a day, even where no round sees it."""
    for day in (1, 2):
        for number in range(20):
            await refuse(shop, times=SEVERAL)
            problem = await found(shop)
            assert (problem.state, problem.early) == ("broken", number > 0)
            await accept(shop)
            assert not await is_outage(shop)
            shop.clock.advance(60)
        assert len(await shop.told()) == day
        shop.clock.advance(DAY)


async def test_another_cause_is_something_new(shop: Shop) -> None:
    """What is acknowledged of one cause does not hold back the other."""
    await refuse(shop, times=SEVERAL)
    first = await found(shop)
    await accept(shop)
    ahead = signature(shop.clock.now() + timedelta(seconds=HOUR))
    await refuse(shop, ahead, times=SEVERAL)
    assert {*(await found(shop)).items} - {*first.items}


async def test_a_second_outage_of_a_day_that_lasts_is_pushed(shop: Shop) -> None:
    """A stranger's junk in the morning hides no wrong secret in the afternoon."""
    await refuse(shop, times=SEVERAL)
    await accept(shop)
    await refuse(shop, times=SEVERAL)
    shop.clock.advance(HOUR - 1)
    assert (await found(shop)).early
    shop.clock.advance(1)
    assert not (await found(shop)).early


async def test_a_flood_writes_once() -> None:
    """However much of it comes, the store is asked for one commit a day."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    shop = Shop(clock, store)
    await refuse(shop, times=500)
    assert store.commits == 1


async def test_a_flood_after_the_push_of_the_day_asks_the_store_once() -> None:
    """A second row of the same day is one commit, however many come."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    shop = Shop(clock, store)
    await refuse(shop, times=SEVERAL)
    await accept(shop)
    clock.advance(NOTED_EVERY.total_seconds())
    store.reads.clear()
    before = store.commits
    await refuse(shop, times=500)
    assert (store.commits - before, store.reads.total()) == (1, 1)


async def test_a_flood_with_a_full_disk_tries_once() -> None:
    """One commit and one line in the log, not one of each for every request."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    shop = Shop(clock, store)
    await refuse(shop, times=SEVERAL)
    clock.advance(NOTED_EVERY.total_seconds())
    tried = store.commits
    store.commit_errors = [StoreUnavailable("full")] * 500
    await refuse(shop, times=500)
    assert store.commits - tried == 1


async def test_a_store_that_fails_leaves_the_answer_as_it_is() -> None:
    """A refusal that cannot be told is a refusal, and told by the next one."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    shop = Shop(clock, store)
    store.commit_errors = [StoreUnavailable("full")]
    await refuse(shop, times=SEVERAL)
    assert not await is_outage(shop)
    await refuse(shop)
    assert await is_outage(shop)


async def test_a_body_that_is_too_large(shop: Shop) -> None:
    """It is counted; with a header like the processor's it is told once a day, else to nobody."""
    await shop.webhook.refusals.too_large("garbage")
    await shop.webhook.refusals.too_large(signature(START - timedelta(hours=1), OTHER))
    assert await shop.entries() == []
    for _ in range(50):
        await shop.webhook.refusals.too_large(signature(START, OTHER))
    (push,) = await shop.told()
    assert "1 MiB" in push.body
    assert push.title == "A webhook is too large to be read"
    assert shop.webhook.refusals.counts == {"too large": 52}


async def doctor(shop: Shop) -> str:
    """Return what the doctor says about deliveries when the newest is too old to be on its way."""
    shop.clock.advance(DELIVERY_TIME.total_seconds() + 1)
    found = await shop.events.finding()
    assert found.state == "broken"
    return found.why


async def test_the_doctor_names_the_secret(shop: Shop) -> None:
    """While completed sessions do not arrive, and webhooks are refused, `doctor` says both."""
    shop.happened(START)
    await refuse(shop, times=SEVERAL)
    why = await doctor(shop)
    assert "did not arrive: 1" in why
    assert (
        "Webhooks are refused since 2026-03-01T12:00:00Z: wrong signature, the last at 2026-03-01T12:00:00Z" in why
    )
    assert "could not deliver" not in why


async def junk(shop: Shop) -> None:
    """Let a stranger try every header that is not like the processor's."""
    for header in JUNK:
        await refuse(shop, header, SEVERAL)
    await refuse(shop, signature(START - timedelta(days=1), OTHER), SEVERAL)
    await shop.webhook.refusals.too_large("garbage")


async def an_outage_long_ago(shop: Shop) -> None:
    """Let a stranger's headers be like the processor's, hours before the processor tries in vain."""
    await refuse(shop, times=SEVERAL)
    shop.clock.advance(NOTED_EVERY.total_seconds() + 1)


async def an_outage_that_is_over(shop: Shop) -> None:
    """Refuse, and accept again."""
    await refuse(shop, times=SEVERAL)
    await accept(shop)


async def nothing(shop: Shop) -> None:
    """Let nothing come here at all: no connection, a certificate, a proxy's 5xx."""


@pytest.mark.parametrize("before", [nothing, junk, an_outage_long_ago, an_outage_that_is_over])
async def test_what_was_not_refused_here_is_not_called_refused(
    before: Callable[[Shop], Awaitable[None]], shop: Shop
) -> None:
    """A delivery that failed elsewhere has words of its own, whatever strangers did or was refused before."""
    await before(shop)
    shop.happened(shop.clock.now(), "evt_9", "cs_9")
    why = await doctor(shop)
    assert "could not deliver" in why
    assert "efuse" not in why


async def test_an_outage_that_lasts_is_noted_every_ten_minutes() -> None:
    """So `doctor`, another process, knows which events may have been refused, and a flood writes little."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    shop = Shop(clock, store)
    for _ in range(5):
        await refuse(shop, times=100)
        clock.advance(NOTED_EVERY.total_seconds())
    assert store.commits == 5
    await refuse(shop)
    shop.happened(clock.now())
    assert "refused since 2026-03-01T12:00:00Z" in await doctor(shop)
    restarted = Shop(clock, store, account=shop.processor)
    clock.advance(DAY)
    shop.happened(clock.now(), "evt_2", "cs_2")
    await refuse(restarted, times=SEVERAL + 1)
    assert "could not deliver" not in await doctor(restarted)


async def test_some_refused_and_some_not(shop: Shop) -> None:
    """Of several that did not arrive, those from after the last refusal are counted apart."""
    shop.happened(START)
    await refuse(shop, times=SEVERAL)
    shop.clock.advance(2 * NOTED_EVERY.total_seconds())
    for number in (2, 3):
        shop.happened(shop.clock.now(), f"evt_{number}", f"cs_{number}")
    why = await doctor(shop)
    assert "did not arrive: 3" in why
    assert "Webhooks are refused" in why
    assert "Since the last refusal the processor could not deliver 2" in why


async def test_an_outage_of_an_earlier_release(shop: Shop) -> None:
    """A record that does not say when the last was refused counts from its beginning."""
    await shop.store.commit([Put("refused-webhooks", RefusedWebhooks(reason="clock", since=START).to_bytes())])
    shop.happened(START)
    assert "refused since 2026-03-01T12:00:00Z: clock" in await doctor(shop)


async def test_a_stranger_does_not_make_the_doctor_worry(shop: Shop) -> None:
    """Where the processor has delivered everything, refused webhooks are not its own."""
    await refuse(shop, times=SEVERAL)
    assert (await shop.events.finding()).state == "ok"


async def test_the_probe_of_our_own_is_not_counted(shop: Shop) -> None:
    """`orrery secrets check` with a wrong secret is no outage."""
    for _ in range(SEVERAL):
        with pytest.raises(Invalid):
            await shop.webhook.receive(probe.BODY, probe.signed(OTHER, shop.clock.now()))
    assert shop.webhook.refusals.counts == {}
