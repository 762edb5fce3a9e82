"""A look into the store's file from outside, while the service runs or after it."""

import asyncio
import json
from pathlib import Path
from typing import Any

from orrery.adapters.movable_clock import MovableClock
from orrery.adapters.sqlite import SqliteStore
from orrery.ports.store import Put
from tests.support.stores import entries


class Records:
    """Reads (and for a test of damage, writes) what lies in a store."""

    def __init__(self, path: Path, clock: Path) -> None:
        self._path = path
        self._clock = clock

    def scan(self, prefix: str = "") -> dict[str, bytes]:
        """Return every entry whose key begins with `prefix`."""
        return asyncio.run(self._scan(prefix))

    def keys(self, prefix: str = "") -> set[str]:
        """Return every key that begins with `prefix`."""
        return set(self.scan(prefix))

    def objects(self, prefix: str) -> list[dict[str, Any]]:
        """Return the JSON objects under keys that begin with `prefix`."""
        return [json.loads(value) for value in self.scan(prefix).values()]

    def access(self, session_id: str) -> dict[str, Any] | None:
        """Return the access record of one session."""
        return next((one for one in self.objects("access:") if one["session_id"] == session_id), None)

    def notifications(self, state: str) -> list[str]:
        """Return the ids of the notifications in a state."""
        return [one["id"] for one in self.objects("outbox:") if one["state"] == state]

    def write(self, key: str, value: bytes) -> None:
        """Put a value there behind the service's back."""
        asyncio.run(self._write(key, value))

    async def _scan(self, prefix: str) -> dict[str, bytes]:
        return {one.key: one.value async for one in entries(self._path, MovableClock(self._clock), prefix)}

    async def _write(self, key: str, value: bytes) -> None:
        store = await SqliteStore.open(self._path, MovableClock(self._clock))
        try:
            await store.commit([Put(key, value)])
        finally:
            await store.close()
