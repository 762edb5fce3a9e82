"""What every stored value is made of: unknown fields are kept, never made here, and not shown."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AwareDatetime

from orrery.approvals.chain import LogEntry, first_break, following
from orrery.approvals.progress import IntentProgress, TargetUse
from orrery.record import Code, Id, Personal, PersonalText, Record, RecordPart, Sealed, personal_fields
from orrery.runtime.operations import Intent


class Part(RecordPart):
    """A part of a record of the tests."""

    count: int


class Whole(Record):
    """A record of the tests."""

    at: AwareDatetime
    parts: tuple[Part, ...] = ()


class LaterIntent(Intent):
    """What an intent may be in a later release: one optional field more."""

    note_to_self: str | None = None


STORED = b'{"v":1,"at":"2026-03-01T12:00:00Z","parts":[{"count":1,"later":"a"}],"also":{"later":[1,null]}}'
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
INTENT = Intent(
    id="in-1",
    operation="expire-session",
    target="cs_1",
    body={"rate": 1.10},
    summary="s",
    reason="r",
    deployment="d",
    proposed_by="owner",
    proposed_at=NOON,
    salt="a" * 32,
)

SIMPLE = st.none() | st.booleans() | st.integers() | st.text()
ANY_JSON = st.recursive(
    SIMPLE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)


def test_unknown_fields_are_written_back() -> None:
    """A change keeps what this release does not know, in the record and in its parts."""
    changed = Whole.from_bytes(STORED).change(at=NOON.replace(year=2027))
    assert json.loads(changed.to_bytes()) == json.loads(STORED) | {"at": "2027-03-01T12:00:00Z"}


@given(st.dictionaries(st.text().filter(lambda name: name not in Whole.model_fields), ANY_JSON, max_size=4))
def test_any_unknown_fields_survive(unknown: dict[str, object]) -> None:
    """Whatever a later release adds is written back as it was read."""
    stored = json.dumps({"v": 1, "at": "2026-03-01T12:00:00Z", "parts": [], **unknown}).encode()
    assert json.loads(Whole.from_bytes(stored).to_bytes()) == json.loads(stored)


def test_unknown_fields_do_not_come_from_code() -> None:
    """A mistyped name is an error, where a record is made and where it is changed."""
    with pytest.raises(TypeError, match="Whole has no field cuont"):
        Whole(at=NOON, cuont=1)  # pyright: ignore[reportCallIssue]  the mistake that the test is about
    with pytest.raises(TypeError, match="Whole has no field cuont"):
        Whole(at=NOON).change(cuont=1)


def test_parts_with_unknown_fields_may_be_put_into_another_record() -> None:
    """What was read keeps its unknown fields when code makes a new record of it."""
    (part,) = Whole.from_bytes(STORED).parts
    assert b'"later":"a"' in Whole(at=NOON, parts=(part,)).to_bytes()


def test_unknown_fields_are_not_shown() -> None:
    """They may be personal, and a repr ends in a log or a traceback."""
    read = Whole.from_bytes(STORED)
    assert "later" not in repr(read)
    assert "also" not in repr(read)
    assert repr(read.parts[0]) == "Part(count=1)"


def test_an_erasure_drops_unknown_fields() -> None:
    """What is not known here may be personal."""
    assert json.loads(Whole.from_bytes(STORED).without_unknown_fields().to_bytes())["parts"][0]["later"] == "a"
    assert b"also" not in Whole.from_bytes(STORED).without_unknown_fields().to_bytes()


def test_unknown_fields_stay_through_the_steps_of_an_intent() -> None:
    """What later releases have written beside the notes of an intent stays when it goes on."""
    use = TargetUse(state="done", changed_at=NOON, note="n")
    progress = IntentProgress(intent_id="in-1", digest="d", changed_at=NOON, note="n", uses={"cs_1": use})
    stored = progress.to_bytes().replace(b'"note":"n"', b'"note":"n","more":"x@buyer.example"')
    read = IntentProgress.from_bytes(stored)
    gone_on = read.as_logged(progress).after("cs_1", "unknown", NOON).after("", "done", NOON)
    assert gone_on.to_bytes().count(b"more") == 2


def test_a_digest_is_over_the_stored_bytes() -> None:
    """What was signed has the digest that was signed, in releases with fewer and with more fields."""
    later = LaterIntent(**INTENT.model_dump(), note_to_self="x")
    assert Intent.from_bytes(later.to_bytes()).digest() == later.digest() != INTENT.digest()
    assert LaterIntent.from_bytes(INTENT.to_bytes()).digest() == INTENT.digest()
    assert Intent.from_bytes(INTENT.to_bytes()) == INTENT


def test_what_is_sealed_is_never_written_anew() -> None:
    """The bytes of a signed record are those that were read, whatever this release would write."""
    stored = INTENT.to_bytes().replace(b'"rate":1.1', b'"rate":1.10')
    assert Intent.from_bytes(stored).to_bytes() == stored
    assert Intent.from_bytes(stored).digest() == INTENT.digest()


def test_a_sealed_record_that_was_altered_has_another_digest() -> None:
    """An unknown field that somebody puts into a signed record breaks its seal."""
    stored = INTENT.to_bytes().replace(b'{"v":1', b'{"added":1,"v":1')
    assert Intent.from_bytes(stored).digest() != INTENT.digest()


def test_the_chain_holds_over_entries_of_a_later_release() -> None:
    """An entry with an unknown field is checked over what was stored, and the next one follows it."""

    class LaterEntry(LogEntry):
        more: str = "x"

    first = LaterEntry(number=0, at=NOON, kind="proposed", intent_id="in-1", operation="o", digest="d")
    read = LogEntry.from_bytes(following(None, first).to_bytes())
    second = following(read, LogEntry.from_bytes(following(None, first).to_bytes()).change(kind="done"))
    assert first_break([read, second]) is None
    assert first_break([read.change(note="altered"), second]) == 1


def test_sealed_records_are_compared_by_what_is_stored() -> None:
    """Two that were stored with different bytes are not the same, though every known field is."""
    assert Intent.from_bytes(INTENT.to_bytes().replace(b"{", b'{"x":1,', 1)) != INTENT
    assert isinstance(INTENT, Sealed)
    assert hash(INTENT) == hash(Intent.from_bytes(INTENT.to_bytes()))


class Guest(RecordPart):
    """A record of the tests with a mark in a record inside."""

    number: Code
    names: tuple[PersonalText, ...] = ()
    consent: Annotated[bool | None, Personal]
    inside: Mapping[Id, "Companion"] = {}


class Companion(RecordPart):
    """A part with a mark."""

    name: PersonalText


GUEST = Guest(number="7", names=("Ann",), consent=True, inside={"a": Companion(name="Bob")})


def test_the_marks_of_a_record() -> None:
    """A field is personal by a mark at any depth; no `repr` shows one, and an erasure empties it."""
    assert personal_fields(Guest) == {"names", "consent", "inside"}
    assert repr(GUEST) == "Guest(number='7')"
    assert GUEST.without_person() == Guest(number="7", consent=None)
    assert Guest.from_bytes(b'{"number": "7", "consent": null, "more": 1}').without_person().model_extra == {}


def test_a_mark_changes_no_stored_byte() -> None:
    """What is written is the same as without marks."""
    stored = b'{"number":"7","names":["Ann"],"consent":true,"inside":{"a":{"name":"Bob"}}}'
    assert GUEST.to_bytes() == stored
