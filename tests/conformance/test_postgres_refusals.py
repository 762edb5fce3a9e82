"""Why a store in PostgreSQL cannot be used: one sentence for each reason, with what to do."""

import re
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from orrery.adapters.postgres import PostgresStore, create
from orrery.adapters.postgres.address import connection_string
from orrery.adapters.postgres.creation import make, new_schema
from orrery.errors import Invalid, OrreryError, StoreMissing, StoreUnavailable
from tests.conformance.postgres_schema import SOON, Schema
from tests.conformance.relayed import Change, relayed
from tests.support.clock import ManualClock
from tests.support.ports import nobody_listening
from tests.support.postgres import Server
from tests.support.waiting import eventually

PASSWORD = "right"  # noqa: S105  of a server that ends with the test
_ROLES = f"""
CREATE ROLE with_password LOGIN PASSWORD '{PASSWORD}';
CREATE ROLE unwanted LOGIN;
CREATE ROLE crowded LOGIN CONNECTION LIMIT 0;
CREATE ROLE on_a_standby LOGIN;
ALTER ROLE on_a_standby SET default_transaction_read_only = on;
CREATE ROLE reader LOGIN;
CREATE ROLE shut_out LOGIN;
CREATE ROLE trying LOGIN;
GRANT CREATE ON DATABASE postgres TO trying;
CREATE SCHEMA orrery_scratch_of_another;
REVOKE CONNECT ON DATABASE template1 FROM PUBLIC;
SELECT pg_reload_conf();
"""
_LOGINS = """
host all with_password 127.0.0.1/32 scram-sha-256
host all unwanted 127.0.0.1/32 reject
"""


@pytest.fixture(scope="module")
def server(postgres: Server) -> Server:
    """Return a server with roles that it refuses."""
    logins = postgres.folder / "pg_hba.conf"
    logins.write_text(_LOGINS + logins.read_text())
    with postgres.connected() as connection:
        connection.execute(_ROLES.encode())
    return postgres


REFUSED = {
    "user=stranger": "refused the login: see the user in the address, and the secret `store_password`",
    "user=with_password": "wants a password: store it as the secret `store_password`",
    "user=with_password password=wrong": "refused the login: see the user in the address",
    "user=unwanted": "admits no such login from this machine: add a line to its pg_hba.conf",
    "user=crowded": "has no room for another connection",
    "user=on_a_standby": "is only a standby: see that its primary runs",
    "user=shut_out dbname=template1": "refused the connection: permission denied for database",
    "dbname=elsewhere": "is not there: make it with `createdb`",
    "host=nowhere.invalid": "is at a host whose name is not known: correct the address",
    "sslmode=verify-full sslrootcert=system": "offers no TLS: set `ssl = on`",
}


@pytest.mark.parametrize("given", REFUSED)
async def test_a_server_that_refuses_the_connection(server: Server, clock: ManualClock, given: str) -> None:
    """The reason, without the client library's text."""
    with refused(REFUSED[given]):
        await PostgresStore.open(f"{server.address()} {given}", clock)


async def test_where_nothing_listens(clock: ManualClock) -> None:
    """The server is down, or elsewhere."""
    with nobody_listening() as port, refused("does not listen at the address: start it, or correct the address"):
        await PostgresStore.open(f"host=127.0.0.1 port={port} user=orrery dbname=postgres", clock)


def later_number(sent: bytes) -> bytes:
    """Give the server's process another number, as a pooler does: it follows `K` and the length of the message."""
    return re.sub(rb"(?s)(K\x00\x00\x00\x0c)....", rb"\g<1>" + (1).to_bytes(4), sent)


def older_server(sent: bytes) -> bytes:
    """Have the server report an older version."""
    return re.sub(rb"(server_version\x00)\d\d", rb"\g<1>12", sent)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (later_number, "leads to a connection pooler: give the server's own address"),
        (older_server, "is PostgreSQL 12: Orrery needs 13 or newer"),
    ],
)
async def test_a_server_that_cannot_be_used(schema: Schema, clock: ManualClock, change: Change, why: str) -> None:
    """What is between, or too old, is refused before anything is read."""
    async with relayed(schema.server.port, downward=change) as port:
        with refused(why):
            await PostgresStore.open(schema.address.replace(str(schema.server.port), str(port)), clock, limit=SOON)


