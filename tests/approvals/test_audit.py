"""What is altered, taken out, put in or made up in log and intents is found by `verify` (decision 15)."""

import json
from datetime import timedelta

import pytest

from orrery.approvals.approval_log import HEAD, LOG
from orrery.approvals.audit import PushedHead, read_head
from orrery.approvals.chain import LogEntry, following
from orrery.errors import Invalid, NotConfigured, StoreUnavailable
from orrery.ports.store import Delete, Put
from tests.support.approving import OWNER, STRANGER, Desk, SharedKeys, fingerprint, signed
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore


def key(number: int) -> str:
    """Return where an entry is kept."""
    return f"{LOG}{number:012d}"


@pytest.fixture
async def desk() -> Desk:
    """Return a desk with something done, something waiting and a standing approval: ten entries."""
    desk = Desk()
    await desk.sign(await desk.proposed())
    await desk.proposed()
    run = await desk.approved_run()
    for target in ("cs_1", "cs_2"):
        await desk.approvals.use(run.id, target)
    return desk


async def test_all_holds(desk: Desk) -> None:
    """What was written as it should be holds, and its head is told."""
    verified = await desk.approvals.verify()
    last = (await desk.log())[-1]
    assert (verified.holds, verified.entries, verified.head) == (True, 10, f"10:{last.hash[:16]}")
    assert verified.remembered is None


async def test_a_word_is_checked_once(desk: Desk) -> None:
    """A standing approval is in the log for each target, and its signature is checked once: a check takes time."""
    asked: list[bytes] = []

    class Counting(SharedKeys):
        async def check(self, statement: bytes, signature: bytes) -> str:
            asked.append(statement)
            return await super().check(statement, signature)

    assert (await desk.approvals.verify(signatures=Counting(OWNER))).holds
    assert len(asked) == len(set(asked)) == 2


async def test_an_empty_log_holds() -> None:
    """A log without an entry holds."""
    verified = await Desk().approvals.verify()
    assert (verified.holds, verified.entries, verified.head) == (True, 0, "")


@pytest.mark.parametrize("number", [1, 5, 10])
async def test_altered(desk: Desk, number: int) -> None:
    """An entry that was altered is found."""
    await desk.alter(key(number), "turn-on", "turn-off")
    assert (await desk.approvals.verify()).broken_at == number


@pytest.mark.parametrize("number", [1, 5, 10])
async def test_unreadable(desk: Desk, number: int) -> None:
    """An entry that cannot be read is found."""
    await desk.store.commit([Put(key(number), b"nonsense")])
    verified = await desk.approvals.verify()
    assert (verified.broken_at, verified.entries) == (number, 10)


@pytest.mark.parametrize("number", [1, 5, 10])
async def test_taken_out(desk: Desk, number: int) -> None:
    """An entry that was taken out is found, the last one by what the store counts."""
    await desk.store.commit([Delete(key(number))])
    assert (await desk.approvals.verify()).broken_at == number


async def test_all_taken_out(desk: Desk) -> None:
    """A log that was emptied is found."""
    await desk.store.commit([Delete(key(number)) for number in range(1, 11)])
    verified = await desk.approvals.verify()
    assert (verified.holds, verified.entries) == (False, 0)


async def test_what_doctor_tells(desk: Desk) -> None:
    """Where the log does not hold, or its head cannot be read, that is found without a look at the signatures."""
    assert (await desk.approvals.finding()).state == "ok"
    assert (await Desk().approvals.finding()).state == "ok"
    whole = await desk.stored(HEAD)
    await desk.store.commit([Put(HEAD, b"{")])
    assert (await desk.approvals.finding()).state == "broken"
    await desk.store.commit([Put(HEAD, whole.value), Put(key(3), b"{")])
    assert "entry 3 on" in (await desk.approvals.finding()).why


async def test_put_in_another_order(desk: Desk) -> None:
    """Two entries that changed places are found."""
    third, fourth = await desk.stored(key(3)), await desk.stored(key(4))
    await desk.store.commit([Put(third.key, fourth.value), Put(fourth.key, third.value)])
    assert (await desk.approvals.verify()).broken_at == 3


async def appended(desk: Desk, **fields: object) -> LogEntry:
    """Append an entry by hand, which follows the last as it should."""
    last = (await desk.log())[-1]
    forged = following(last, last.model_copy(update=fields))
    await desk.store.commit([Put(key(forged.number), forged.model_dump_json().encode())])
    return forged


async def test_appended_by_hand(desk: Desk) -> None:
    """An entry beyond what the store counts is found, and nothing more is written over or after it."""
    await appended(desk, kind="done")
    assert (await desk.approvals.verify()).broken_at == 11
    with pytest.raises(StoreUnavailable, match="log is damaged, so nothing was written"):
        await desk.proposed()
    assert (await desk.approvals.verify()).broken_at == 11


async def with_head(desk: Desk, forged: LogEntry) -> None:
    """Let the store count an entry that was put there by hand."""
    await desk.store.commit([Put(HEAD, forged.model_dump_json().encode())])


