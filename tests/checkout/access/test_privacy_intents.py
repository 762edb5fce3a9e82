"""What is to be changed at the processor may name a person: it is shown, and erased when it is over."""

import json

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.approvals.chain import LogEntry
from orrery.approvals.intents import Erased
from orrery.errors import ApprovalRefused, Invalid, NotFound
from orrery.ports.processor.errors import ProcessorRefused
from orrery.ports.store import Delete, Put
from orrery.runtime.operations import Intent, Operation
from tests.support.approving import REMAINS, Desk
from tests.support.checkout import BUYER, Shop
from tests.support.clock import ManualClock
from tests.support.unreliable_store import UnreliableStore

NEIGHBOUR = f"jo{BUYER}"


@pytest.fixture
def shop() -> Shop:
    """Return a shop with an owner who signs."""
    return Shop()


async def blocked(desk: Desk, email: str = BUYER) -> Intent:
    """Propose something that names an address everywhere, and sign it."""
    intent = await proposed(desk, email)
    await desk.sign(intent)
    return intent


async def proposed(desk: Desk, email: str = BUYER) -> Intent:
    """Propose something that names an address everywhere."""
    named = f"Block {email}."
    return await desk.proposed(body={"value": email}, before={"list": [email]}, summary=named, reason=named)


async def kept_in(shop: Shop) -> dict[str, str]:
    """Erase the buyer; return which intents are kept, and why."""
    erasure = await shop.privacy.erase(BUYER, "asked")
    assert erasure.kept.keys() <= {"intents"}
    return {one.name: one.why for one in erasure.kept.get("intents", ())}


async def stored(shop: Shop) -> str:
    """Return the whole store as text."""
    return "\n".join(f"{entry.key} {entry.value.decode('utf-8', 'replace')}" for entry in await shop.entries())


async def test_what_is_exported(shop: Shop) -> None:
    """An export shows each intent that names the address, with what became of it, and nobody else's."""
    intent = await blocked(shop.approving)
    await blocked(shop.approving, NEIGHBOUR)
    (found,) = json.loads(json.dumps((await shop.privacy.export(BUYER.upper()))["intents"]))
    assert (found["id"], found["body"], found["progress"]["state"]) == (intent.id, {"value": BUYER}, "done")


async def test_nothing_is_left(shop: Shop) -> None:
    """Of an intent that is over nothing is left but the log, which holds and tells that it was erased, and why."""
    intent, other = await blocked(shop.approving), await blocked(shop.approving, NEIGHBOUR)
    assert not (await shop.privacy.erase(BUYER, "asked by letter")).kept
    assert BUYER not in (await stored(shop)).replace(NEIGHBOUR, "")
    last = (await shop.approving.log())[-1]
    assert (last.kind, last.intent_id, last.note) == ("erased", intent.id, "asked by letter")
    verified = await shop.approving.approvals.verify()
    assert (verified.holds, verified.erased, verified.altered) == (True, (intent.id,), ())
    assert [one.intent.id for one in await shop.approving.approvals.proposals()] == [other.id]
    assert not (await shop.privacy.export(BUYER))["intents"]


async def test_the_digest_tells_nothing(shop: Shop) -> None:
    """Who guesses the address and knows all else cannot try it by the digest, which stays: the salt is gone."""
    intent = await blocked(shop.approving)
    await shop.privacy.erase(BUYER, "asked")
    assert len(intent.salt) == 32
    assert intent.salt not in await stored(shop)
    assert intent.model_copy(update={"salt": ""}).digest() != intent.digest()


async def test_the_processors_words_go_too(shop: Shop) -> None:
    """What the processor said of an intent is erased with it, also where it alone names the address."""
    shop.approving.switches.before = [ProcessorRefused(f"{BUYER} is there.", status=400)]
    await shop.approving.sign(await shop.approving.proposed())
    erasure = await shop.privacy.erase(BUYER, "asked")
    assert (len(erasure.data["intents"]), erasure.elsewhere) == (1, (REMAINS,))
    assert BUYER not in await stored(shop)
    assert (await shop.approving.approvals.verify()).holds


