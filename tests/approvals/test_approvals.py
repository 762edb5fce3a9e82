"""Nothing is done without the owner's word, and the log tells what was (change rule 4, decision 15)."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.approvals.approvals import Approvals
from orrery.errors import (
    ApprovalRefused,
    Invalid,
    NotConfigured,
    NotFound,
    OperationRefused,
    OrreryError,
    RecordUnreadable,
    StoreUnavailable,
)
from orrery.ports.processor.errors import ProcessorRefused
from orrery.ports.store import Put
from orrery.runtime.collection import unreadable
from orrery.runtime.operations import Intent
from orrery.runtime.outbox import Outbox
from orrery.runtime.restored import Restoration
from tests.support.approving import DEPLOYMENT, OWNER, STRANGER, Desk, SharedKeys, fingerprint, signed
from tests.support.clock import ManualClock
from tests.support.unreliable_store import UnreliableStore


async def see_refused(desk: Desk, intent_id: str, word: tuple[bytes, bytes], why: str) -> None:
    """See an approval refused, the refusal in the log, and nothing done."""
    done = list(desk.switches.on)
    with pytest.raises(ApprovalRefused, match=why) as refused:
        await desk.approvals.sign(intent_id, *word)
    assert (await desk.told())[-1] == ("refused", str(refused.value))
    assert desk.switches.on == done


async def test_signed_is_done(desk: Desk) -> None:
    """A signed intent is carried out once; the log tells each step, the key and the owner's word."""
    intent = await desk.proposed()
    assert (await desk.state(intent), desk.switches.on) == ("waiting", [])
    word = desk.word(intent)
    progress = await desk.approvals.sign(intent.id, *word)
    assert (progress.state, progress.note) == ("done", f"{intent.target} is on.")
    assert desk.switches.on == [intent.target]
    entries = await desk.log()
    assert [entry.kind for entry in entries] == ["proposed", "started", "done"]
    assert (entries[1].signer, entries[1].statement) == (fingerprint(OWNER), word[0].decode())
    about = {(entry.intent_id, entry.operation, entry.digest) for entry in entries}
    assert about == {(intent.id, "turn-on", intent.digest())}
    desk.clock.advance(1)
    for again in (word, desk.word(intent)):
        await see_refused(desk, intent.id, again, "used: the intent is done")
    with pytest.raises(Invalid, match="this is done"):
        await desk.approvals.withdraw(intent.id)


async def test_of_many_at_once_one_wins() -> None:
    """Of ten processes with the same approval one carries it out, and nine are refused."""
    desk = Desk()
    desk.store = UnreliableStore(MemoryStore(desk.clock))
    desk.approvals = desk.another()
    intent = await desk.proposed()
    word = desk.word(intent)
    racing = (desk.another().sign(intent.id, *word) for _ in range(10))
    came = await asyncio.gather(*racing, return_exceptions=True)
    assert sum(isinstance(one, ApprovalRefused) for one in came) == 9
    assert desk.switches.on == [intent.target]
    assert sorted(await desk.kinds()) == ["done", "proposed", *["refused"] * 9, "started"]
    assert (await desk.approvals.verify()).holds


@pytest.mark.parametrize(
    ("seconds", "why"),
    [
        (0, ""),
        (600, ""),
        (601, "expired: it counts for 10 min"),
        (86_400, "expired: it counts for 10 min"),
        (-60, ""),
        (-61, "from the future"),
        (-3600, "from the future"),
    ],
)
async def test_the_time_of_a_word(desk: Desk, seconds: int, why: str) -> None:
    """It counts for ten minutes; the clock of the machine that signs may be a minute ahead, and no more."""
    intent = await desk.proposed()
    word = desk.word(intent)
    desk.clock.advance(seconds)
    if why:
        await see_refused(desk, intent.id, word, why)
        word = desk.word(intent)
    assert (await desk.approvals.sign(intent.id, *word)).state == "done"


def with_another_digest(desk: Desk, intent: Intent) -> tuple[bytes, bytes]:
    """Return a word about something else under the same id."""
    other = replace(desk.approvals.statement(intent), digest="0" * 64).to_bytes()
    return other, signed(other)


def over_an_older_statement(desk: Desk, intent: Intent) -> tuple[bytes, bytes]:
    """Return a statement with the signature over the one of a second ago."""
    _, signature = desk.word(intent)
    desk.clock.advance(1)
    return desk.word(intent)[0], signature


NO_TEXT = "orrery\N{NO-BREAK SPACE}approval 1\n".encode()
WRONG: dict[str, tuple[Callable[[Desk, Intent], tuple[bytes, bytes]], str]] = {
    "another intent's": (lambda desk, intent: desk.word(intent.change(id="in-0123456789ab")), "foreign"),
    "another digest's": (with_another_digest, "altered"),
    "a stranger's": (lambda desk, intent: desk.word(intent, STRANGER), "wrongly signed"),
    "an older statement's": (over_an_older_statement, "wrongly signed"),
    "no text": (lambda desk, intent: (NO_TEXT, desk.word(intent)[1]), "plain text"),
    "no bytes of a text": (lambda desk, intent: (b"\xff\xfe", desk.word(intent)[1]), "plain text"),
    "no text of a signature": (lambda desk, intent: (desk.word(intent)[0], NO_TEXT), "plain text"),
}
"""By whose word it is: the word, and why it does not count."""


