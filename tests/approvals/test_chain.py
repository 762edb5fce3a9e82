"""One remembered hash shows whether anything up to it was changed, taken out or put in (decision 15)."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.approvals.chain import HIDDEN, LONGEST_NOTE, LogEntry, first_break, following, impersonal, last_states
from tests.support.clock import START

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


@pytest.mark.parametrize("field", sorted(set(LogEntry.model_fields) - {"v"}))
@pytest.mark.parametrize("place", [0, 2, 4])
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
    assert last_states(entries) == {("a", ""): "failed"}


@pytest.mark.parametrize(
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
