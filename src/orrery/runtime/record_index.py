"""What the indexes of a collection lead to."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TypeVar

from orrery.errors import RecordUnreadable
from orrery.ports.store import Delete, Put, StoreEntry, Write
from orrery.record import Record
from orrery.runtime.collection import Changes, Collection, RecordPage, StoredRecord, commit

R = TypeVar("R", bound=Record)


async def behind(
    records: Collection[R], indexes: Iterable[str], wanted: Callable[[R], bool], limit: int | None = None
) -> RecordPage[R]:
    """Return the `wanted` records that indexes lead to, and those that cannot be read, each once; write nothing.

    An entry may be older than its record, so the record decides. At most `limit` of each index, those among them
    whose record is gone.
    """
    found, unreadable = dict[str, StoredRecord[R]](), dict[str, RecordUnreadable]()
    for index in indexes:
        counted = 0
        async for entry in records.entries(index):
            record_id = id_in(entry)
            try:
                record = await records.get(record_id)
            except RecordUnreadable as error:
                unreadable[record_id] = error
                counted += 1
            else:
                if record and wanted(record.record):
                    found[record_id] = record
                if not record or wanted(record.record):
                    counted += 1
            if counted == limit:
                break
    return RecordPage([*found.values()], [*unreadable.values()])


async def index_again(records: Collection[R], index: str) -> None:
    """Give the records that an index leads to their own entries, in place of what they are not found by any more.

    Those that cannot be read keep the entry that they have.
    """
    async for entry in records.entries(index):
        with suppress(RecordUnreadable):
            found = await records.get(id_in(entry))
            keys: Sequence[str] = [*records.index(found.record)] if found else []
            if entry.key not in keys:
                writes: list[Write] = [Delete(entry.key), *(Put(key, entry.value) for key in keys)]
                # A conflict means that the record has changed meanwhile: the next look moves it.
                _ = await commit(records.store, Changes(writes, [records.as_read(id_in(entry), found)]))


def id_in(entry: StoreEntry) -> str:
    """Return the id that an entry of an index holds."""
    return entry.value.decode(errors="replace")
