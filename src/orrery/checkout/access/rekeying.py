"""Imports of earlier releases get random ids (decision 46): theirs could be computed from the buyer's address.

A record changes in one commit with every entry that names it, and no progress is stored: a process may be killed
anywhere, and the next one that opens the store continues. When no such id is left, it costs one read of the store.
"""

import re
import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence

from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import AccessRecord
from orrery.errors import StoreUnavailable
from orrery.logs import log
from orrery.ports.store import Committed, Delete, Put, StoreEntry, Unchanged, Write
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, StoredRecord, Walk, commit
from orrery.runtime.outbox_privacy import reworded

_FORMER_ID = re.compile(r"import_[0-9a-f]{24}")
_FORMER = "import_"
_ROUNDS = 20
_BATCH = 100
"""Records of one commit: each commit waits for the disk, and thousands would hold up the start."""

Naming = Mapping[str, Sequence[StoreEntry]]
"""Entries of the journal and the outbox, by the former id that they name."""


async def rekey_imports(stored: CheckoutRecords) -> int:
    """Give each import whose id could be computed a random one; return how many.

    One that cannot be read stays as it is, and opens nothing. Raises the store's errors.
    """
    rekeyed, records = 0, stored.access
    for _ in range(_ROUNDS):
        left = [one async for page in records.pages(_FORMER) for one in page.records]
        if not left:
            if rekeyed:
                log.info("imports have random ids now", count=rekeyed)
            return rekeyed
        rekeying = _Rekeying(stored, await _naming(stored))
        for start in range(0, len(left), _BATCH):
            rekeyed += await rekeying.done(left[start : start + _BATCH])
    raise StoreUnavailable("Imports change faster than they get new ids; try again.")


class _Rekeying:
    def __init__(self, stored: CheckoutRecords, naming: Naming) -> None:
        self._stored = stored
        self._naming = naming

    async def done(self, found: Sequence[StoredRecord[AccessRecord]]) -> int:
        """Rekey these records; return how many: not those that, or whose naming entries, changed meanwhile."""
        changes = [await self._change(one) for one in found]
        if isinstance(await commit(self._stored.store, sum(changes, Changes())), Committed):
            return len(found)
        return 0 if len(found) == 1 else sum([await self.done([one]) for one in found])

    async def _change(self, found: StoredRecord[AccessRecord]) -> Changes:
        former, new = found.id, f"imported_{secrets.token_hex(12)}"
        named = self._naming.get(former, ())
        renamed = found.record.change(session_id=new)
        changes = self._stored.access.changes(former, found, None) + self._stored.access.changes(
            new, None, renamed
        )
        changes += Changes(
            [write for one in named for write in self._renamed(one, former, new)],
            [Unchanged(one.key, one.version) for one in named],
        )
        line = self._stored.line_id(former)
        # An earlier release that ran in between may have imported the line again: the first stays the one to find.
        if await self._stored.imported_lines.get(line) is None:
            changes += self._stored.imported_lines.added(line, new.encode())
        return changes

    def _renamed(self, entry: StoreEntry, former: str, new: str) -> list[Write]:
        if entry.key.startswith(outbox.ROW):
            return reworded(entry, lambda text: text.replace(former, new), self._stored.clock.now())
        key = entry.key.replace(former, new)
        put = Put(key, entry.value.replace(former.encode(), new.encode()))
        return [put] if key == entry.key else [put, Delete(entry.key)]


async def _naming(stored: CheckoutRecords) -> Naming:
    found: defaultdict[str, list[StoreEntry]] = defaultdict(list)
    for prefix in (stored.journal.prefix, outbox.ROW):
        async for entries in Walk(prefix).over(stored.store, stored.clock):
            for entry in entries:
                text = f"{entry.key} {entry.value.decode(errors='replace')}"
                for former in {*_FORMER_ID.findall(text)}:
                    found[former].append(entry)
    return found
