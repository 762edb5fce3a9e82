"""Typed records over the store: the one way in which they are read, changed, listed, indexed and kept.

A record that was altered or cut, or that a newer release wrote, is never overwritten by a caller that has read it:
it may be the proof of a sale. `get` raises for such a record; `pages` leaves it out and names it.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from orrery.errors import NotFound, OutcomeUnknown, RecordUnreadable, StoreUnavailable
from orrery.ports.clock import Clock
from orrery.ports.store import (
    MINIMUM_TTL,
    Absent,
    Check,
    Committed,
    Conflict,
    Delete,
    Put,
    Store,
    StoreEntry,
    Unchanged,
    Write,
)
from orrery.record import Record, personal_fields
from orrery.runtime.lost_answer import repeated
from orrery.runtime.own_store import OwnStore, require_declared
from orrery.runtime.tasks import together

R = TypeVar("R", bound=Record)
T = TypeVar("T")

PAGE = 200
"""Records that are read at a time."""

FOR_EVER = None
"""The life of what is kept until something deletes it: an author must choose that."""

ROUNDS = 20
"""Attempts of a compare-and-set before the store counts as too busy."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(rb"[\x21-\x7e]{1,512}")


@dataclass(frozen=True, slots=True)
class StoredRecord(Generic[R]):
    """A record as it is stored: `version` is what a change of it is checked against."""

    id: str
    record: R
    version: int
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecordPage(Generic[R]):
    """A part of a collection: what could be read, and why the rest could not."""

    records: Sequence[StoredRecord[R]] = ()
    unreadable: Sequence[RecordUnreadable] = ()

    def __add__(self, other: "RecordPage[R]") -> "RecordPage[R]":
        return RecordPage([*self.records, *other.records], [*self.unreadable, *other.unreadable])

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was found, readable or not."""
        return not self.records and not self.unreadable

    def values(self) -> list[R]:
        """Return what could be read, without where it is stored."""
        return [one.record for one in self.records]

    def whole(self) -> list[R]:
        """Return the same; raise `RecordUnreadable` for the first that could not be read."""
        if self.unreadable:
            raise self.unreadable[0]
        return self.values()


@dataclass(frozen=True, slots=True)
class Changes:
    """Writes and the checks that they need: what several collections change in one commit is added up."""

    writes: Sequence[Write] = ()
    checks: Sequence[Check] = ()

    def __add__(self, other: "Changes") -> "Changes":
        return Changes([*self.writes, *other.writes], [*self.checks, *other.checks])


@dataclass(frozen=True, slots=True)
class Collection(Generic[R]):
    """The records of one `kind`, each stored under `prefix` and its id.

    A collection of one has its whole key as its prefix, and is used without ids. `index` returns the keys by which
    a record is found besides its id; each holds the id. `life` is how long a record is kept from the moment at
    which it comes into its state, or a function of the record that returns it; a later change in the same state
    leaves the rest of that time. `derived`: its records are made from facts again and lose nothing, so that even
    one of a newer `v` may be overwritten.
    """

    store: Store
    clock: Clock
    kind: type[R]
    prefix: str
    index: Callable[[R], Iterable[str]] = field(default=lambda _: ())
    life: timedelta | Callable[[R], timedelta | None] | None = field(kw_only=True)
    derived: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        require_declared(self.store, self.prefix)
        if isinstance(self.store, OwnStore) and personal_fields(self.kind):
            self.store.note(self.prefix, self)

    def key(self, record_id: str = "") -> str:
        """Return where a record is stored."""
        return f"{self.prefix}{record_id}"

    def life_of(self, record: R) -> timedelta | None:
        """Return how long a record is kept, or `FOR_EVER`."""
        return self.life(record) if callable(self.life) else self.life

    async def get(self, record_id: str = "") -> StoredRecord[R] | None:
        """Return a record, or None when it is missing; raise `RecordUnreadable`."""
        entry = await self.entry(record_id)
        return self.read(entry) if entry else None

    async def entry(self, record_id: str = "") -> StoreEntry | None:
        """Return what is stored in the place of a record, unread, or None when there is nothing."""
        return await self.store.get(self.key(record_id))

    async def require(self, record_id: str = "") -> StoredRecord[R]:
        """Return a record; raise `NotFound` and `RecordUnreadable`."""
        if found := await self.get(record_id):
            return found
        raise NotFound(f"There is no {self.key(record_id)}.")

    async def find(self, record_id: str = "") -> StoredRecord[R] | None:
        """Return a record, or None where one that cannot be read counts as none."""
        try:
            return await self.get(record_id)
        except RecordUnreadable:
            return None

    async def replaceable(self, record_id: str = "") -> tuple[R | None, Check]:
        """Return a record, and the check that nothing has changed since.

        A damaged record counts as none, and may be overwritten. One of a newer `v` may not (decision 45), unless
        the collection is derived: it is a `RecordUnreadable`.
        """
        entry = await self.entry(record_id)
        return self.replaceable_in(entry) if entry else (None, Absent(self.key(record_id)))

    def replaceable_in(self, entry: StoreEntry) -> tuple[R | None, Check]:
        """Return what `replaceable` returns, of an entry that was read already."""
        record = parse(self.kind, entry.value)
        if record is None and not self.derived and is_newer(self.kind, entry.value):
            raise unreadable(entry.key)
        return record, Unchanged(entry.key, entry.version)

    def as_read(self, record_id: str, found: StoredRecord[R] | None) -> Check:
        """Return the check that a record is still what was read, or that there still is none."""
        return Unchanged(self.key(record_id), found.version) if found else Absent(self.key(record_id))

    async def unchanged(self, record_id: str = "") -> Check:
        """Return the check that what is there now stays, whether it can be read or not."""
        entry = await self.entry(record_id)
        return Unchanged(entry.key, entry.version) if entry else Absent(self.key(record_id))

    async def pages(
        self, within: str = "", *, limit: int | None = None, newest_first: bool = False
    ) -> AsyncIterator[RecordPage[R]]:
        """Yield the records whose ids begin with `within`, by id, up to `limit`; between pages others go on."""
        walk = Walk(self.key(within), limit, newest_first=newest_first)
        async for entries in walk.over(self.store, self.clock):
            yield self._page(entries)

    async def all(self, within: str = "") -> RecordPage[R]:
        """Return all of `pages` at once: for what is few."""
        return await gathered(self.pages(within))

    async def unreadable(self) -> list[RecordUnreadable]:
        """Read all records, and return why some cannot be read; for a command, for which no visitor waits."""
        # Each page costs two changes of thread.
        pages = Walk(self.prefix, page=5 * PAGE).over(self.store, self.clock)
        return [unreadable(one.key) async for page in pages for one in page if parse(self.kind, one.value) is None]

    async def indexed(self, walk: "Walk") -> AsyncIterator[RecordPage[R]]:
        """Yield the records that the entries of an index lead to, in their order.

        An entry that leads nowhere, and is still there, is damaged: it is named in place of its record.
        """
        async for entries in walk.over(self.store, self.clock):
            yield await self._behind(entries)

    def entries(
        self, index: str = "", *, limit: int | None = None, newest_first: bool = False
    ) -> AsyncIterator[StoreEntry]:
        """Yield the entries of an index whose keys begin with `index`, or without one the records, all unread."""
        return Walk(index or self.prefix, limit, newest_first=newest_first).entries(self.store, self.clock)

    def changes(
        self, record_id: str, old: StoredRecord[R] | None, new: R | None, *, renewed: bool = False
    ) -> Changes:
        """Return what makes `new` of `old`, its index included: None of `old` adds, None of `new` deletes.

        `renewed`: its life begins again.
        """
        life = self._life(old, new, renewed=renewed)
        before = set(self.index(old.record)) if old else set[str]()
        after = set(self.index(new)) if new else set[str]()
        # Entries that would expire are written again, as those of a record that becomes permanent.
        kept = after if life or (old and old.expires_at) else after - before
        writes: list[Write] = [Delete(key) for key in sorted(before - after)]
        writes += [Put(key, record_id.encode(), life) for key in sorted(kept)]
        writes.append(Put(self.key(record_id), new.to_bytes(), life) if new else Delete(self.key(record_id)))
        return Changes(writes, [self.as_read(record_id, old)])

    def writes(self, record: R, record_id: str) -> list[Write]:
        """Return what stores a record and its index over whatever is there.

        What the index held of another record there stays.
        """
        life = self.life_of(record)
        entries = (Put(key, record_id.encode(), life) for key in self.index(record))
        return [Put(self.key(record_id), record.to_bytes(), life), *entries]

    def put(self, record: R, record_id: str = "") -> Put:
        """Return the write of a record over whatever is there; its index, if there is one, must stay as it is."""
        return Put(self.key(record_id), record.to_bytes(), self.life_of(record))

    async def update(self, record_id: str, change: Callable[[R], R]) -> R:
        """Change a record and return it; `change` has no effects, and is asked again when another was first.

        Raises `NotFound`, `RecordUnreadable`, and `StoreUnavailable` when others are always first.
        """

        async def attempt() -> R | Conflict:
            old = await self.require(record_id)
            new = change(old.record)
            if new == old.record:
                return new
            outcome = await commit(self.store, self.changes(record_id, old, new))
            return outcome if isinstance(outcome, Conflict) else new

        return await compare_and_set(attempt, f"{self.key(record_id)} changes all the time; nothing was written.")

    def read(self, entry: StoreEntry) -> StoredRecord[R]:
        """Return the record in an entry of this collection; raise `RecordUnreadable`."""
        record = parse(self.kind, entry.value)
        if record is None:
            raise unreadable(entry.key)
        return StoredRecord(entry.key.removeprefix(self.prefix), record, entry.version, entry.expires_at)

    def _life(self, old: StoredRecord[R] | None, new: R | None, *, renewed: bool) -> timedelta | None:
        if new is None:
            return None
        whole = self.life_of(new)
        if renewed or old is None or old.expires_at is None or self.life_of(old.record) != whole:
            return whole
        return max(old.expires_at - self.clock.now(), MINIMUM_TTL)

    def _page(self, entries: Sequence[StoreEntry]) -> RecordPage[R]:
        records, left_out = list[StoredRecord[R]](), list[RecordUnreadable]()
        for entry in entries:
            try:
                records.append(self.read(entry))
            except RecordUnreadable as error:
                left_out.append(error)
        return RecordPage(records, left_out)

    async def _behind(self, indexes: Sequence[StoreEntry]) -> RecordPage[R]:
        ids = {one.key: one.value.decode("ascii") for one in indexes if _ID.fullmatch(one.value)}
        # The store answers all of them at once.
        entries = await together(*(self.store.get(self.key(record_id)) for record_id in ids.values()))
        found = {key for key, entry in zip(ids, entries, strict=True) if entry}
        left = [one for one in indexes if one.key not in found]
        damaged = [unreadable(one.key) for one in left if await self._is_there(one)]
        return self._page([one for one in entries if one]) + RecordPage(unreadable=damaged)

    async def _is_there(self, entry: StoreEntry) -> bool:
        now = await self.store.get(entry.key)
        return now is not None and now.version == entry.version


@dataclass(frozen=True, slots=True)
class Walk:
    """A way through the keys under `prefix`: at most `limit`, and not beyond `until`; `page` of them at a time."""

    prefix: str
    limit: int | None = None
    until: str | None = None
    newest_first: bool = False
    page: int = PAGE

    async def over(self, store: Store, clock: Clock) -> AsyncIterator[Sequence[StoreEntry]]:
        """Yield the entries page by page; between two pages others go on, however fast the store answers."""
        after, left = None, self.limit
        while left is None or left > 0:
            size = self.page if left is None else min(left, self.page)
            page = await store.scan(self.prefix, after=after, limit=size, reverse=self.newest_first)
            wanted = page if self.until is None else [one for one in page if self._is_before(one.key, self.until)]
            if wanted:
                yield wanted
            if len(wanted) < size:
                return
            after, left = page[-1].key, None if left is None else left - size
            await clock.sleep(0)

    async def entries(self, store: Store, clock: Clock) -> AsyncIterator[StoreEntry]:
        """Yield the same, one by one."""
        async for page in self.over(store, clock):
            for entry in page:
                yield entry

    def _is_before(self, key: str, until: str) -> bool:
        return key >= until if self.newest_first else key <= until


async def gathered(pages: AsyncIterator[RecordPage[R]]) -> RecordPage[R]:
    """Return pages as one."""
    records, left_out = list[StoredRecord[R]](), list[RecordUnreadable]()
    async for page in pages:
        records += page.records
        left_out += page.unreadable
    return RecordPage(records, left_out)


async def commit(store: Store, changes: Changes) -> Committed | Conflict:
    """Commit; when the answer is lost, ask again under the id that the store gave it, which writes nothing twice.

    Raises the store's errors, and `OutcomeUnknown` when 30 s did not show what became of the commit.
    """
    try:
        return await store.commit(changes.writes, changes.checks)
    except OutcomeUnknown as lost:
        return await repeated(store, changes.writes, changes.checks, lost)


async def write(store: Store, writes: Sequence[Write]) -> None:
    """Commit without a check: nothing can conflict with that. Raises the store's errors."""
    _ = await store.commit(writes)


