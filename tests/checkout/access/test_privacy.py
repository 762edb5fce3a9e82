"""A person's data: what is kept, and that nothing is left of it after an erasure (decisions 8 and 10)."""

import json
from datetime import timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.privacy import KEEP_ADDRESSES
from orrery.checkout.records import Offer
from orrery.errors import Invalid, StoreUnavailable
from orrery.ports.notifier import DeliveryFailed, OutgoingMessage
from orrery.ports.store import Put
from orrery.runtime.outbox import ROW, Outbox
from orrery.runtime.privacy import Erasure, search_address
from orrery.syntax.email_address import is_email_address
from tests.support.checkout import Shop, session_json
from tests.support.clock import START, ManualClock
from tests.support.notifiers import ScriptedNotifier
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

ANN, JOANN = "ann@example.org", "joann@example.org"
KATE, KELVIN = "kate@example.org", "\N{KELVIN SIGN}ate@example.org"
NEIGHBOURS = [
    JOANN,
    "ann@example.org.nz",
    "ann@example.organic",
    "mary-ann@example.org",
    "mary.ann@example.org",
    "mary+ann@example.org",
    "o'ann@example.org",
    "ann@example.org-shop.example",
]


async def sold(shop: Shop, *buyers: str) -> Shop:
    """Sell one session to each of the buyers: cs_0 to the first."""
    for number, buyer in enumerate(buyers):
        await shop.offered(f"cs_{number}")
        await shop.receive(f"evt_{number}", session_json(f"cs_{number}", customer_details={"email": buyer}))
    return shop


async def everything(shop: Shop) -> str:
    """Return all keys and values of the store as text, JSON spelt out, in lower case."""
    parts: list[str] = []
    for entry in await shop.entries():
        parts += [entry.key, entry.value.decode("utf-8", "replace")]
        if entry.value.startswith(b"{"):
            parts += texts_in(json.loads(entry.value))
    return "\n".join(parts).lower()


def texts_in(value: object) -> list[str]:
    """Return every text in a JSON value."""
    found: list[str] = []
    json.loads(json.dumps(value), object_hook=lambda one: found.extend(map(str, one.values())) or one)
    return found


ADDRESSES = [
    ANN,
    "Ann.Other+tag@Example.ORG",
    "o'hara@example.org",
    "a_b-c%d@sub.example.org",
    "jürgen@exämple.org",
    "JÜRGEN@EXÄMPLE.ORG",
    "用户@例え.jp",
    'quoted"one@example.org',
    "back\\slash@example.org",
    "slash/ed@example.org",
]


@each_case("address", ADDRESSES)
async def test_nothing_is_left(address: str) -> None:
    """After an erasure no key and no value of the store holds the address, however it was written."""
    shop = await sold(Shop(), address, "bob@example.org")
    assert address.lower() in await everything(shop)
    await shop.privacy.erase(address.swapcase(), "asked")
    assert address.lower() not in await everything(shop)


@pytest.mark.parametrize("raw", [True, False])
async def test_however_the_event_spells_it(raw: bool, shop: Shop) -> None:  # noqa: FBT001  pytest passes parameters by position
    """An address in a raw event is found whether its letters are escaped or not."""
    await shop.offered("cs_0")
    completed = session_json("cs_0", customer_details={"email": "Jürgen@example.org"}, metadata={})
    event = {
        "id": "evt_0",
        "object": "event",
        "type": "other",
        "created": 1,
        "livemode": False,
        "data": {"object": completed},
    }
    await shop.events.keep(shop.events.read(json.dumps(event, ensure_ascii=not raw).encode()))
    await shop.privacy.erase("jürgen@example.org", "asked")
    assert "rgen@example.org" not in await everything(shop)


@each_case("neighbour", NEIGHBOURS)
async def test_others_are_left_alone(neighbour: str) -> None:
    """Erasing ann@example.org spares every other address that merely contains it."""
    shop = await sold(Shop(), neighbour, ANN)
    await shop.privacy.erase(ANN, "asked")
    assert (await shop.lookup.check_email(neighbour, "cissp")).granted
    assert [row.to for row in await shop.told() if row.channel == "email"] == [neighbour]
    event = await shop.store.get("event:evt_0")
    assert event is not None
    assert json.loads(event.value)["id"] == "evt_0"
    assert not (await shop.privacy.export(ANN))["access"]