@pytest.mark.parametrize("kind", ["approved", "started"])
async def test_approval_made_up(desk: Desk, kind: str) -> None:
    """Anyone who can write the store cannot make up the owner's word: the signature in the entry is looked at."""
    intent = await desk.found("waiting")
    statement, _ = desk.word(intent)
    for signature in ("", signed(statement, STRANGER).decode()):
        word = {"statement": statement.decode(), "signature": signature, "signer": fingerprint(OWNER)}
        about = {"kind": kind, "intent_id": intent.id, "digest": intent.digest(), "target": ""}
        forged = await appended(desk, **word, **about)
        await with_head(desk, forged)
        verified = await desk.approvals.verify()
        assert (verified.broken_at, verified.unproven[:1], verified.holds) == (None, (11,), False)


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("intent_id", "in-000000000000"),
        ("digest", "0" * 64),
        ("at", timedelta(minutes=11)),
        ("at", timedelta(minutes=-2)),
        ("signer", fingerprint(STRANGER)),
    ],
)
async def test_a_real_word_about_something_else(desk: Desk, field: str, other: object) -> None:
    """The owner's word proves only what it is about, in its time, by the key that the entry names."""
    started = (await desk.log())[1]
    value = started.at + other if isinstance(other, timedelta) else other
    await with_head(desk, await appended(desk, **{**started.model_dump(), field: value}))
    assert (await desk.approvals.verify()).unproven == (11,)


@pytest.mark.parametrize("head", [None, b"nonsense"])
async def test_head_that_is_gone(desk: Desk, head: bytes | None) -> None:
    """Without a head that can be read nothing is written over the log, and verify finds it."""
    await desk.store.commit([Delete(HEAD) if head is None else Put(HEAD, head)])
    with pytest.raises(StoreUnavailable, match="log is damaged"):
        await desk.proposed()
    verified = await desk.approvals.verify()
    assert (verified.holds, verified.entries) == (False, 10)


@pytest.mark.parametrize("state", ["waiting", "done", "in force"])
async def test_what_is_not_as_logged(desk: Desk, state: str) -> None:
    """An intent whose content differs from the log is named, however far it has come."""
    intent = await desk.found(state)
    await desk.alter(f"intent:{intent.id}", "It is dark.", "It is bright.")
    assert (await desk.approvals.verify()).altered == (intent.id,)


@pytest.mark.parametrize("stored", [None, b"nonsense"])
async def test_missing_intent(desk: Desk, stored: bytes | None) -> None:
    """An intent that the log names, and that is gone or cannot be read, is named."""
    intent = (await desk.approvals.proposals())[0].intent
    place = f"intent:{intent.id}"
    await desk.store.commit([Delete(place) if stored is None else Put(place, stored)])
    assert (await desk.approvals.verify()).missing == (intent.id,)


async def test_intent_that_was_put_there(desk: Desk) -> None:
    """An intent that the log does not know is named."""
    text = (await desk.stored(f"intent:{(await desk.approvals.proposals())[0].intent.id}")).value
    other = json.loads(text) | {"id": "in-0123456789ab"}
    await desk.store.commit([Put("intent:in-0123456789ab", json.dumps(other).encode())])
    assert (await desk.approvals.verify()).altered == ("in-0123456789ab",)


async def test_the_head_that_the_owner_remembers(desk: Desk) -> None:
    """A head of any time is in the chain; one that is not shows that entries are lost or exchanged."""
    entries = await desk.log()
    for entry in (entries[0], entries[-1]):
        assert (await desk.approvals.verify(read_head(entry.head))).remembered is True
    for head in (PushedHead(11, "0" * 16), PushedHead(3, entries[3].hash[:16])):
        verified = await desk.approvals.verify(head)
        assert (verified.remembered, verified.holds) == (False, False)


async def test_a_head_after_the_break_is_not_remembered(desk: Desk) -> None:
    """A head that comes after an altered entry tells nothing of it."""
    last = (await desk.log())[-1]
    await desk.alter(key(5), "turn-on", "turn-off")
    assert (await desk.approvals.verify(read_head(last.head))).remembered is False


async def test_a_key_that_is_no_longer_used(desk: Desk) -> None:
    """What an older key has signed is shown by it, when it is given, and named without it."""
    now = desk.another(STRANGER)
    assert (await now.verify()).unproven == (2, 6, 7, 9)
    assert (await now.verify(signatures=SharedKeys(STRANGER, OWNER))).holds


async def test_while_others_write(desk: Desk) -> None:
    """What is appended during a look is no break."""
    store, proposing = UnreliableStore(desk.store), desk.another()
    desk.store = store
    looking = desk.another()

    async def propose() -> None:
        store.scanned = None
        await proposing.propose(desk.draft())

    store.scanned = propose
    assert (await looking.verify()).holds


class NoKeys:
    """A machine that cannot check signatures."""

    async def check(self, statement: bytes, signature: bytes) -> str:
        """Say so."""
        del statement, signature
        raise NotConfigured("There is no ssh-keygen.")


async def test_signatures_that_cannot_be_checked(desk: Desk) -> None:
    """When signatures cannot be checked, that is said, and nobody claims that all holds."""
    verified = await desk.approvals.verify(signatures=NoKeys())
    assert (verified.unchecked, verified.unproven, verified.holds) == ("There is no ssh-keygen.", (), False)


@each_case("text", ["", "3", "3:", "0:0123456789abcdef", "3:0123456789abcde", "3:0123456789abcdeg"])
def test_no_head(text: str) -> None:
    """What is no head is refused in a sentence."""
    with pytest.raises(Invalid, match="a number, a colon and 16 hexadecimal digits"):
        read_head(text)


def test_a_head_as_it_is_pasted() -> None:
    """Capital digits and white space around a head do not matter."""
    assert read_head(" 12:0123456789ABCDEF\n") == PushedHead(12, "0123456789abcdef")