@pytest.mark.usefixtures("server")
async def test_a_user_that_may_only_read(schema: Schema, clock: ManualClock) -> None:
    """It is refused when the store is opened."""
    schema.change(f"GRANT USAGE ON SCHEMA {schema.name} TO reader")
    schema.change("GRANT SELECT ON orrery_store, orrery_entries, orrery_commits TO reader")
    with refused("may not write the store's tables"):
        await PostgresStore.open(f"{schema.address} user=reader", clock)


async def test_a_database_without_a_store(server: Server, clock: ManualClock) -> None:
    """It is not made one by being opened."""
    with refused("make one with `orrery store create`", StoreMissing):
        await PostgresStore.open(server.address(server.new_schema()), clock)


async def test_a_database_of_another_program(server: Server, clock: ManualClock) -> None:
    """Its tables are left alone, whatever their names."""
    address = server.address(server.new_schema())
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE orrery_store (other int)")
    with refused("has tables that are not this release's store"):
        await PostgresStore.open(address, clock)
    with refused("There is a store in this database already", Invalid):
        create(address)
    with psycopg.connect(address) as connection:
        connection.execute("ALTER TABLE orrery_store RENAME TO other")
    with refused("has tables of another program: give Orrery an empty one", Invalid):
        create(address)


def test_a_store_that_is_made_meanwhile(server: Server) -> None:
    """One of two that make a store, or restore one, in an empty database makes it; the other hears of that."""
    address = server.address(server.new_schema())
    with ThreadPoolExecutor() as pool, psycopg.connect(address) as first:
        make(first)
        second = pool.submit(create, address)
        eventually(lambda: expect_one_that_waits(server))
        first.commit()
        with refused("There is a store in this database already", Invalid):
            second.result()


@pytest.mark.usefixtures("server")
def test_a_user_that_may_not_make_tables(postgres: Server) -> None:
    """The command that allows it is in the sentence."""
    with refused("type `GRANT CREATE ON SCHEMA public TO USER;`, or name a user who may"):
        create(f"{postgres.address()} user=reader")


@pytest.mark.usefixtures("server")
def test_a_trial_beside_what_another_user_left(postgres: Server) -> None:
    """That is not this user's to drop, and in nobody's way."""
    with new_schema(f"{postgres.address()} user=trying") as address:
        create(address)


def expect_one_that_waits(server: Server) -> None:
    """Fail unless a connection waits for another."""
    with server.connected() as connection:
        assert connection.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone() == (1,)


@contextmanager
def refused(why: str, kind: type[OrreryError] = StoreUnavailable) -> Generator[None]:
    """Expect one sentence of ours, with these words."""
    with pytest.raises(kind) as error:
        yield
    assert why in str(error.value)
    assert not re.search(r"\n|FATAL|connection to server", str(error.value))
    assert str(error.value).endswith(".")


ELSEWHERE = {
    "host": "far.invalid",
    "hostaddr": "127.0.0.2",
    "port": "1",
    "user": "far",
    "options": "-csearch_path=far",
    "sslmode": "verify-full",
}


async def test_the_environment_leads_nowhere_else(
    server: Server, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither the client library's variables do, nor the service that one of them names."""
    with server.connected() as connection:
        connection.execute("CREATE DATABASE apart")
    services = tmp_path / "services"
    services.write_text("\n".join(["[far]", "dbname=far", *(f"{key}={one}" for key, one in ELSEWHERE.items())]))
    for key, value in {**ELSEWHERE, "database": "far", "servicefile": str(services), "service": "far"}.items():
        monkeypatch.setenv(f"PG{key.upper()}", value)
    address = connection_string(f"postgresql://orrery@127.0.0.1:{server.port}/apart", None, None)
    create(address)
    store = await PostgresStore.open(address, clock)
    await store.close()
    monkeypatch.setenv("PGSERVICE", "unknown")
    with refused("because `PGSERVICE` is set and names nothing: unset it"):
        await PostgresStore.open(address, clock)
