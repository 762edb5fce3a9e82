"""Every store adapter against a model: a plain dict, with expiry, re-creation and lost answers."""

import asyncio
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, Literal, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, RuleBasedStateMachine, invariant, multiple, rule

from orrery.errors import OutcomeUnknown
from orrery.ports.store import Absent, Check, Committed, Conflict, Delete, Put, Store, Unchanged, Write
from tests.support.clock import ManualClock
from tests.support.postgres import Server, in_new_schema
from tests.support.soak import rounds
from tests.support.stores import opened
from tests.support.unreliable_store import UnreliableStore

EXAMPLES = rounds(25)
KEYS = st.sampled_from(["a", "a:", "a:1", "a:\uffff", "a:🦄", "b", "b\x00", "\U0010ffff"])
PREFIXES = st.sampled_from(["", "a", "a:", "b", "\U0010ffff", "zz"])
TTLS = st.sampled_from([None, timedelta(seconds=60), timedelta(seconds=90)])
WRITES = st.lists(
    st.one_of(st.builds(Put, KEYS, st.binary(max_size=4), TTLS), st.builds(Delete, KEYS)),
    max_size=4,
    unique_by=lambda write: write.key,
)
NO_VERSION: MultipleResults[int] = multiple()
T = TypeVar("T")


@dataclass(frozen=True)
class Known:
    """What the model holds under one key."""

    value: bytes
    version: int
    expires_at: datetime | None


@dataclass(frozen=True)
class Attempt:
    """A commit as a caller hands it in."""

    writes: tuple[Write, ...]
    checks: tuple[Check, ...]
    commit_id: str


