"""What every stand-in shares: the documents, the clock, the faults, and the service beside it."""

import asyncio
import copy
import json
import sqlite3
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from starlette.routing import BaseRoute

from orrery.ports.clock import Clock
from orrery.sandbox.faults import Faults

Document = dict[str, Any]
"""A vendor's JSON object. `object` names its kind and `id` is unique within the kind.

Kinds that start with an underscore are the sandbox's own and never leave it as vendor objects.
"""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  object TEXT NOT NULL,
  id TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (object, id)
)
"""
_UPSERT = """
INSERT INTO documents (object, id, body) VALUES (?, ?, ?)
ON CONFLICT (object, id) DO UPDATE SET body = excluded.body
"""


class DocumentStore:
    """Every document of the sandbox, for use by one thread at a time."""

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.chmod(0o600)  # an earlier release left it readable to all: it holds what buyers entered
        self._database = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
        _ = self._database.execute("PRAGMA journal_mode=WAL")
        _ = self._database.execute("PRAGMA synchronous=NORMAL")
        _ = self._database.execute(_SCHEMA)
        self._kinds: dict[str, dict[str, Document]] = {}
        for (body,) in self._database.execute("SELECT body FROM documents ORDER BY seq"):
            self._remember(json.loads(body))

    def get(self, kind: str, key: str) -> Document | None:
        """Return a copy of one document, or None."""
        return copy.deepcopy(self._kinds.get(kind, {}).get(key))

    def newest_first(self, kind: str) -> Iterator[Document]:
        """Yield the documents of a kind, newest first. They are not copies: read, never change them."""
        documents = list(self._kinds.get(kind, {}).values())
        return reversed(documents)

    def save(self, *documents: Document) -> None:
        """Write all documents, new or changed, in one transaction."""
        _ = self._database.execute("BEGIN IMMEDIATE")
        rows = [(document["object"], document["id"], json.dumps(document)) for document in documents]
        _ = self._database.executemany(_UPSERT, rows)
        _ = self._database.execute("COMMIT")
        for document in documents:
            self._remember(copy.deepcopy(document))

    def remove(self, kind: str, key: str) -> None:
        """Delete one document; a missing one is no error."""
        _ = self._database.execute("DELETE FROM documents WHERE object = ? AND id = ?", (kind, key))
        _ = self._kinds.get(kind, {}).pop(key, None)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _remember(self, document: Document) -> None:
        self._kinds.setdefault(document["object"], {})[document["id"]] = document


TIMEOUT = 10.0
"""Real seconds that the service has to answer."""

PING_TOKEN = "gateway_ping_token"  # noqa: S105  the name of a secret


@dataclass(frozen=True, slots=True)
class Service:
    """The service beside the sandbox: its public address, and secrets that stand-ins show it."""

    url: str
    secrets: Mapping[str, str] = field(repr=False)

    async def take(self, client: httpx2.AsyncClient, given: Document) -> str:
        """Send a ping or a report; return the status of the answer, or the name of what went wrong."""
        headers = {"Authorization": f"Bearer {self.secrets.get(PING_TOKEN, '')}"}
        try:
            answer = await client.post(f"{self.url}/ping", json=given, headers=headers)
        except Exception as error:  # noqa: BLE001  whatever broke, the next one comes
            return type(error).__name__
        return str(answer.status_code)


def is_taken(outcome: str) -> bool:
    """Return whether an outcome is the status of an answer that accepts what was sent."""
    return outcome.startswith("2")


class MachineSwitch:
    """Whether the gateway's machine runs, for the stand-ins that are on it."""

    def __init__(self) -> None:
        self.running = True
        self.on_change: list[Callable[[], None]] = []
        self.on_answer: list[Callable[[], None]] = []

    def turn(self, *, on: bool) -> None:
        """Start or stop what is on the machine."""
        if on != self.running:
            self.running = on
            for follow in self.on_change:
                follow()

    def answered(self) -> None:
        """Report that the service has taken the first ping since the machine runs."""
        for follow in self.on_answer:
            follow()


@dataclass(frozen=True, slots=True)
class SandboxGround:
    """The state and the clock that all stand-ins share, the faults that a test asks for, and the address.

    `service` is None where the sandbox is alone. What a stand-in does by itself it adds to `background`: the
    sandbox runs that until it ends.
    """

    state: DocumentStore
    clock: Clock
    faults: Faults
    base_url: str
    service: Service | None = None
    machine: MachineSwitch = field(default_factory=MachineSwitch)
    background: list[Callable[[], Coroutine[None, None, None]]] = field(
        default_factory=list[Callable[[], Coroutine[None, None, None]]]
    )


async def rest(clock: Clock, seconds: float, wake: asyncio.Event) -> None:
    """Return after some seconds of the clock, or once woken."""
    woken, rested = asyncio.ensure_future(wake.wait()), asyncio.ensure_future(clock.sleep(seconds))
    try:
        _ = await asyncio.wait({woken, rested}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        _ = woken.cancel()
        _ = rested.cancel()


StandIn = Callable[[SandboxGround], Sequence[BaseRoute]]
"""Returns the routes of one vendor."""
