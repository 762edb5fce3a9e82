"""A signature begins once, by the log: the record beside it changes nothing (decision 15)."""

from collections.abc import Awaitable, Callable

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.approvals.approval_log import HEAD, LOG
from orrery.approvals.chain import LogEntry, following
from orrery.errors import ApprovalRefused, StoreUnavailable
from orrery.ports.store import Delete, Put, StoreEntry
from orrery.runtime.outbox import Outbox
from tests.support.approving import Desk
from tests.support.unreliable_store import UnreliableStore


async def put_back(desk: Desk, *entries: StoreEntry) -> None:
    """Store what was there before, behind everybody's back."""
    await desk.store.commit([Put(entry.key, entry.value) for entry in entries])


async def see_refused(desk: Desk, doing: Callable[[], Awaitable[object]], why: str) -> None:
    """See an approval refused, the refusal in the log and in an urgent push, and nothing done."""
    done = list(desk.switches.on)
    with pytest.raises(ApprovalRefused, match=why) as refused:
        await doing()
    assert (await desk.told())[-1] == ("refused", str(refused.value))
    rows = [row async for row in Outbox(desk.store, desk.clock, {}).rows("waiting")]
    assert (rows[-1].title.split(": ")[1], rows[-1].priority) == ("refused", "high")
    assert desk.switches.on == done


async def test_a_used_signature_counts_no_second_time(desk: Desk) -> None:
    """With the record of before put back, neither the signature nor a new one carries the intent out again."""
    intent = await desk.proposed()
    word, before = desk.word(intent), await desk.stored(f"approval:{intent.id}")
    await desk.approvals.sign(intent.id, *word)
    await put_back(desk, before)
    await see_refused(desk, lambda: desk.approvals.sign(intent.id, *word), "used: the intent is done")
    desk.clock.advance(1)
    await see_refused(desk, lambda: desk.sign(intent), "used: the intent is done")


async def test_what_was_withdrawn_stays_withdrawn(desk: Desk) -> None:
    """With the record of before put back, an intent that the owner took back cannot be signed."""
    intent = await desk.proposed()
    before = await desk.stored(f"approval:{intent.id}")
    await desk.approvals.withdraw(intent.id)
    await put_back(desk, before)
    await see_refused(desk, lambda: desk.sign(intent), "used: the intent is withdrawn")


async def test_what_was_erased_stays_erased(desk: Desk) -> None:
    """With the intent and its record put back, what was erased cannot be signed."""
    intent = await desk.proposed()
    before = [await desk.stored(f"{kind}:{intent.id}") for kind in ("intent", "approval")]
    await desk.approvals.withdraw(intent.id)
    await desk.approvals.erase(intent.id, "asked")
    await put_back(desk, *before)
    await see_refused(desk, lambda: desk.sign(intent), "used: the intent is withdrawn")
    waiting = await desk.proposed()
    before = [await desk.stored(f"{kind}:{waiting.id}") for kind in ("intent", "approval")]
    await desk.approvals.log.append("erased", waiting)
    await put_back(desk, *before)
    await see_refused(desk, lambda: desk.sign(waiting), "used: the intent is withdrawn")


async def test_a_used_target_is_used_no_second_time(desk: Desk) -> None:
    """With the record of before put back, a standing approval is used for no target twice."""
    intent = await desk.approved_run()
    before = await desk.stored(f"approval:{intent.id}")
    await desk.approvals.use(intent.id, "cs_1")
    await put_back(desk, before)
    with pytest.raises(ApprovalRefused, match="is used for this target"):
        await desk.approvals.use(intent.id, "cs_1")
    assert ((await desk.kinds())[-1], desk.switches.on) == ("refused", ["cs_1"])


async def test_an_ended_approval_stays_ended(desk: Desk) -> None:
    """With the record of before put back, a standing approval that was withdrawn covers nothing."""
    intent = await desk.approved_run()
    before = await desk.stored(f"approval:{intent.id}")
    assert await desk.approvals.is_in_force(intent.id)
    await desk.approvals.withdraw(intent.id)
    await put_back(desk, before)
    assert not await desk.approvals.is_in_force(intent.id)
    await see_refused(desk, lambda: desk.approvals.use(intent.id, "cs_1"), "the intent is withdrawn")


async def test_an_end_that_was_taken_out(desk: Desk) -> None:
    """With its end taken out of the log, a standing approval is not called in force: the log is damaged."""
    intent = await desk.approved_run()
    await desk.approvals.withdraw(intent.id)
    await desk.store.commit([Delete(f"{LOG}{3:012d}")])
    with pytest.raises(StoreUnavailable, match="log is damaged"):
        await desk.another().is_in_force(intent.id)


