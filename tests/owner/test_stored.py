"""How records are read from the store, and how those are told that cannot be read."""

from contextlib import suppress
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AwareDatetime

from orrery.errors import RecordUnreadable
from orrery.owner.stored import parted, read, read_id, readable, replaceable, tried
from orrery.ports.store import Entry
from orrery.record import Record


class Kept(Record):
    """A record of the tests."""

    v: Literal[1] = 1
    at: AwareDatetime
    count: int


WELL = b'{"v":1,"at":"2026-03-01T12:00:00Z","count":3}'
DAMAGED = [
    b"",
    WELL[:-1],
    b"\xff" + WELL,
    WELL.replace(b'"v":1', b'"v":2'),
    WELL.replace(b"3}", b'"three"}'),
    WELL.replace(b"3}", b"9" * 5000 + b"}"),
    WELL.replace(b"00Z", b"00"),
    b"[" * 100_000,
    b"null",
    b"[1]",
    b'"\\ud800"',
]


def entry(value: bytes, key: str = "access:cs_1") -> Entry:
    """Return an entry of the store."""
    return Entry(key, value, 1)


def test_what_is_well() -> None:
    """A record is given back as it was kept."""
    kept = read(Kept, entry(WELL))
    assert kept.count == 3
    assert kept == readable(Kept, entry(WELL)) == tried(Kept, entry(WELL))
    assert readable(Kept, None) is None


def test_what_a_newer_version_wrote_is_not_written_over() -> None:
    """A damaged record may be replaced where nothing else is done with it; one of a newer version may not."""
    assert replaceable(Kept, None) is None
    assert replaceable(Kept, entry(WELL)) == read(Kept, entry(WELL))
    assert replaceable(Kept, entry(WELL[:-1])) is None
    assert replaceable(Kept, entry(b'{"v":1,"at":"never"}')) is None
    with pytest.raises(RecordUnreadable, match="access:cs_1"):
        replaceable(Kept, entry(WELL.replace(b'"v":1', b'"v":2')))


@pytest.mark.parametrize("value", DAMAGED)
def test_what_is_damaged(value: bytes) -> None:
    """Whatever is wrong with it, the error names the record, says what to do, and holds nothing of its content."""
    with pytest.raises(
        RecordUnreadable, match=r"^The record access:cs_1 cannot be read: .* restore a backup\.$"
    ) as told:
        read(Kept, entry(value))
    assert told.value.__context__ is None, "pydantic's error holds what stood there"
    assert readable(Kept, entry(value)) is None
    assert isinstance(tried(Kept, entry(value)), RecordUnreadable)


@given(st.binary(max_size=40))
def test_any_bytes(value: bytes) -> None:
    """Whatever bytes stand there are a record or told, and an id or told."""
    for reading in (lambda: read(Kept, entry(value)), lambda: read_id(entry(value))):
        with suppress(RecordUnreadable):
            reading()


def test_a_person_is_not_told() -> None:
    """The digest of an address in a key is not told; sessions and products are."""
    found = tried(Kept, entry(b"", f"access-end:{'0a' * 32}:cert:isc2:cissp"))
    assert isinstance(found, RecordUnreadable)
    assert found.name == "access-end:…:cert:isc2:cissp"


def test_apart() -> None:
    """What could be read and what could not come apart, each in its order."""
    found = [tried(Kept, entry(value)) for value in (WELL, b"1", WELL, b"2")]
    records, left_out = parted(found)
    assert (len(records), [one.name for one in left_out]) == (2, ["access:cs_1"] * 2)


@pytest.mark.parametrize("value", [b"", b"\xff", b"two words", b"a\n", "ü".encode(), b"x" * 513])
def test_what_is_no_id(value: bytes) -> None:
    """An index that holds no id is told by its own key."""
    with pytest.raises(RecordUnreadable, match="access-by-time:1"):
        read_id(entry(value, "access-by-time:1"))