class StoreMachine(RuleBasedStateMachine):
    """Random commits, waits, crashes of the line and reads; after each step the store equals the dict."""

    attempts = Bundle[Attempt]("attempts")
    versions = Bundle[int]("versions")

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.model: dict[str, Known] = {}
        self.outcomes: dict[str, Committed] = {}
        self.last = 0
        self.runner = asyncio.Runner()
        self.directory = TemporaryDirectory()
        self.resources = AsyncExitStack()
        self.store = UnreliableStore(
            self.run(self.resources.enter_async_context(self.opened(Path(self.directory.name))))
        )

    def opened(self, directory: Path) -> AbstractAsyncContextManager[Store]:
        """Return an empty store of the adapter."""
        raise NotImplementedError

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Run `work` on the machine's event loop."""
        return self.runner.run(work)

    def teardown(self) -> None:
        """Close everything."""
        self.run(self.resources.aclose())
        self.runner.close()
        self.directory.cleanup()

    @rule(target=versions)
    def remember_no_version(self) -> int:
        """A version that nothing has."""
        return 0

    @rule(
        target=attempts,
        writes=WRITES,
        absent=st.lists(KEYS, max_size=2),
        unchanged=st.lists(st.tuples(KEYS, versions), max_size=2),
        current=st.lists(KEYS, max_size=2),
        number=st.integers(0, 1_000_000),
    )
    def prepare(
        self,
        writes: list[Write],
        absent: list[str],
        unchanged: list[tuple[str, int]],
        current: list[str],
        number: int,
    ) -> Attempt:
        """A caller makes up a commit: old versions, current ones and absences among its checks."""
        checks: list[Check] = [Absent(key) for key in absent]
        checks += [Unchanged(key, version) for key, version in unchanged]
        checks += [Unchanged(key, known.version) for key in current if (known := self.alive().get(key))]
        return Attempt(tuple(writes), tuple(checks), f"id-{number}-{len(self.outcomes)}")

    @rule(target=versions, attempt=attempts)
    def commit(self, attempt: Attempt) -> int | MultipleResults[int]:
        """Hand in a commit, perhaps one that was handed in before."""
        outcome = self.run(self.store.commit(attempt.writes, attempt.checks, commit_id=attempt.commit_id))
        return self.expect(attempt, outcome)

    @rule(target=versions, attempt=attempts, lose=st.sampled_from(["before", "after"]))
    def commit_with_a_lost_answer(
        self, attempt: Attempt, lose: Literal["before", "after"]
    ) -> int | MultipleResults[int]:
        """Lose the answer, and learn it by repeating the commit with its id."""
        self.store.lose = lose
        with pytest.raises(OutcomeUnknown) as lost:
            self.run(self.store.commit(attempt.writes, attempt.checks, commit_id=attempt.commit_id))
        repeated = self.store.commit(attempt.writes, attempt.checks, commit_id=lost.value.commit_id)
        return self.expect(attempt, self.run(repeated))

    @rule(seconds=st.sampled_from([1, 29, 30, 59, 60]))
    def wait(self, seconds: float) -> None:
        """Let time pass; ids of these commits are remembered far longer."""
        self.clock.advance(seconds)

    @rule(prefix=PREFIXES, after=st.none() | KEYS, limit=st.integers(0, 4), reverse=st.booleans())
    def scan(self, prefix: str, after: str | None, limit: int, reverse: bool) -> None:  # noqa: FBT001  drawn by hypothesis
        """A page is what a sorted dict would give."""
        keys = sorted((key for key in self.alive() if key.startswith(prefix)), key=str.encode, reverse=reverse)
        if after is not None:
            edge = after.encode()
            keys = [key for key in keys if (key.encode() < edge if reverse else key.encode() > edge)]
        page = self.run(self.store.scan(prefix, after=after, limit=limit, reverse=reverse))
        assert [entry.key for entry in page] == keys[:limit]

    @invariant()
    def equals_the_model(self) -> None:
        """Everything alive is there, with value, version and expiry, and nothing else is."""
        entries = self.run(self.store.scan(""))
        found = {entry.key: Known(entry.value, entry.version, entry.expires_at) for entry in entries}
        assert found == self.alive()

    def alive(self) -> dict[str, Known]:
        """Return what the model holds now."""
        now = self.clock.now()
        return {key: known for key, known in self.model.items() if not known.expires_at or known.expires_at > now}

    def expect(self, attempt: Attempt, outcome: Committed | Conflict) -> int | MultipleResults[int]:
        """Compare `outcome` with the model's, and bring the model up to date."""
        if attempt.commit_id in self.outcomes:
            assert outcome == self.outcomes[attempt.commit_id]
            return NO_VERSION
        failed = [check.key for check in attempt.checks if not self.holds(check)]
        if failed:
            assert outcome == Conflict(tuple(dict.fromkeys(failed)))
            return NO_VERSION
        assert isinstance(outcome, Committed)
        assert outcome.version > self.last
        self.apply(attempt, outcome)
        return outcome.version

    def holds(self, check: Check) -> bool:
        """Tell whether `check` holds in the model."""
        known = self.alive().get(check.key)
        return known is None if isinstance(check, Absent) else known is not None and known.version == check.version

    def apply(self, attempt: Attempt, outcome: Committed) -> None:
        """Do the writes in the model."""
        self.last = outcome.version
        self.outcomes[attempt.commit_id] = outcome
        for write in attempt.writes:
            if isinstance(write, Delete):
                self.model.pop(write.key, None)
            else:
                expires_at = None if write.ttl is None else self.clock.now() + write.ttl
                self.model[write.key] = Known(write.value, outcome.version, expires_at)


class MemoryMachine(StoreMachine):
    """The model against the memory adapter."""

    def opened(self, directory: Path) -> AbstractAsyncContextManager[Store]:
        """Return one in memory."""
        return opened("memory", directory, self.clock)


class SqliteMachine(StoreMachine):
    """The model against the SQLite adapter."""

    def opened(self, directory: Path) -> AbstractAsyncContextManager[Store]:
        """Return one in a file."""
        return opened("sqlite", directory, self.clock)


class PostgresMachine(StoreMachine):
    """The model against the PostgreSQL adapter."""

    server: ClassVar[Server]

    def opened(self, directory: Path) -> AbstractAsyncContextManager[Store]:  # noqa: ARG002  it needs none
        """Return one in a schema of its own."""
        return in_new_schema(self.server, self.clock)


SETTINGS = settings(max_examples=EXAMPLES, stateful_step_count=40)
TestMemory = MemoryMachine.TestCase
TestMemory.settings = SETTINGS
TestSqlite = SqliteMachine.TestCase
TestSqlite.settings = SETTINGS


class TestPostgres(PostgresMachine.TestCase):  # pyright: ignore[reportGeneralTypeIssues]  hypothesis makes the class
    """The cases of the model with a server."""

    settings = SETTINGS

    @pytest.fixture(autouse=True)
    def with_server(self, postgres: Server) -> None:
        """Give the machine the server."""
        PostgresMachine.server = postgres