async def test_what_waits_is_kept(shop: Shop) -> None:
    """An intent that waits is kept, and named; it can be signed, and is erased when it is over."""
    intent = await proposed(shop.approving)
    assert list(await kept_in(shop)) == [f"intent {intent.id}"]
    assert (await shop.approving.sign(intent)).state == "done"
    assert not (await shop.privacy.erase(BUYER, "asked")).kept


async def test_what_is_under_way_is_kept(shop: Shop) -> None:
    """So is one whose outcome is not known: what it says is needed to find out."""
    desk = shop.approving
    desk.switches.after = [RuntimeError("killed")]
    intent = await proposed(desk)
    with pytest.raises(RuntimeError):
        await desk.sign(intent)
    for word in ("under way", "unknown"):
        assert f"It is {word}" in (await kept_in(shop))[f"intent {intent.id}"]
        shop.clock.advance(120)
    await desk.approvals.settle(intent.id)
    assert not (await shop.privacy.erase(BUYER, "asked")).kept


async def test_a_standing_approval_is_kept_while_it_counts(shop: Shop) -> None:
    """A standing approval is kept for its 24 hours, and while one of its uses has no outcome."""
    desk = shop.approving
    intent = await desk.proposed("turn-on-run", reason=BUYER)
    await desk.sign(intent)
    desk.switches.after = [RuntimeError("killed")]
    shop.clock.advance(24 * 3600)
    assert "It is in force" in (await kept_in(shop))[f"intent {intent.id}"]
    with pytest.raises(RuntimeError):
        await desk.approvals.use(intent.id, "cs_1")
    shop.clock.advance(1)
    assert f"intent {intent.id}" in await kept_in(shop)
    shop.clock.advance(120)
    await desk.approvals.settle(intent.id)
    assert not (await shop.privacy.erase(BUYER, "asked")).kept
    assert (await desk.approvals.verify()).holds


async def test_what_a_restore_made_void(shop: Shop) -> None:
    """Nothing can come of an intent that a restore made void: it is erased."""
    intent = await proposed(shop.approving)
    await shop.store.commit([Delete(f"approval:{intent.id}")])
    assert not (await shop.privacy.erase(BUYER, "asked")).kept
    assert (await shop.approving.approvals.verify()).erased == (intent.id,)


async def test_what_is_erased_cannot_be_carried_out(shop: Shop) -> None:
    """An erased intent is not found by anything that could sign, use or settle it."""
    intent = await blocked(shop.approving)
    word = shop.approving.word(intent)
    await shop.privacy.erase(BUYER, "asked")
    approvals = shop.approving.approvals
    for attempt in (
        approvals.sign(intent.id, *word),
        approvals.use(intent.id, "cs_1"),
        approvals.settle(intent.id),
        approvals.erase(intent.id, "again"),
    ):
        with pytest.raises(NotFound, match="was erased"):
            await attempt
    assert len(shop.approving.switches.on) == 1


