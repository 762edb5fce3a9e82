"""Imports of earlier releases get random ids (decision 46): theirs could be computed from the buyer's address.

A record changes in one commit with whatever names it, and nothing notes how far this has come: a process may be
killed anywhere, and the next that opens the store goes on. When nothing is left, it costs one look at the store.
"""

import re
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence

import structlog

from orrery.checkout import keys
from orrery.checkout.desk import JOURNAL
from orrery.checkout.records import AccessRecord
from orrery.errors import StoreUnavailable
from orrery.owner import outbox
from orrery.owner.commits import commit_once
from orrery.owner.stored import read, readable
from orrery.ports.clock import Clock
from orrery.ports.store import Absent, Check, Committed, Delete, Entry, Put, Store, Unchanged, Write

_FORMER_ID = re.compile(r"import_[0-9a-f]{24}")
_FORMER = keys.access("import_")
_ROUNDS = 20
_BATCH = 100
"""Records of one commit: each commit waits for the disk, and thousands would hold up the start."""

Naming = Mapping[str, Sequence[Entry]]
"""Entries of the journal and the outbox, by the former id that they name."""

log = structlog.get_logger()


async def rekey_imports(store: Store, clock: Clock, index_key: bytes) -> int:
    """Give each import whose id could be computed a random one; return how many.

    One that cannot be read stays as it is, and opens nothing. Raises the store's errors.
    """
    rekeyed = 0
    for _ in range(_ROUNDS):
        left = [entry async for entry in _all(store, _FORMER) if readable(AccessRecord, entry)]
        if not left:
            if rekeyed:
                log.info("imports have random ids now", count=rekeyed)
            return rekeyed
        rekeying = _Rekeying(store, clock, index_key, await _naming(store))
        for start in range(0, len(left), _BATCH):
            rekeyed += await rekeying.done(left[start : start + _BATCH])
    raise StoreUnavailable("Imports change faster than they get new ids; try again.")


class _Rekeying:
    def __init__(self, store: Store, clock: Clock, index_key: bytes, naming: Naming) -> None:
        self._store = store
        self._clock = clock
        self._index_key = index_key
        self._naming = naming

    async def done(self, entries: Sequence[Entry]) -> int:
        """Rekey these records; return how many: not those that, or whose naming entries, changed meanwhile."""
        changes = [await self._change(entry) for entry in entries]
        writes = [write for writes, _ in changes for write in writes]
        checks = [check for _, checks in changes for check in checks]
        if isinstance(await commit_once(self._store, writes, checks), Committed):
            return len(entries)
        return 0 if len(entries) == 1 else sum([await self.done([one]) for one in entries])

    async def _change(self, entry: Entry) -> tuple[list[Write], list[Check]]:
        record = read(AccessRecord, entry)
        former, new = entry.key.removeprefix(keys.ACCESS), f"imported_{secrets.token_hex(12)}"
        named = self._naming.get(former, ())
        writes = [Delete(entry.key), *_indexed(record, former, new, self._index_key)]
        writes += [write for one in named for write in self._renamed(one, former, new)]
        checks: list[Check] = [Unchanged(one.key, one.version) for one in (entry, *named)]
        line = keys.imported(former, self._index_key)
        # An earlier release that ran in between may have imported the line again: the first stays the one to find.
        if await self._store.get(line) is None:
            writes.append(Put(line, new.encode()))
            checks.append(Absent(line))
        return writes, checks

    def _renamed(self, entry: Entry, former: str, new: str) -> list[Write]:
        if entry.key.startswith(outbox.ROW):
            return outbox.reworded(entry, lambda text: text.replace(former, new), self._clock.now())
        key = entry.key.replace(former, new)
        put = Put(key, entry.value.replace(former.encode(), new.encode()))
        return [put] if key == entry.key else [put, Delete(entry.key)]


def _indexed(record: AccessRecord, former: str, new: str, index_key: bytes) -> list[Write]:
    """Return the writes that store a record under its new id, and take the former one out of the indexes."""
    renamed, by_time = record.change(session_id=new), record.granted_at
    writes: list[Write] = [
        Put(keys.access(new), renamed.to_bytes()),
        Delete(keys.access_by_time(by_time, former)),
        Put(keys.access_by_time(by_time, new), new.encode()),
    ]
    if record.email:
        digest = keys.email_digest(record.email, index_key)
        writes += [
            Delete(keys.access_by_email(digest, former)),
            Put(keys.access_by_email(digest, new), new.encode()),
        ]
    return writes


async def _naming(store: Store) -> Naming:
    found: defaultdict[str, list[Entry]] = defaultdict(list)
    for prefix in (JOURNAL, outbox.ROW):
        async for entry in _all(store, prefix):
            text = f"{entry.key} {entry.value.decode(errors='replace')}"
            for former in {*_FORMER_ID.findall(text)}:
                found[former].append(entry)
    return found


async def _all(store: Store, prefix: str) -> AsyncIterator[Entry]:
    after = None
    while page := await store.scan(prefix, after=after, limit=1000):
        after = page[-1].key
        for entry in page:
            yield entry
