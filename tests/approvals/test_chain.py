"""What the owner signs, and how one remembered hash shows each change of the log (decision 15)."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orrery.approvals.chain import (
    BEGINNINGS,
    HIDDEN,
    LONGEST_NOTE,
    EntryKind,
    LogEntry,
    first_break,
    following,
    impersonal,
)
from orrery.approvals.intents import Statement, read_statement
from orrery.approvals.progress import begun_again, fold
from orrery.errors import ApprovalRefused
from orrery.runtime.collection import parse
from orrery.runtime.operations import Intent
from tests.support.clock import START
from tests.support.tables import each_case

CHANGES: dict[str, object] = {
    "number": 99,
    "at": START + timedelta(days=1),
    "kind": "failed",
    "intent_id": "in-other",
    "operation": "other",
    "digest": "other",
    "target": "other",
    "note": "other",
    "statement": "other",
    "signature": "other",
    "signer": "other",
    "previous": "f" * 64,
    "hash": "f" * 64,
}


def chain(length: int) -> list[LogEntry]:
    """Return so many entries, each following the one before."""
    entries: list[LogEntry] = []
    for number in range(length):
        new = LogEntry(number=0, at=START, kind="done", intent_id=f"in-{number}", operation="test", digest="d")
        entries.append(following(entries[-1] if entries else None, new))
    return entries


@given(st.integers(0, 20))
def test_a_chain_holds(length: int) -> None:
    """What was only appended to holds."""
    assert first_break(chain(length)) is None


@each_case("field", sorted(set(LogEntry.model_fields) - {"v"}))
@each_case("place", [0, 2, 4])
def test_an_altered_field_is_found(field: str, place: int) -> None:
    """A change of any field of any entry is found at that entry."""
    entries = chain(5)
    entries[place] = entries[place].model_copy(update={field: CHANGES[field]})
    assert first_break(entries) == place + 1


def test_an_altered_entry_with_a_new_hash_is_found_at_the_next() -> None:
    """Anyone who alters an entry and makes its hash anew breaks the one that follows."""
    entries = chain(5)
    altered = entries[1].model_copy(update={"note": "other"})
    entries[1] = altered.model_copy(update={"hash": altered.expected_hash()})
    assert first_break(entries) == 3


@given(st.integers(2, 8), st.data())
def test_any_other_order_is_found(length: int, data: st.DataObject) -> None:
    """Entries in any other order do not hold."""
    entries = chain(length)
    other: Sequence[LogEntry] = data.draw(st.permutations(entries))
    assert (first_break(other) is None) == (list(other) == entries)


@given(st.integers(2, 8), st.data())
def test_a_missing_entry_is_found(length: int, data: st.DataObject) -> None:
    """An entry that was taken out before the last is found where it was."""
    entries = chain(length)
    place = data.draw(st.integers(0, length - 2))
    del entries[place]
    assert first_break(entries) == place + 1


@given(st.integers(1, 8), st.data())
def test_an_inserted_entry_is_found(length: int, data: st.DataObject) -> None:
    """An entry that was put in is found there, or where the next no longer follows it."""
    entries: list[LogEntry | None] = [*chain(length)]
    place = data.draw(st.integers(0, length - 1))
    entries.insert(place, following(None, chain(1)[0]))
    assert first_break(entries) is not None


def test_what_cannot_be_read_breaks_it() -> None:
    """An entry that cannot be read does not hold."""
    assert first_break([*chain(2), None]) == 3


def test_the_last_word() -> None:
    """What reading has shown counts as an outcome, and a refusal changes nothing."""
    kinds = ("proposed", "started", "did not happen", "refused")
    entries = [LogEntry(number=0, at=START, kind=kind, intent_id="a", operation="o", digest="d") for kind in kinds]
    assert fold(entries, {})["a"].state == "failed"


def test_what_was_never_proposed() -> None:
    """Whatever else a log has of an intent, nothing begins without its proposal."""
    for kind in get_args(EntryKind):
        entries = [
            LogEntry(number=number, at=START, kind=each, intent_id="a", operation="o", digest="d")
            for number, each in enumerate((kind, "started"), 1)
        ]
        assert [*begun_again(entries)] == ([] if kind == "proposed" else [1, 2] if kind in BEGINNINGS else [2]), (
            kind
        )


def test_a_target_begins_once() -> None:
    """A target begins again only after a failure: not while it is under way, unknown or done."""
    for between, again in {
        "done": [4],
        "unknown": [4],
        "happened": [4],
        "failed": [],
        "did not happen": [],
    }.items():
        steps = (("proposed", ""), ("approved", ""), ("started", "cs_1"), (between, "cs_1"), ("started", "cs_1"))
        entries = [
            LogEntry.model_validate(
                {"number": number, "at": START, "kind": kind, "intent_id": "a", "operation": "o", "digest": "d"}
                | {"target": target}
            )
            for number, (kind, target) in enumerate(steps)
        ]
        assert [*begun_again(entries)] == again, between


@each_case(
    ("note", "kept"),
    [
        ("Blocked ann@example.org.", f"Blocked {HIDDEN}"),
        ("Blocked <jürgen@exämple.org>, twice", f"Blocked {HIDDEN} twice"),
        ("Blocked 203.0.113.77.", f"Blocked {HIDDEN}."),
        ("Blocked 2001:db8:0:1::7.", f"Blocked {HIDDEN}."),
        ("Blocked [::1] and fe80::1", f"Blocked [{HIDDEN}] and {HIDDEN}"),
        ("cs_test_a1B2 is expired.", "cs_test_a1B2 is expired."),
        ("Expired: 2 of 3; API 2026-08-26.dahlia", "Expired: 2 of 3; API 2026-08-26.dahlia"),
        ("Entry rsli_123 of version 1.2.3.", "Entry rsli_123 of version 1.2.3."),
        ("x" * 600, "x" * LONGEST_NOTE),
    ],
)
def test_notes_without_personal_data(note: str, kept: str) -> None:
    """What looks like an e-mail or a network address is hidden in a note, and nothing else."""
    assert impersonal(note) == kept


DIGEST = "7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069"
TEXT = f"orrery approval 1\nintent in-5d0c3e9a1f22\ndigest sha256:{DIGEST}\nat 2026-11-21T12:00:00Z\n"
FIELDS: dict[str, Any] = {
    "id": "in-5d0c3e9a1f22",
    "operation": "block",
    "target": "list_1",
    "body": {"value": "x", "n": 1},
    "before": {"entries": []},
    "summary": "Block x.",
    "reason": "Declines.",
    "deployment": "here",
    "proposed_by": "owner",
    "proposed_at": START,
    "salt": "",
}
OTHERS: dict[str, Any] = {
    "id": "in-5d0c3e9a1f23",
    "operation": "unblock",
    "target": "list_2",
    "body": {"value": "x", "n": 1.5},
    "before": None,
    "summary": "Block y.",
    "reason": "Declines",
    "deployment": "there",
    "proposed_by": "software",
    "proposed_at": START + timedelta(microseconds=1),
    "salt": "5a17",
}
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
json_values = plain | st.lists(plain) | st.dictionaries(st.text(), plain)


@each_case("field", sorted(FIELDS))
def test_the_digest_is_over_everything(field: str) -> None:
    """A change of any field gives another digest."""
    assert Intent(**FIELDS | {field: OTHERS[field]}).digest() != Intent(**FIELDS).digest()


def test_every_field_is_tried() -> None:
    """The test above knows every field."""
    assert set(FIELDS) == set(OTHERS) == set(Intent.model_fields) - {"v"}


def test_the_digest_never_changes() -> None:
    """The digest of a certain intent is the one that it always was: what was signed yesterday counts today."""
    frozen = "5a87bdd7db71dbf77ca9d38421097a7e0c3bf242cf44c5358a712e1493c9ef4f"
    assert Intent(**FIELDS).digest() == frozen


@settings(max_examples=50)
@given(st.dictionaries(st.text(), json_values, max_size=3))
def test_the_digest_survives_the_store(body: dict[str, object]) -> None:
    """Whatever is in a body, an intent that was stored and read again is the same, to the digest."""
    intent = Intent(**FIELDS).model_copy(update={"body": body, "before": body})
    read = parse(Intent, intent.model_dump_json().encode())
    assert read is not None
    assert (read, read.digest()) == (intent, intent.digest())


@each_case("stored", [b"", b"{}", b"[]", b"\xff", b'{"v": 2}'])
def test_an_intent_that_cannot_be_read(stored: bytes) -> None:
    """What is no intent of this version is none."""
    assert parse(Intent, stored) is None


def test_a_statement() -> None:
    """A statement is four lines, its time in UTC and whole seconds."""
    at = datetime(2026, 11, 22, 1, 0, 0, 999_999, tzinfo=timezone(timedelta(hours=13)))
    assert Statement("in-5d0c3e9a1f22", DIGEST, at).to_bytes() == TEXT.encode()
    assert read_statement(TEXT) == Statement("in-5d0c3e9a1f22", DIGEST, datetime(2026, 11, 21, 12, tzinfo=UTC))


@each_case(
    "text",
    [
        "",
        TEXT[:-1],
        TEXT + "\n",
        TEXT + TEXT,
        " " + TEXT,
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("approval 1", "approval 2"),
        TEXT.replace("in-5d0c3e9a1f22", "in-5D0C3E9A1F22"),
        TEXT.replace("in-5d0c3e9a1f22", "in-5d0c3e9a1f2"),
        TEXT.replace("sha256:", ""),
        TEXT.replace("7f83", "7F83"),
        TEXT.replace("12:00:00Z", "12:00:00+00:00"),
        TEXT.replace("2026-11-21", "2026-02-30"),
        TEXT.replace("12:00", "25:00"),
        TEXT.replace("2026", "\N{ARABIC-INDIC DIGIT TWO}026"),
        TEXT.replace("at ", "reason none\nat "),
    ],
)
def test_no_statement(text: str) -> None:
    """A text that differs in anything is no statement."""
    with pytest.raises(ApprovalRefused, match="no statement"):
        read_statement(text)
