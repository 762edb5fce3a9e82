"""What `doctor` reports of a database, provoked on real servers and ended again."""

import asyncio
import shutil
import subprocess
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

import psycopg
import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.postgres import PostgresStore, create
from orrery.adapters.postgres.connection import LIMIT
from orrery.adapters.postgres.place import PostgresDatabase
from orrery.adapters.postgres.risks import Setup, risks, summary
from orrery.adapters.postgres.statements import INSPECT
from orrery.errors import StoreUnavailable
from orrery.ports.store import Inspection, StorePlace
from tests.support.ports import free_ports
from tests.support.postgres import USER, Server, a_pair, skip_without_postgres
from tests.support.waiting import PATIENCE, eventually


@dataclass
class Shop:
    """A store on a pair of servers without a fault; `look` says what is reported of it."""

    standby: Server
    port: int
    address: str

    def look(self, limit: timedelta = LIMIT) -> Inspection:
        """Open the store and inspect it."""

        async def look() -> Inspection:
            store = await PostgresStore.open(self.address, SystemClock(), limit=limit)
            try:
                return await store.inspect()
            finally:
                await store.close()

        return asyncio.run(look())

    def setup(self) -> Setup:
        """Return what the server says, of which no time has to pass."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            row = connection.execute(INSPECT).fetchone()
        assert row
        return Setup(*row[1:])

    def require(self, *names: str) -> None:
        """Fail unless just these risks are reported, and a standby is there where one is waited for."""
        setup = self.setup()
        assert setup.standbys == setup.awaited_standbys
        assert [one.name for one in risks(setup, setup.now)] == [*names]


@pytest.fixture(scope="module")
def shop() -> Generator[Shop]:
    """Yield a store whose servers do all that a sale needs."""
    skip_without_postgres()
    with a_pair() as (primary, standby):
        address = primary.address(primary.new_schema())
        create(address)
        carry_out(address, setting("fsync", "on"))
        yield Shop(standby, primary.port, address)


def carry_out(address: str, statements: Iterable[str]) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            _ = connection.execute(statement.encode())


def setting(name: str, value: str) -> list[str]:
    return [f"ALTER SYSTEM SET {name} = '{value}'", "SELECT pg_reload_conf()"]


SOON = timedelta(seconds=1)
"""For a database that does not answer: the usual limit would be waited for."""

POOLER = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin")

LOG = "SELECT count(pg_logical_emit_message(false, 'x', repeat('x', 1048576))) FROM generate_series(1, 66)"
"""Writes more log than may be behind."""

ROWS = """
INSERT INTO orrery_entries (key, value, version)
SELECT convert_to(n::text, 'UTF8'), ''::bytea, n FROM generate_series(1, 10001) AS n
"""

PROVOKED = {
    "flush": ("primary", setting("fsync", "off"), setting("fsync", "on")),
    "standby": (
        "primary",
        setting("synchronous_standby_names", ""),
        setting("synchronous_standby_names", "b"),
    ),
    "replication": ("standby", ["SELECT pg_wal_replay_pause()"], ["SELECT pg_wal_replay_resume()"]),
    "slot": (
        "primary",
        ["SELECT pg_create_physical_replication_slot('old', true)"],
        ["SELECT pg_drop_replication_slot('old')"],
    ),
    "vacuum": ("primary", setting("autovacuum", "off"), setting("autovacuum", "on")),
}


@pytest.mark.parametrize("name", PROVOKED)
def test_each_risk_comes_and_goes(shop: Shop, name: str) -> None:
    """It alone is reported while it lasts."""
    where, begin, end = PROVOKED[name]
    server = shop.address if where == "primary" else shop.standby.address()
    eventually(shop.require)
    carry_out(server, begin)
    try:
        if name in {"replication", "slot"}:
            carry_out(shop.address, [LOG])
        eventually(lambda: shop.require(name))
    finally:
        carry_out(server, end)
    eventually(shop.require)


async def test_a_standby_that_is_missing_stops_the_store(shop: Shop) -> None:
    """Whether the store was open before or not, the reason is the standby, and an asynchronous one is none."""
    store = await PostgresStore.open(shop.address, SystemClock())
    try:
        for missing in ("c", "b"):
            await asyncio.to_thread(carry_out, shop.address, setting("synchronous_standby_names", missing))
            if missing == "b":
                await asyncio.to_thread(shop.standby.kill)
            await refused_at_last(store)
            for use in (lambda: shop.look(SOON), lambda: create(shop.address)):
                with pytest.raises(StoreUnavailable, match="waits for a standby, and none"):
                    await asyncio.to_thread(use)
    finally:
        await asyncio.to_thread(carry_out, shop.address, setting("synchronous_standby_names", "b"))
        await asyncio.to_thread(shop.standby.start)
    await asyncio.to_thread(eventually, shop.require)
    assert (await store.inspect()).risks == ()
    await store.close()


async def refused_at_last(store: PostgresStore) -> None:
    """Inspect the store until that is refused."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await store.inspect()
            except StoreUnavailable as error:
                assert "waits for a standby, and none" in str(error)  # noqa: PT017  whatever other error there is
                return


