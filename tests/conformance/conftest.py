"""Stores for the conformance suites: one of each adapter, empty, with a clock that the test moves."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from orrery.adapters.postgres import create
from orrery.ports.store import Store
from tests.support.clock import ManualClock
from tests.support.dovecot import Dovecot, running_dovecot, skip_without_dovecot
from tests.support.postgres import Server, in_new_schema, running_postgres, skip_without_postgres
from tests.support.postgres_schema import Schema
from tests.support.stores import ADAPTERS, opened


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


@pytest.fixture(scope="session")
def dovecot() -> Generator[Dovecot]:
    """Return a running dovecot; each test has accounts of its own."""
    skip_without_dovecot()
    with running_dovecot() as dovecot:
        yield dovecot
