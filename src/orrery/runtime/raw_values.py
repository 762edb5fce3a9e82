"""Values that are no records: bodies as they came, marks and keys."""

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta

from orrery.ports.store import Absent, Put, Store, StoreEntry
from orrery.runtime.collection import Changes
from orrery.runtime.own_store import require_declared


@dataclass(frozen=True, slots=True)
class RawValues:
    """Bytes, each stored under `prefix` and its id, and kept for `life`, or `FOR_EVER`."""

    store: Store
    prefix: str
    life: timedelta | None

    def __post_init__(self) -> None:
        require_declared(self.store, self.prefix)

    def key(self, value_id: str) -> str:
        """Return where a value is stored."""
        return f"{self.prefix}{value_id}"

    def get(self, value_id: str) -> Awaitable[StoreEntry | None]:
        """Return a value with its version, or None when it is missing."""
        return self.store.get(self.key(value_id))

    def put(self, value_id: str, value: bytes) -> Put:
        """Return the write of a value over whatever is there."""
        return Put(self.key(value_id), value, self.life)

    def added(self, value_id: str, value: bytes) -> Changes:
        """Return what adds a value; the commit conflicts when there is one."""
        return Changes([self.put(value_id, value)], [Absent(self.key(value_id))])