async def test_two_erasures_at_once() -> None:
    """Of two processes that erase the same intent one does, and the other finds it done."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    shop, other = Shop(clock, store), Shop(clock, store.inside)
    await blocked(shop.approving)

    async def overtake() -> None:
        store.overtaken_by = None
        assert not (await other.privacy.erase(BUYER, "asked")).kept

    store.overtaken_by = overtake
    assert not (await shop.privacy.erase(BUYER, "asked")).kept
    assert (await shop.approving.kinds()).count("erased") == 1


async def test_an_altered_intent_is_not_erased(shop: Shop) -> None:
    """What was altered is kept: an erasure would take the proof away."""
    intent = await blocked(shop.approving)
    await shop.approving.alter(f"intent:{intent.id}", '"Block', '"Greet')
    assert "altered" in (await kept_in(shop))[f"intent {intent.id}"]


async def test_an_altered_intent_never_passes_as_erased(shop: Shop) -> None:
    """Who alters an intent, and writes that it was erased, is found by the digest in the log."""
    intent = await blocked(shop.approving)
    await shop.approving.alter(f"intent:{intent.id}", '"Block', '"Greet')
    altered = (await shop.approving.approvals.proposal(intent.id)).intent
    assert "altered" in (await kept_in(shop))[f"intent {intent.id}"]
    await erased_by_hand(shop, altered)
    verified = await shop.approving.approvals.verify()
    assert (verified.holds, verified.erased, verified.altered) == (False, (), (intent.id,))


async def erased_by_hand(shop: Shop, intent: Intent) -> None:
    """Put the mark of an erased intent in its place, with an entry of the log that says so."""
    mark = Put(f"intent:{intent.id}", Erased(id=intent.id, erased_at=shop.clock.now()).to_bytes())
    await shop.store.commit([mark])
    await shop.approving.approvals.log.append("erased", intent)


async def test_erased_without_a_word_in_the_log(shop: Shop) -> None:
    """An intent in whose place somebody put the mark of an erased one is altered, not erased."""
    intent, done = await proposed(shop.approving), await blocked(shop.approving)
    await shop.privacy.erase(BUYER, "asked")
    mark = (await shop.approving.stored(f"intent:{done.id}")).value.decode().replace(done.id, intent.id)
    await shop.store.commit([Put(f"intent:{intent.id}", mark.encode())])
    assert (await shop.approving.approvals.verify()).altered == (intent.id,)
    with pytest.raises(NotFound):
        await shop.approving.sign(intent)


async def test_an_erased_intent_that_is_back(shop: Shop) -> None:
    """An intent that the log calls erased, and that somebody put back, is not as the log says."""
    intent = await blocked(shop.approving)
    before = (await shop.approving.stored(f"intent:{intent.id}")).value
    await shop.privacy.erase(BUYER, "asked")
    await shop.store.commit([Put(f"intent:{intent.id}", before)])
    verified = await shop.approving.approvals.verify()
    assert (verified.erased, verified.altered) == ((), (intent.id,))


async def test_the_owner_is_told(shop: Shop) -> None:
    """Each erasure is pushed with the log's head: who makes evidence disappear is seen."""
    await blocked(shop.approving)
    await shop.privacy.erase(BUYER, "asked")
    last: LogEntry = (await shop.approving.log())[-1]
    assert [row.body for row in await shop.told() if row.title == "turn-on: erased"] == [
        f"Intent {last.intent_id}. Log {last.head}"
    ]


@pytest.mark.parametrize("reason", ["", "a\nb", "x" * 501])
async def test_no_reason(shop: Shop, reason: str) -> None:
    """Without a reason that can be kept nothing is erased."""
    await blocked(shop.approving)
    before = await stored(shop)
    with pytest.raises(Invalid):
        await shop.privacy.erase(BUYER, reason)
    assert await stored(shop) == before


async def test_an_intent_that_cannot_be_read(shop: Shop) -> None:
    """It is found by its text, exported as it is, and named as kept: nobody knows whether it is over."""
    intent, neighbour = await blocked(shop.approving), await blocked(shop.approving, NEIGHBOUR)
    for one in (intent, neighbour):
        entry = await shop.approving.stored(f"intent:{one.id}")
        await shop.store.commit([Put(entry.key, entry.value[:-1])])
    assert len((await shop.privacy.export(BUYER))["intents"]) == 1
    kept = await kept_in(shop)
    assert list(kept) == [f"intent {intent.id}"]
    assert f"intent:{intent.id} cannot be read" in kept[f"intent {intent.id}"]