@pytest.mark.parametrize("whose", WRONG)
async def test_a_word_that_does_not_count(desk: Desk, whose: str) -> None:
    """It is refused however often it comes, and the owner can still sign."""
    intent, (word, why) = await desk.proposed(), WRONG[whose]
    for _ in range(2):
        await see_refused(desk, intent.id, word(desk, intent), why)
    assert await desk.state(intent) == "waiting"
    assert (await desk.sign(intent)).state == "done"


async def test_of_another_deployment(desk: Desk) -> None:
    """An intent that was proposed elsewhere, in a copy of the store, is not carried out here."""
    intent = await desk.another(deployment="elsewhere").propose(desk.draft())
    await see_refused(desk, intent.id, desk.word(intent), "foreign")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"target":"', '"target":"other-'),
        ('"on":true', '"on":false'),
        ("It is dark.", "It is bright."),
        ("Turn it on.", "Do nothing."),
        ('"proposed_by":"owner"', '"proposed_by":"software"'),
    ],
)
async def test_altered_after_the_signature(desk: Desk, old: str, new: str) -> None:
    """An intent that was changed in the store is not what the owner has signed."""
    intent = await desk.proposed()
    word = desk.word(intent)
    await desk.alter(f"intent:{intent.id}", old, new)
    await see_refused(desk, intent.id, word, "altered")


@pytest.mark.parametrize("proposed_again", [False, True])
async def test_altered_before_the_signature(desk: Desk, proposed_again: bool) -> None:  # noqa: FBT001  a row of the table
    """What the log says first was proposed counts, not what is shown: an entry by hand makes it no other."""
    intent = await desk.proposed()
    await desk.alter(f"intent:{intent.id}", '"on":true', '"on":false')
    shown = (await desk.approvals.proposal(intent.id)).intent
    if proposed_again:
        await desk.approvals.log.append("proposed", shown)
    await see_refused(desk, intent.id, desk.word(shown), "altered")


async def test_every_changed_byte_of_a_statement(desk: Desk) -> None:
    """Whatever byte of a statement is changed, it does not count."""
    intent = await desk.proposed()
    statement, signature = desk.word(intent)
    for place in range(len(statement)):
        changed = statement[:place] + bytes([statement[place] ^ 1]) + statement[place + 1 :]
        with pytest.raises(ApprovalRefused):
            await desk.approvals.sign(intent.id, changed, signature)
    assert desk.switches.on == []
    assert (await desk.approvals.sign(intent.id, statement, signature)).state == "done"


async def test_after_a_restore(desk: Desk) -> None:
    """A restore makes what waits void, and what is done stays told as done."""
    done, waiting = await desk.proposed(), await desk.proposed()
    await desk.sign(done)
    word = desk.word(waiting)
    await Restoration(desk.store, desk.clock).settle(None)
    await see_refused(desk, waiting.id, word, "void: the store was restored")
    assert (await desk.state(waiting), await desk.state(done)) == ("void", "done")
    for what in (desk.approvals.withdraw, desk.approvals.settle):
        with pytest.raises(Invalid, match="void"):
            await what(waiting.id)
    assert (await desk.approvals.verify()).holds


async def test_many_after_a_restore() -> None:
    """The log is read once for all that a restore made void: the owner's page is not kept waiting by it."""
    clock, scans = ManualClock(), list[str]()
    store = UnreliableStore(MemoryStore(clock))
    desk = Desk(store, clock)

    async def count() -> None:
        scans.append("one")

    for _ in range(20):
        await desk.sign(await desk.proposed())
    await Restoration(store, desk.clock).settle(None)
    store.scanned = count
    assert [one.in_words(desk.clock.now()) for one in await desk.approvals.proposals()] == ["done"] * 20
    assert len(scans) == 2, "the intents, to their end, and the last entry: the others were read already"


async def test_progress_that_cannot_be_read(desk: Desk) -> None:
    """What waits is void where its record beside the log cannot be read; that is named, and stays as it is."""
    intent, done = await desk.proposed(), await desk.proposed()
    await desk.sign(done)
    for one in (intent, done):
        await desk.store.commit([Put(f"approval:{one.id}", b"nonsense")])
    assert (await desk.state(intent), await desk.state(done)) == ("void", "done")
    await see_refused(desk, intent.id, desk.word(intent), "void: .* its record cannot be read")
    for one in (intent, done):
        with pytest.raises(Invalid, match=f"approval:{one.id} cannot be read"):
            await desk.approvals.erase(one.id, "asked")
    assert {str(one) for one in await desk.approvals.unreadable_records()} == {
        str(unreadable(f"approval:{one.id}")) for one in (intent, done)
    }
    assert (await desk.stored(f"approval:{intent.id}")).value == b"nonsense"