async def test_the_sale_stays() -> None:
    """The record of the sale stays, without buyer and consent; its access goes on for who holds the session."""
    shop = await sold(Shop(), ANN)
    before = await shop.access("cs_0")
    await shop.privacy.erase(ANN, "asked")
    assert await shop.access("cs_0") == before.model_copy(update={"email": "", "marketing_consent": None})
    assert (await shop.lookup.check_session("cs_0", "cissp")).granted
    assert not (await shop.lookup.check_email(ANN, "cissp")).granted


async def test_the_event_stays_known() -> None:
    """An erased event still stops its duplicate: no second record, no second mail."""
    shop = await sold(Shop(), ANN)
    await shop.privacy.erase(ANN, "asked")
    before = await shop.entries()
    assert await shop.receive("evt_0", session_json("cs_0")) == "already"
    assert await shop.entries() == before


async def test_the_client_address_goes_too() -> None:
    """The address from which the buyer came is erased from his offers."""
    shop = await sold(Shop(), ANN, JOANN)
    await shop.privacy.erase(ANN, "asked")
    addresses = {
        offer.session_id: offer.client_address
        for entry in await shop.entries("offer:")
        for offer in [Offer.model_validate_json(entry.value)]
    }
    assert addresses == {"cs_0": None, "cs_1": "203.0.113.7"}


async def test_the_journal_says_that_it_was_done() -> None:
    """An erasure is in the journal by session, without the address."""
    shop = await sold(Shop(), ANN)
    await shop.privacy.erase(ANN, "asked by letter")
    (entry,) = (await shop.desk.journal(10)).whole()
    assert (entry.action, entry.session_id, entry.reason) == ("erase", "cs_0", "asked by letter")


async def test_what_is_exported() -> None:
    """An export holds a buyer's records, offers, events and notifications, and nobody else's."""
    shop = await sold(Shop(), ANN, JOANN)
    data = await shop.privacy.export(ANN.upper())
    counts = {"access": 1, "offers": 1, "browsers": 0, "events": 1, "notifications": 1, "intents": 0}
    assert [(name, len(found)) for name, found in data.items()] == list(counts.items())
    text = json.dumps(data)
    assert JOANN not in text
    assert "203.0.113.7" in text


async def test_an_erasure_returns_what_there_was() -> None:
    """What was erased is returned, once."""
    shop = await sold(Shop(), ANN)
    exported = await shop.privacy.export(ANN)
    assert await shop.privacy.erase(ANN, "asked") == Erasure(exported, {})
    assert not (await shop.privacy.erase(ANN, "asked")).data["events"]


async def test_a_mail_under_way_is_given_up() -> None:
    """Notifications to the buyer that wait, are held or dead are removed, with every trace in the counts."""
    shop = await sold(Shop(), ANN, JOANN, "bob@example.org")
    outbox = Outbox(shop.store, shop.clock, {"email": Refusing(), "push": ScriptedNotifier()})
    await outbox.deliver_due()
    assert await outbox.count("dead") == 3
    for address in (ANN, JOANN):
        await shop.privacy.erase(address, "asked")
    assert await outbox.count("dead") == 1
    assert [row.to async for row in outbox.rows("dead")] == ["bob@example.org"]


class Refusing(ScriptedNotifier):
    """A notifier that refuses permanently."""

    async def send(self, message: OutgoingMessage) -> None:
        """Refuse."""
        raise DeliveryFailed(f"No such mailbox for {message.id}.", permanent=True)


async def test_an_interrupted_erasure_is_finished_by_a_repeat() -> None:
    """Wherever the store fails during an erasure, doing it again leaves nothing."""
    for failing_commit in range(1, 6):
        clock = ManualClock()
        store = UnreliableStore(MemoryStore(clock))
        shop = await sold(Shop(clock, store), ANN)
        await interrupted(shop, store, failing_commit)
        await shop.privacy.erase(ANN, "asked")
        assert ANN not in await everything(shop)


async def interrupted(shop: Shop, store: UnreliableStore, failing_commit: int) -> None:
    """Erase, and let that commit fail if there is one."""
    store.commits = 0

    async def fail() -> None:
        if store.commits == failing_commit:
            raise StoreUnavailable("full")

    store.overtaken_by = fail
    try:
        await shop.privacy.erase(ANN, "asked")
    except StoreUnavailable:
        return
    finally:
        store.overtaken_by = None