async def compare_and_set(attempt: Callable[[], Awaitable[T | Conflict]], busy: str) -> T:
    """Return what `attempt` returns once it has no conflict; raise `StoreUnavailable(busy)` after `ROUNDS`.

    Each attempt reads again what it decides by.
    """
    for _ in range(ROUNDS):
        outcome = await attempt()
        if not isinstance(outcome, Conflict):
            return outcome
    raise StoreUnavailable(busy)


@lru_cache(maxsize=64)  # one commit writes the same time into several keys
def sortable(time: datetime) -> str:
    """Return a time in UTC as text that sorts as times do, such as `20261121T120000.000000Z`."""
    return time.astimezone(UTC).strftime("%Y%m%dT%H%M%S.%fZ")


class _Versioned(BaseModel):
    v: int


def parse(kind: type[R], value: bytes) -> R | None:
    """Return the record in stored bytes, or None when it cannot be read."""
    try:
        return kind.from_bytes(value)
    except ValidationError:
        return None


def is_newer(kind: type[Record], value: bytes) -> bool:
    """Return whether a newer release wrote these bytes, by their `v`."""
    try:
        return _Versioned.model_validate_json(value).v > _Versioned(v=kind.model_fields["v"].default).v
    except ValidationError:
        return False


def indexed_id(index: StoreEntry) -> str:
    """Return the id that an entry of an index holds; raise `RecordUnreadable`."""
    if not _ID.fullmatch(index.value):
        raise unreadable(index.key)
    return index.value.decode("ascii")


def unreadable(key: str) -> RecordUnreadable:
    """Return the error that names a key; a digest in it represents a person, and is left out."""
    return RecordUnreadable(_DIGEST.sub("…", key))