async def test_a_record_put_in_the_place_of_one_that_a_restore_deleted(desk: Desk) -> None:
    """What cannot be read there makes nothing count again."""
    intent = await desk.proposed()
    await Restoration(desk.store, desk.clock).settle(None)
    await desk.store.commit([Put(f"approval:{intent.id}", b"x")])
    await see_refused(desk, intent.id, desk.word(intent), "void")


async def test_unknown_intent(desk: Desk) -> None:
    """What was never proposed is not there; what cannot be read, or lies under another id, is named."""
    one, other = await desk.proposed(), await desk.proposed()
    await desk.store.commit([Put(f"intent:{one.id}", (await desk.stored(f"intent:{other.id}")).value)])
    await desk.store.commit([Put("intent:in-000000000000", b"nonsense")])
    for name in ("in-123456789abc", "", "\n"):
        with pytest.raises(NotFound):
            await desk.approvals.sign(name, *desk.word(other))
    for name in ("in-000000000000", one.id):
        with pytest.raises(RecordUnreadable, match=f"intent:{name}"):
            await desk.approvals.sign(name, *desk.word(other))
    assert [one.intent for one in await desk.approvals.proposals()] == [other]


async def test_an_operation_of_another_version(desk: Desk) -> None:
    """What this version cannot carry out is refused."""
    intent = await desk.proposed()
    other = Approvals(desk.store, desk.clock, SharedKeys(OWNER), deployment=DEPLOYMENT)
    with pytest.raises(ApprovalRefused, match="turn-on is none that this version carries out"):
        await other.sign(intent.id, *desk.word(intent))
    assert await desk.state(intent) == "waiting"


async def test_withdrawn(desk: Desk) -> None:
    """What the owner takes back cannot be signed any more, nor taken back again."""
    intent = await desk.proposed()
    word = desk.word(intent)
    assert (await desk.approvals.withdraw(intent.id)).state == "withdrawn"
    await see_refused(desk, intent.id, word, "used: the intent is withdrawn")
    with pytest.raises(Invalid, match="this is withdrawn"):
        await desk.approvals.withdraw(intent.id)


@pytest.mark.parametrize(
    ("error", "logged"),
    [
        (
            ProcessorRefused("No ann@example.org.", status=400, code="in\nvalid", param="a[b]"),
            "The processor refused it (status 400, code invalid, parameter a[b]).",
        ),
        (OperationRefused("It is locked."), "It is locked."),
        (NotConfigured("The processor has no API key."), "The processor has no API key."),
        (Invalid("It is on already."), "It is on already."),
    ],
    ids=str,
)
async def test_what_is_refused_has_failed(desk: Desk, error: OrreryError, logged: str) -> None:
    """What is refused, or could not even be asked, has failed; a vendor's own sentence is not in the log."""
    desk.switches.before = [error]
    progress = await desk.sign(await desk.proposed())
    assert (progress.state, progress.note) == ("failed", str(error))
    assert (await desk.told())[-1] == ("failed", logged)


@pytest.mark.parametrize("personal", ["Ann.Other+x@example.org", "198.51.100.7", "2001:db8::1", "::1"])
async def test_nothing_personal_in_the_log(desk: Desk, personal: str) -> None:
    """Whatever an operation says of itself, no e-mail and no network address goes to the log or to a push."""
    desk.switches.before = [Invalid(f"The entry {personal} is there.")]
    await desk.sign(await desk.proposed(target=personal, body={"value": personal}))
    for prefix in ("approval-log", "outbox:"):
        for entry in await desk.store.scan(prefix):
            assert personal.encode() not in entry.value
    assert (await desk.told())[-1] == ("failed", "The entry [hidden] is there.")


async def test_a_bug_is_not_taken_for_an_outcome(desk: Desk) -> None:
    """What nobody foresaw leaves it started: that is all that is known."""
    desk.switches.before = [RuntimeError("a bug")]
    intent = await desk.proposed()
    with pytest.raises(RuntimeError):
        await desk.sign(intent)
    assert await desk.kinds() == ["proposed", "started"]


async def test_the_owner_is_told(desk: Desk) -> None:
    """Each outcome and each refusal is pushed with the log's head."""
    intent = await desk.proposed()
    with pytest.raises(ApprovalRefused):
        await desk.approvals.sign(intent.id, *desk.word(intent, STRANGER))
    await desk.sign(intent)
    rows = [row async for row in Outbox(desk.store, desk.clock, {}).rows("waiting")]
    assert [(row.title, row.priority) for row in rows] == [
        ("turn-on: refused", "high"),
        ("turn-on: done", "default"),
    ]
    assert rows[-1].body.endswith(f"Log {(await desk.approvals.verify()).head}")


async def test_a_store_that_fails(desk: Desk) -> None:
    """When the start cannot be stored, nothing is done and the intent still waits."""
    store = UnreliableStore(desk.store)
    intent = await desk.proposed()
    desk.store = store
    store.commit_errors = [StoreUnavailable("full")]
    with pytest.raises(StoreUnavailable):
        await desk.another().sign(intent.id, *desk.word(intent))
    assert (await desk.state(intent), desk.switches.on) == ("waiting", [])
