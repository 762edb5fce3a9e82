"""The store, as a port: one small idea that everything durable is made of.

`get`, `scan` and an atomic `commit` with checks. Put-if-absent, compare-and-set, leases, the outbox and index
keys are all commits (the design, "The store is one small idea").

A version is compared for equality only: nothing orders or scans by it, so an engine may leave gaps, and must never
give one out twice.
"""

from collections.abc import Awaitable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from orrery.errors import Invalid

MINIMUM_TTL = timedelta(seconds=60)
"""The shortest time to live that a put may carry (spec 2, Limits: minimum store TTL 60 s)."""

MAXIMUM_KEY_BYTES = 512
"""The longest key, in UTF-8 bytes, that the key-value stores behind this port allow."""

MAXIMUM_TTL = timedelta(days=36_525)
"""The longest time to live: a century, so that every expiry is a valid date."""


def encode_key(key: str) -> bytes:
    """Return `key` as the bytes that it orders by; `Invalid` when it has no UTF-8 form (a lone surrogate)."""
    try:
        return key.encode()
    except UnicodeEncodeError:
        raise Invalid("A store key must be valid Unicode text.") from None


@dataclass(frozen=True, slots=True)
class StoreEntry:
    """One stored value: `version` is the store-wide number of the commit that wrote it."""

    key: str
    value: bytes
    version: int
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Put:
    """Write `value` under `key`, for ever or for `ttl` (at least `MINIMUM_TTL`, else `Invalid`)."""

    key: str
    value: bytes
    ttl: timedelta | None = None

    def __post_init__(self) -> None:
        if not 0 < len(self.key if self.key.isascii() else encode_key(self.key)) <= MAXIMUM_KEY_BYTES:
            raise Invalid(f"A store key has 1 to {MAXIMUM_KEY_BYTES} bytes.")
        if self.ttl is not None:
            _refuse_ttl(self.ttl)


def _refuse_ttl(ttl: object) -> None:
    if not isinstance(ttl, timedelta):
        raise Invalid(f"Invalid TTL: it must be a timedelta, and no {type(ttl).__name__}.")
    if ttl < MINIMUM_TTL:
        seconds = f"{ttl.total_seconds():.6f}".rstrip("0").rstrip(".")
        raise Invalid(f"Invalid TTL of {seconds} s: it must be at least 60 s.")
    if ttl > MAXIMUM_TTL:
        raise Invalid("Invalid TTL: it must be at most 100 years; a put without a TTL is kept for ever.")


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove `key`; a missing key is no error."""

    key: str


@dataclass(frozen=True, slots=True)
class Absent:
    """A check: `key` must not exist (an expired one does not exist)."""

    key: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A check: `key` must still have `version`."""

    key: str
    version: int


Write = Put | Delete
Check = Absent | Unchanged


def refuse_invalid(writes: Sequence[Write], checks: Sequence[Check], commit_id: str | None) -> None:
    """Raise `Invalid` for a key or id that is no text, or a key written twice: their order would decide."""
    keys = [write.key for write in writes]
    if len(keys) != len(set(keys)):
        raise Invalid("A commit may write each key only once.")
    _ = encode_key("".join([*keys, *(check.key for check in checks), commit_id or ""]))