async def test_a_record_beside_the_log_that_cannot_be_read(shop: Shop) -> None:
    """Neither it nor its intent is erased, also where a newer release wrote it: the command names both."""
    intent = await blocked(shop.approving)
    await shop.approving.alter(f"approval:{intent.id}", '"v":1', '"v":2')
    before = await shop.approving.stored(f"approval:{intent.id}")
    assert f"approval:{intent.id} cannot be read" in (await kept_in(shop))[f"intent {intent.id}"]
    assert await shop.store.get(f"approval:{intent.id}") == before


async def test_how_far_it_has_come_names_somebody_and_cannot_be_read(shop: Shop) -> None:
    """It is found by its text, whoever the intent itself names: exported as it is, and named as kept."""
    intent = await blocked(shop.approving, NEIGHBOUR)
    text = f'{{"note": "refused for {BUYER}"'
    await shop.store.commit([Put(f"approval:{intent.id}", text.encode())])
    assert (await shop.privacy.export(BUYER))["intents"] == [text]
    assert f"approval:{intent.id} cannot be read" in (await kept_in(shop))[f"intent {intent.id}"]


async def test_erased_after_it_was_checked() -> None:
    """A standing approval that is erased between its check and its use is not used: the refusal is in the log."""
    shop = Shop()
    intent = await shop.approving.proposed("turn-on-run", reason=BUYER)
    await shop.approving.sign(intent)
    shop.clock.advance(24 * 3600)

    async def covers(_: Intent, target: str) -> bool:
        shop.clock.advance(1)
        assert not (await shop.privacy.erase(BUYER, "asked")).kept
        return target == "cs_1"

    switches = shop.approving.switches
    late = Operation("turn-on-run", switches.turn_on, switches.is_on, covers)
    with pytest.raises(ApprovalRefused, match="the intent is withdrawn"):
        await shop.approving.another(operation=late).use(intent.id, "cs_1")
    assert switches.on == []
    assert (await shop.approving.kinds())[-2:] == ["erased", "refused"]


async def test_an_answer_that_came_after_the_erasure(shop: Shop) -> None:
    """What a process that stood still learns in the end is in the log; the processor's words are not kept."""
    desk = shop.approving
    intent = await proposed(desk)

    async def slowly(_: Intent, target: str) -> str:
        shop.clock.advance(200)
        assert (await desk.approvals.settle(intent.id)).state == "failed"
        assert not (await shop.privacy.erase(BUYER, "asked")).kept
        raise ProcessorRefused(f"{BUYER} is there, {target}.", status=400)

    late = desk.another(operation=Operation("turn-on", slowly, desk.switches.is_on))
    assert (await late.sign(intent.id, *desk.word(intent))).state == "failed"
    assert (await desk.kinds())[-2:] == ["erased", "failed"]
    assert BUYER not in await stored(shop)
    assert (await desk.approvals.verify()).erased == (intent.id,)


async def test_altered_and_proposed_once_more(shop: Shop) -> None:
    """Who alters an intent, appends that it was proposed so, and has it erased, is found by the first digest."""
    intent = await blocked(shop.approving)
    altered = intent.model_copy(update={"target": "another switch"})
    await shop.store.commit([Put(f"intent:{intent.id}", altered.model_dump_json().encode())])
    await shop.approving.approvals.log.append("proposed", altered, quiet=True)
    assert list(await kept_in(shop)) == [f"intent {intent.id}"]
    await erased_by_hand(shop, altered)
    verified = await shop.approving.approvals.verify()
    assert (verified.holds, verified.erased, verified.altered) == (False, (), (intent.id,))


async def test_begun_after_its_erasure(shop: Shop) -> None:
    """Nothing is begun once it is erased: a log that says so, with the owner's real word, does not hold."""
    desk = shop.approving
    intent = await blocked(desk)
    begun = next(entry for entry in await desk.log() if entry.kind == "started")
    await shop.privacy.erase(BUYER, "asked")
    await desk.approvals.log.append("started", intent, signed=begun.signed_statement, quiet=True)
    verified = await desk.approvals.verify()
    assert (verified.unproven, verified.erased, verified.altered) == ((), (), (intent.id,))
