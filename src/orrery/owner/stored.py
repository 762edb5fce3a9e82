"""How records are read from the store: what was altered or cut, or what a newer version wrote, is met here.

Code never overwrites such a record: it may be the proof of a sale. Code that needs that one record raises an
error; code that reads many records leaves it out, and reports it.
"""

import re
from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from orrery.errors import RecordUnreadable
from orrery.ports.store import Entry
from orrery.record import Record

Kind = TypeVar("Kind", bound=Record)
Found = TypeVar("Found")


class _Versioned(BaseModel):
    v: int


_DIGEST = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(rb"[\x21-\x7e]{1,512}")


def read(kind: type[Kind], entry: Entry) -> Kind:
    """Return the record in an entry; raise `RecordUnreadable`."""
    record = readable(kind, entry)
    if record is None:
        raise unreadable(entry)
    return record


def readable(kind: type[Kind], entry: Entry | None) -> Kind | None:
    """Return the record in an entry, or None where one that cannot be read counts as none."""
    try:
        return kind.from_bytes(entry.value) if entry else None
    except ValidationError:
        return None


def replaceable(kind: type[Kind], entry: Entry | None) -> Kind | None:
    """Return the record in an entry, or None where there is none or a damaged one, which may be written over.

    Raises `RecordUnreadable` for the record of a newer `v`, which may not (decision 45).
    """
    record = readable(kind, entry)
    if entry and record is None and _is_newer(kind, entry.value):
        raise unreadable(entry)
    return record


def tried(kind: type[Kind], entry: Entry) -> Kind | RecordUnreadable:
    """Return the record in an entry, or why it cannot be read, for code that reads many."""
    return readable(kind, entry) or unreadable(entry)


def read_id(entry: Entry) -> str:
    """Return the id that an entry of an index, or a key that was noted, holds; raise `RecordUnreadable`."""
    if not _ID.fullmatch(entry.value):
        raise unreadable(entry)
    return entry.value.decode("ascii")


def parted(found: Iterable[Found | RecordUnreadable]) -> tuple[list[Found], list[RecordUnreadable]]:
    """Return what could be read and what could not."""
    records: list[Found] = []
    left_out: list[RecordUnreadable] = []
    for one in found:
        if isinstance(one, RecordUnreadable):
            left_out.append(one)
        else:
            records.append(one)
    return records, left_out


def _is_newer(kind: type[Record], value: bytes) -> bool:
    try:
        return _Versioned.model_validate_json(value).v > _Versioned(v=kind.model_fields["v"].default).v
    except ValidationError:
        return False


def unreadable(entry: Entry) -> RecordUnreadable:
    """Return the error that names an entry; a digest in its key stands for a person, and is not told."""
    return RecordUnreadable(_DIGEST.sub("…", entry.key))
