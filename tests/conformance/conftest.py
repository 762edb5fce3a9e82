"""Stores for the conformance suites: one of each adapter, empty, with a clock that the test moves."""

from collections.abc import AsyncGenerator, Generator
from itertools import count
from pathlib import Path

import pytest

from orrery.adapters.postgres import create
from orrery.adapters.postgres.place import PostgresDatabase
from orrery.adapters.sqlite.place import SqliteFile
from orrery.ports.store import Store, StorePlace
from tests.conformance.postgres_schema import Schema
from tests.support.clock import ManualClock
from tests.support.dovecot import Dovecot, running_dovecot, skip_without_dovecot
from tests.support.postgres import Server, in_new_schema, running_postgres, skip_without_postgres
from tests.support.stores import ADAPTERS, Places, opened


@pytest.fixture
def clock() -> ManualClock:
    """Return a clock that the test moves."""
    return ManualClock()


@pytest.fixture(params=[*ADAPTERS, "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> AsyncGenerator[Store]:
    """Yield an empty store of each adapter."""
    if request.param == "postgres":
        server: Server = request.getfixturevalue("postgres")
        async with in_new_schema(server, clock) as store:
            yield store
    else:
        async with opened(request.param, tmp_path, clock) as store:
            yield store


@pytest.fixture(scope="session")
def postgres() -> Generator[Server]:
    """Return a running PostgreSQL; each test has a schema of its own."""
    skip_without_postgres()
    with running_postgres() as server:
        yield server


@pytest.fixture
def schema(postgres: Server) -> Schema:
    """Return a schema with an empty store."""
    schema = Schema(postgres, postgres.new_schema())
    create(schema.address)
    return schema


@pytest.fixture
def places(tmp_path: Path, clock: ManualClock, request: pytest.FixtureRequest) -> Places:
    """Return what gives a new place of an engine; each database has a schema of its own, and another name."""
    numbers = count()

    def new(engine: str) -> StorePlace:
        if engine == "sqlite":
            return SqliteFile(tmp_path / f"{next(numbers)}.db", clock)
        server: Server = request.getfixturevalue("postgres")
        host = ("127.0.0.1", "localhost")[next(numbers) % 2]
        address = server.address(server.new_schema()).replace("host=127.0.0.1", f"host={host}")
        return PostgresDatabase(address, clock)

    return new


@pytest.fixture(scope="session")
def dovecot() -> Generator[Dovecot]:
    """Return a running dovecot; each test has accounts of its own."""
    skip_without_dovecot()
    with running_dovecot() as dovecot:
        yield dovecot