@dataclass(frozen=True, slots=True)
class Committed:
    """The commit is durable. `version` is its store-wide number: higher than any before it, never reused."""

    version: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """Nothing was written, because these keys failed their checks."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoreRisk:
    """A reason why what is stored could be lost or stopped, and what to do about it, as sentences.

    `name` is one word for what it is about, the same for as long as the reason lasts.
    """

    name: str
    why: str
    todo: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """How the storage is: `last_version` is the newest number that it gave out, 0 for a new store.

    `free` is the room that is left for it in bytes, or None where nothing limits it. `failed` counts the commits
    of this process that ended in a `StoreError`. `summary` describes a database, and what cannot be
    seen of it. `ahead` is how far this machine's clock is, for certain, before that of the storage, or below zero
    behind it: a slow answer leaves it open.
    """

    last_version: int
    free: int | None
    failed: int
    risks: tuple[StoreRisk, ...] = ()
    summary: str = ""
    ahead: timedelta = timedelta(0)


class Store(Protocol):
    """A durable, ordered map of keys to bytes. Keys order by their UTF-8 bytes."""

    def get(self, key: str) -> Awaitable[StoreEntry | None]:
        """Return the entry under `key`, or None when it is missing or has expired.

        Several calls before the first is awaited may be answered at once. The call itself may raise, too.
        """
        ...

    async def scan(
        self, prefix: str, *, after: str | None = None, limit: int = 100, reverse: bool = False
    ) -> list[StoreEntry]:
        """Return up to `limit` entries whose keys start with `prefix`, in key order (or `reverse`).

        `after` is the last key of the page before: only keys strictly beyond it are returned.
        """
        ...

    async def commit(
        self, writes: Sequence[Write], checks: Sequence[Check] = (), *, commit_id: str | None = None
    ) -> Committed | Conflict:
        """Apply all `writes` if every check holds, atomically and durably, else none.

        A `commit_id` that was already committed returns the first outcome and writes nothing; ids are
        remembered for at least a day. A key may be written once and checked as often as one likes; the keys of
        a `Conflict` come in the order of the checks.
        Raises `Invalid` (see `refuse_invalid`), `StoreUnavailable` (nothing stored) or `OutcomeUnknown`
        (repeat with the id that it names, the caller's or the store's, to learn). The collections repeat for 30 s,
        whatever the engine: also where a repeat changes nothing, as when SQLite's file was moved away.
        """
        ...

    async def scrub(self) -> bool:
        """Remove deleted and overwritten data from the storage.

        Returns False while another process still reads it. Raises `StoreUnavailable`.
        """
        ...

    async def inspect(self) -> Inspection:
        """Look at the storage, and write nothing.

        Raises `StoreUnavailable` when it is gone, was replaced or cut short, or is another program's.
        """
        ...

    async def close(self) -> None:
        """Complete the pending calls and close the storage."""
        ...


class StoredRow(NamedTuple):
    """An entry as it is stored, expired or not; `expires_at` is in microseconds since 1970."""

    key: bytes
    value: bytes
    version: int
    expires_at: int | None


class StoredCommit(NamedTuple):
    """A commit that is remembered by its id; `committed_at` is in microseconds since 1970."""

    id: bytes
    version: int
    committed_at: int


@dataclass(frozen=True, slots=True)
class StoreContents:
    """What a store holds at one moment: its rows in the order of their keys, and the newest version it gave out.

    Rows and commits are read while they are iterated, once.
    """

    rows: Iterator[StoredRow]
    commits: Iterator[StoredCommit]
    last_version: int


class StorePlace(Protocol):
    """Where one store is; it can be sent to another process. As text it names the place for the owner."""

    def create(self) -> None:
        """Make an empty store; raise `Invalid` where one is, `StoreUnavailable` where none can be made."""
        ...

    def scratch(self) -> AbstractContextManager["StorePlace"]:
        """Yield an empty store of the same engine and place, which is removed at the end of the block."""
        ...

    async def open(self) -> Store:
        """Open the store; raise `StoreMissing` without one, `StoreUnavailable` when it cannot be used."""
        ...

    def migrate(self) -> list[int]:
        """Bring the store, which may be in use, to this release's schema; return the numbers that it went through.

        Raises as `open` does. What used the store before goes on.
        """
        ...

    def closed(self) -> str | None:
        """Return why no process may open the store, None where each may; raise `StoreMissing` without one."""
        ...

    def close(self, why: str | None) -> None:
        """Keep every process from the store, durably, and give each that comes the reason; None opens it again.

        Where it is open, its next commit is refused, or it is an `Invalid` to close it. Raises as `open` does.
        """
        ...

    def set_aside(self) -> None:
        """Have a closed store no longer at the place, where the place can hold another name; raise `Invalid`."""
        ...

    def remove(self) -> None:
        """Delete a closed store with all that it holds; raise `Invalid` for one that is open."""
        ...

    def reading(self, after: bytes = b"", *, may_be_closed: bool = False) -> AbstractContextManager[StoreContents]:
        """Yield what the store holds, its rows beyond the key `after`; raise as `open` does, then and later."""
        ...

    def load(self, contents: StoreContents, *, may_be_closed: bool = False) -> None:
        """Add `contents` to a store that nothing uses, in one transaction, and count on beyond their last version.

        Raises `Invalid` while something uses it, and `StoreUnavailable`; nothing was added then.
        """
        ...

    def last_version(self, at_least: int) -> int | None:
        """Return the newest version that was given out; None unless the store is sound, and gave out `at_least`.

        Raises `StoreUnavailable` where that cannot be known now.
        """
        ...

    def replace(self, contents: StoreContents, *, read_at: int | None = None) -> None:
        """Put a store with `contents` in the place of the one that is there, if any, which is kept.

        Its versions go on beyond all that the replaced one may have given out. After an interruption there is the
        old store or the new one, and this may be repeated. Raises `Invalid` when the store is in use, or has given
        out a version since `read_at`, or one that was kept before is still there; and `StoreUnavailable`.
        """
        ...

    def remains(self) -> list[str]:
        """Name what `replace` and killed runs have left: it may hold what was erased since."""
        ...

    def beyond_scrub(self, *, is_scrubbed: bool) -> list[str]:
        """Name where erased data may still be after `Store.scrub`, which has answered `is_scrubbed`."""
        ...