async def test_an_address_that_was_changed() -> None:
    """An address that a record had before is erased from the events and notifications that still hold it."""
    shop = await sold(Shop(), ANN)
    await shop.desk.change_email("cs_0", "new@example.org", "a new mailbox")
    await shop.privacy.erase(ANN, "asked")
    assert ANN not in await everything(shop)
    assert (await shop.lookup.check_email("new@example.org", "cissp")).granted


@pytest.mark.parametrize("address", ["ann@exa_mple.org", '"Ann Lee"@example.org', "=?utf-8?q?ann?=@example.org"])
async def test_a_buyer_who_cannot_be_written_to(address: str) -> None:
    """What was typed on the payment page can be asked for and erased, though no letter could be sent to it."""
    shop = await sold(Shop(), address)
    assert not is_email_address(address)
    assert len((await shop.privacy.export(search_address(f" {address.upper()} ")))["access"]) == 1
    await shop.privacy.erase(search_address(address), "asked")
    assert address.lower() not in await everything(shop)


@each_case("text", ["", "ann", "@example.org", "ann@", "ann@example", "ann@example.org\nx", "a" * 1000 + "@b.org"])
def test_under_what_nobody_is_kept(text: str) -> None:
    """What is no address at all is refused."""
    with pytest.raises(Invalid, match="not an e-mail address"):
        search_address(text)


async def test_client_addresses_are_kept_thirty_days(shop: Shop) -> None:
    """A client address is erased from its offer after 30 days, and not before (decision 8)."""
    await shop.checkout_session()
    shop.clock.advance(KEEP_ADDRESSES.total_seconds() - 1)
    assert await shop.buyer_data.erase_old_addresses() == 0
    assert "203.0.113.7" in await everything(shop)
    shop.clock.advance(2)
    assert await shop.buyer_data.erase_old_addresses() == 1
    assert "203.0.113.7" not in await everything(shop)
    assert await shop.buyer_data.erase_old_addresses() == 0
    (offer,) = await shop.entries("offer:")
    assert Offer.model_validate_json(offer.value).price_id == "price_cissp"
    assert timedelta(days=30) == KEEP_ADDRESSES
    assert shop.clock.now() > START


async def test_what_is_damaged_is_found_by_its_text() -> None:
    """An event, a notification and an offer that cannot be read hide nothing from an export or an erasure."""
    shop = await sold(Shop(), ANN)
    letter = next(entry for entry in await shop.entries(ROW) if ANN.encode() in entry.value)
    event, offer = await shop.store.get("event:evt_0"), await shop.store.get("offer:cs_0")
    assert event is not None
    assert offer is not None
    for entry in (letter, event, offer):
        await shop.store.commit([Put(entry.key, entry.value[:-1])])
    told = await shop.privacy.export(ANN)
    assert (len(told["events"]), len(told["notifications"]), len(told["offers"])) == (1, 1, 1)
    await shop.privacy.erase(ANN, "asked")
    assert ANN not in await everything(shop)
    assert await shop.store.get("offer:cs_0") is None


async def test_a_damaged_offer_does_not_keep_the_others(shop: Shop) -> None:
    """When their time has come, its address goes with it, and those of the others as ever."""
    for _ in range(2):
        await shop.checkout_session()
    offer, _ = await shop.entries("offer:")
    await shop.store.commit([Put(offer.key, offer.value[:-1])])
    shop.clock.advance(KEEP_ADDRESSES.total_seconds() + 1)
    assert await shop.buyer_data.erase_old_addresses() == 2
    assert "203.0.113.7" not in await everything(shop)
    assert await shop.buyer_data.erase_old_addresses() == 0


@pytest.mark.parametrize(("asks", "other"), [(KATE, KELVIN), (KELVIN, KATE)])
async def test_a_letter_that_looks_like_another_is_another(asks: str, other: str) -> None:
    """Nothing of an address with the Kelvin sign is shown to, or erased for, the one with an ASCII k."""
    shop = await sold(Shop(), other)
    told = await shop.privacy.export(asks)
    assert not any(told.values())
    await shop.privacy.erase(asks, "asked")
    assert len((await shop.privacy.export(other))["access"]) == 1


async def test_every_spelling_of_other_letters_is_erased() -> None:
    """A request reaches what was typed with other capitals beyond ASCII, too: nothing personal is left."""
    shop = await sold(Shop(), "jürgen@example.org", "JÜRGEN@example.org")
    assert len((await shop.privacy.export("jürgen@example.org"))["access"]) == 2
    await shop.privacy.erase("jürgen@example.org", "asked")
    assert "rgen@example.org" not in await everything(shop)