def test_dead_rows(shop: Shop) -> None:
    """They are reported until vacuum has removed them."""
    carry_out(
        shop.address,
        ["ALTER TABLE orrery_entries SET (autovacuum_enabled = off)", ROWS, "DELETE FROM orrery_entries"],
    )
    eventually(lambda: shop.require("vacuum"))
    carry_out(shop.address, ["VACUUM orrery_entries"])
    eventually(shop.require)


def test_a_forgotten_transaction(shop: Shop) -> None:
    """Its age is seen from its first statement to its end; the look itself is none."""
    with psycopg.connect(shop.address) as connection:
        connection.execute("SELECT pg_current_xact_id()")
        before = shop.setup().oldest_transaction
        assert shop.setup().oldest_transaction > before > 0
    eventually(lambda: require_none_open(shop))


def require_none_open(shop: Shop) -> None:
    assert shop.setup().oldest_transaction == 0


def test_what_a_plain_user_sees(shop: Shop) -> None:
    """It sees whether a standby is connected, and not how far; one GRANT shows that."""
    schema = shop.address.rpartition("=")[2].strip("'")
    everything = [f"GRANT ALL ON SCHEMA {schema} TO plain"]
    everything += [f"GRANT ALL ON ALL {kind} IN SCHEMA {schema} TO plain" for kind in ("TABLES", "SEQUENCES")]
    carry_out(shop.address, ["CREATE ROLE plain LOGIN", *everything])
    plain = replace(shop, address=shop.address.replace("user=orrery", "user=plain"))
    assert plain.look() == replace(shop.look(), summary=summary(replace(plain.setup(), sees_all=False)))
    carry_out(shop.address, ["GRANT pg_read_all_stats TO plain"])
    assert plain.look() == shop.look()


def test_a_scratch_store_wants_a_user_who_may_make_it(shop: Shop) -> None:
    """One who may not is refused with what to type; nothing stays of the scratch store of one who may."""
    carry_out(shop.address, ["CREATE ROLE reader LOGIN"])
    place = PostgresDatabase(shop.address.replace("user=orrery", "user=reader"), SystemClock())
    with pytest.raises(StoreUnavailable, match="GRANT CREATE ON DATABASE"), place.scratch():
        pass
    carry_out(shop.address, ["GRANT CREATE ON DATABASE postgres TO reader"])
    with place.scratch() as scratch:
        asyncio.run(opened_and_closed(scratch))
    with psycopg.connect(shop.address) as connection:
        assert connection.execute("SELECT FROM pg_namespace WHERE nspname LIKE 'orrery_scratch%'").rowcount == 0


async def opened_and_closed(place: StorePlace) -> None:
    await (await place.open()).close()


def test_a_pooler_is_refused(shop: Shop) -> None:
    """A store is neither made nor opened through it: its connections are not the server's."""
    if not POOLER:
        pytest.skip("no pooler on this machine; to have it, type: sudo apt-get install -y pgbouncer")
    port, folder = free_ports(1)[0], shop.standby.folder.parent
    settings = folder / "pooler.ini"
    settings.write_text(
        f"[databases]\npostgres = host=127.0.0.1 port={shop.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
        f"listen_port = {port}\nauth_type = trust\nauth_file = {folder}/users\nunix_socket_dir =\n"
    )
    (folder / "users").write_text('"orrery" ""')
    pooler = subprocess.Popen([POOLER, "-q", str(settings)], user=USER, stderr=subprocess.DEVNULL)  # noqa: S603  the distribution's
    address = f"host=127.0.0.1 port={port} user=orrery dbname=postgres"
    try:
        eventually(lambda: expect_a_pooler(lambda: create(address)))
        create(address.replace(str(port), str(shop.port)))
        expect_a_pooler(lambda: replace(shop, address=address).look())
    finally:
        pooler.kill()
        pooler.wait()


def expect_a_pooler(use: Callable[[], object]) -> None:
    with pytest.raises(StoreUnavailable) as refused:
        use()
    assert "connection pooler" in str(refused.value)


@pytest.mark.parametrize("names", ["ANY 2 (b, c)", "FIRST 2 (b, c)", "2 (b, c)"])
def test_fewer_standbys_than_are_waited_for(shop: Shop, names: str) -> None:
    """Every sale waits then, though one is connected."""
    carry_out(shop.address, setting("synchronous_standby_names", names))
    try:
        eventually(lambda: expect_awaited(shop, 2))
        with pytest.raises(StoreUnavailable, match="waits for 2 standbys, and 1 that it waits for is connected"):
            shop.look(timedelta(seconds=1))
    finally:
        carry_out(shop.address, setting("synchronous_standby_names", "b"))
        eventually(lambda: expect_awaited(shop, 1))


def expect_awaited(shop: Shop, count: int) -> None:
    """Fail unless each commit waits for so many standbys."""
    assert shop.setup().awaited_standbys == count