@pytest.mark.parametrize("kept", [False, True])
async def test_overtaken_between_the_check_and_the_start(kept: bool) -> None:  # noqa: FBT001  a row of the table
    """Anyone who is overtaken there is refused, also where the record of before was put back meanwhile."""
    desk = Desk()
    store = UnreliableStore(MemoryStore(desk.clock))
    desk.store = store
    desk.approvals = desk.another()
    intent = await desk.proposed()
    word, other = desk.word(intent), desk.another()
    before = [await desk.stored(f"approval:{intent.id}")] if kept else []

    async def overtake() -> None:
        store.overtaken_by = None
        await other.sign(intent.id, *word)
        await put_back(desk, *before)

    store.overtaken_by = overtake
    with pytest.raises(ApprovalRefused, match="used: the intent is done"):
        await desk.approvals.sign(intent.id, *word)
    assert len(desk.switches.on) == 1


@pytest.mark.parametrize("value", [None, b"x"])
async def test_void_between_the_check_and_the_start(value: bytes | None) -> None:
    """What is void by then does not begin: its record was deleted or cannot be read any more."""
    desk = Desk()
    store = UnreliableStore(MemoryStore(desk.clock))
    desk.store = store
    desk.approvals = desk.another()
    intent = await desk.proposed()
    key = f"approval:{intent.id}"

    async def overtake() -> None:
        store.overtaken_by = None
        await store.inside.commit([Put(key, value) if value else Delete(key)])

    store.overtaken_by = overtake
    await see_refused(desk, lambda: desk.sign(intent), "void")


async def test_an_entry_that_was_taken_out_with_it(desk: Desk) -> None:
    """With its start taken out of the log as well, nothing begins: the log is damaged."""
    intent = await desk.proposed()
    word, before = desk.word(intent), await desk.stored(f"approval:{intent.id}")
    await desk.approvals.sign(intent.id, *word)
    await put_back(desk, before)
    await desk.store.commit([Delete(f"{LOG}{number:012d}") for number in (2, 3)])
    with pytest.raises(StoreUnavailable, match="log is damaged, so nothing was written"):
        await desk.another().sign(intent.id, *word)
    assert desk.switches.on == [intent.target]


async def appended(desk: Desk, entry: LogEntry) -> LogEntry:
    """Append an entry by hand, as an earlier release did when it was shown an old record."""
    forged = following((await desk.log())[-1], entry)
    key = f"{LOG}{forged.number:012d}"
    await desk.store.commit([Put(key, forged.to_bytes()), Put(HEAD, forged.to_bytes())])
    return forged


async def test_a_signature_that_counted_twice_is_named(desk: Desk) -> None:
    """An entry that begins what had begun is found, though its signature is good and the record fits."""
    await desk.sign(await desk.proposed())
    for entry in (await desk.log())[1:]:
        await appended(desk, entry)
    verified = await desk.approvals.verify()
    assert (verified.altered, verified.unproven, verified.broken_at) == ((), (), None)
    assert (verified.repeated, verified.holds) == ((4,), False)


async def test_a_target_that_was_used_twice_is_named(desk: Desk) -> None:
    """So is a second use of a target, and a use after the end of its approval."""
    intent = await desk.approved_run()
    await desk.approvals.use(intent.id, "cs_1")
    started = next(entry for entry in await desk.log() if entry.target)
    again = await appended(desk, started)
    await desk.approvals.withdraw(intent.id)
    after_its_end = await appended(desk, started.change(target="cs_2"))
    assert (await desk.approvals.verify()).repeated == (again.number, after_its_end.number)


async def test_a_target_that_failed_is_no_repeat(desk: Desk) -> None:
    """What the processor refused may begin again, and nothing is wrong with that."""
    intent = await desk.approved_run()
    desk.switches.before = [StoreUnavailable("killed")]
    with pytest.raises(StoreUnavailable):
        await desk.approvals.use(intent.id, "cs_1")
    desk.clock.advance(120)
    await desk.approvals.use(intent.id, "cs_1")
    assert (await desk.kinds())[-4:] == ["started", "did not happen", "started", "done"]
    assert (await desk.approvals.verify()).holds


async def test_what_another_process_appended_is_read(desk: Desk) -> None:
    """Several entries after those that were read once count in their order."""
    first, second = await desk.proposed(), await desk.proposed()
    assert await desk.state(first) == "waiting"
    await desk.another().withdraw(second.id)
    await desk.another().sign(first.id, *desk.word(first))
    assert [await desk.state(one) for one in (first, second)] == ["done", "withdrawn"]


async def test_another_log_is_read_from_its_beginning(desk: Desk) -> None:
    """What was read of the log before counts only while the log goes on from there."""
    intent = await desk.proposed()
    keys = [f"{LOG}{1:012d}", HEAD]
    before = [await desk.stored(key) for key in keys]
    await desk.approvals.withdraw(intent.id)
    assert await desk.state(intent) == "withdrawn"
    await put_back(desk, *before)
    await desk.store.commit([Delete(f"{LOG}{2:012d}")])
    for _ in range(2):
        await desk.another().propose(desk.draft())
    assert await desk.state(intent) == "waiting"
