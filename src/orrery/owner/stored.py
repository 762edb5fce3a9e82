"""How records are read from the store: what was altered or cut, or what a newer version wrote, is met here.

Such a record is never written over by whoever has read it: it may be the proof of a sale. Whoever needs that one
record raises; whoever walks through many leaves it out, and says so.
"""

import re
from collections.abc import Iterable
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from orrery.errors import RecordUnreadable
from orrery.ports.store import Entry

Kind = TypeVar("Kind", bound=BaseModel)
Found = TypeVar("Found")

_DIGEST = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(rb"[\x21-\x7e]{1,512}")


def read(kind: type[Kind], entry: Entry) -> Kind:
    """Return the record in an entry; raise `RecordUnreadable`."""
    record = readable(kind, entry)
    if record is None:
        raise unreadable(entry)
    return record


def readable(kind: type[Kind], entry: Entry | None) -> Kind | None:
    """Return the record in an entry, or None where one that can not be read counts as none."""
    try:
        return kind.model_validate_json(entry.value) if entry else None
    except ValidationError:
        return None


def tried(kind: type[Kind], entry: Entry) -> Kind | RecordUnreadable:
    """Return the record in an entry, or why there is none, for whoever walks through many."""
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


def unreadable(entry: Entry) -> RecordUnreadable:
    """Return the error that names an entry; a digest in its key stands for a person, and is not told."""
    return RecordUnreadable(_DIGEST.sub("…", entry.key))
