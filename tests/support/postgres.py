"""PostgreSQL servers of a test: the distribution's, on free ports, with standbys, stopped and promoted by hand."""

import asyncio
import os
import pwd
import select
import shutil
import signal
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from orrery.adapters.postgres import PostgresStore, create
from orrery.ports.clock import Clock
from tests.support.ports import free_ports
from tests.support.waiting import PATIENCE, eventually, until

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda one: float(one.parent.name))
_IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}  # noqa: TID251  a fact about the test run
_SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
synchronous_commit = on
wal_level = replica
wal_retrieve_retry_interval = 200ms
wal_keep_size = 256MB
statement_timeout = 150s
dynamic_shared_memory_type = mmap
logging_collector = off
{more}
"""
"""A standby that falls behind on a busy machine finds the log that it lacks: else every later commit waits for it
for ever. No statement waits longer than a test does.
"""

_SETTLED = "SELECT pid FROM pg_stat_activity WHERE pid = %s AND (state = 'idle' OR wait_event = 'SyncRep')"
_THERE = "SELECT FROM pg_stat_activity WHERE pid = %s"
_END_WAITING = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND wait_event = 'SyncRep'"

MEMORY = 6
"""Which line of a server's `postmaster.pid` has the key and the number of its shared memory."""

_names = count()
_kept: list[ExitStack] = []

USER, _GROUP = (pwd.getpwnam("nobody")[2:4]) if os.geteuid() == 0 else (None, None)
"""PostgreSQL refuses to be run by root."""


def skip_without_postgres() -> None:
    """Skip the test on a machine without the server, but never in continuous integration."""
    if not PROGRAMS and not _IN_CI:
        pytest.skip("no PostgreSQL on this machine; to have it, type: sudo apt-get install -y postgresql")


@dataclass(frozen=True)
class Setup:
    """The settings of servers, and the size of a segment of their log in MB."""

    settings: str
    segment: int


# A server is killed here, and never its machine, so nothing is lost without fsync.
_QUICK = Setup("fsync = off\nmax_connections = 60\nshared_buffers = 16MB", segment=1)


@dataclass
class Server:
    """One instance; `folder` holds its data."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers."""
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603  the distribution's
                [str(PROGRAMS[-1] / "postgres"), "-D", str(self.folder)],
                stdout=log,
                stderr=log,
                user=USER,
                group=_GROUP,
                cwd="/",
            )
        eventually(self._require_up)

    def kill(self) -> None:
        """Kill the server and all its children at once, as a power cut does."""
        assert self.process
        children = [os.pidfd_open(child) for child in self._halted()]
        for child in children:
            signal.pidfd_send_signal(child, signal.SIGKILL)
        self.process.kill()
        self.process.wait(PATIENCE)
        for child in children:  # as long as one is there, the server does not start again
            select.select([child], [], [], PATIENCE)
            os.close(child)
        self._clear_away()

    def _clear_away(self) -> None:
        """Remove what a server that was killed leaves: of shared memory a machine has 4,096 pieces."""
        file = self.folder / "postmaster.pid"
        if file.exists():
            for line in file.read_text().splitlines()[MEMORY : MEMORY + 1]:
                subprocess.run(["ipcrm", "-m", line.split()[1]], check=False)  # noqa: S603, S607  util-linux
            file.unlink()

    def stop(self) -> None:
        """Shut the server down."""
        assert self.process
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE)

    def freeze(self, kind: signal.Signals = signal.SIGSTOP) -> None:
        """Stop all processes of the server, or with SIGCONT let them go on."""
        assert self.process
        for one in (*self._halted(), self.process.pid):
            os.kill(one, kind)

    def _halted(self) -> list[int]:
        """Stop the server's first process, and return the others.

        It would make another one meanwhile, which would outlive it and write beside the next server.
        """
        assert self.process
        if self.process.poll() is not None:
            return []
        os.kill(self.process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        return _children(self.process.pid)

    def follow(self, primary: "Server") -> None:
        """Become the standby of a primary, from a fresh copy of it; return once each commit waits for this one."""
        shutil.rmtree(self.folder)
        _run("pg_basebackup", "-D", str(self.folder), "-R", "-c", "fast", "-d", primary.address())
        self.settle("")
        self.name_primary(primary)
        self.start()
        primary.wait_for_standby()

    def settle(self, more: str) -> None:
        """Write its settings below those that came with its data."""
        text = _SETTINGS.format(port=self.port, folder=self.folder.parent, more=more)
        with (self.folder / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(text)

    def name_primary(self, primary: "Server") -> None:
        """Have it ask a primary for its log, under the name that commits wait for."""
        with (self.folder / "postgresql.auto.conf").open("a", encoding="utf-8") as file:
            file.write(f"primary_conninfo = '{primary.address()} application_name=b'\n")

    def promote(self) -> None:
        """Make a standby the primary, and wait until it is."""
        with self.connected() as connection:
            connection.execute("SELECT pg_promote(false)")  # one that waits is cancelled by what is replayed
            until(lambda: connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,))

    def address(self, *schemas: str) -> str:
        """Return the connection string of a store in these schemas."""
        return together(self, schemas=schemas)

    @contextmanager
    def connected(self) -> Generator[psycopg.Connection]:
        """Connect as the owner of everything."""
        with psycopg.connect(self.address(), autocommit=True) as connection:
            yield connection

    def new_schema(self) -> str:
        """Make an empty schema and return its name."""
        name = f"store_{os.getpid()}_{next(_names)}"
        with self.connected() as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return name

    def wait_for_standby(self) -> None:
        """Have each commit wait for the standby from now on; return once that streams."""
        self.name_standbys("b")

        def look() -> None:
            with self.connected() as connection:
                found = connection.execute("SELECT sync_state FROM pg_stat_replication").fetchall()
            assert found == [("sync",)]

        eventually(look)

    def wait_for_none(self) -> None:
        """Have no commit wait for a standby from now on."""
        self.name_standbys("")

    def lose_its_standby(self) -> None:
        """Have each commit wait for a standby that is not there; return once one does."""
        self.name_standbys("nobody")
        eventually(self._require_waiting)

    def _require_waiting(self) -> None:
        with self.connected() as looking, closing(psycopg.connect(self.address(), autocommit=True)) as committing:
            process = committing.info.backend_pid
            committing.pgconn.send_query(b"SELECT pg_logical_emit_message(true, '', '')")
            committing.pgconn.flush()
            until(lambda: looking.execute(_SETTLED, (process,)).fetchone())
            ended = looking.execute(_END_WAITING, (process,)).fetchall()
            until(lambda: not looking.execute(_THERE, (process,)).fetchall() if ended else True)
        assert ended == [(True,)]

    def name_standbys(self, names: str) -> None:
        """Have each commit wait for one of these standbys from now on."""
        with self.connected() as connection:
            connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'".encode())
            connection.execute("SELECT pg_reload_conf()")

    def _require_up(self) -> None:
        assert self.process
        assert self.process.poll() is None, (self.folder / "server.log").read_text()
        try:
            with self.connected():
                pass
        except psycopg.OperationalError as error:
            raise AssertionError(str(error)) from error


def together(*servers: Server, schemas: tuple[str, ...] = ()) -> str:
    """Return the connection string of a store on whichever of the servers is the primary."""
    hosts = ",".join("127.0.0.1" for _ in servers)
    ports = ",".join(str(server.port) for server in servers)
    path = f" options='-c search_path={','.join(schemas)}'" if schemas else ""
    return f"host={hosts} port={ports} user=orrery dbname=postgres{path}"


@contextmanager
def running_postgres(
    data: Path | None = None, setup: Setup = _QUICK, disk: Path | None = None
) -> Generator[Server]:
    """Run a server until the block ends, with a copy of `data`; without that, with an empty database."""
    with _folder(disk) as folder:
        server = Server(folder / "data", free_ports(1)[0])
        _copy(data or _empty(setup), server, setup)
        server.start()
        try:
            yield server
        finally:
            server.kill()


@asynccontextmanager
async def in_new_schema(server: Server, clock: Clock) -> AsyncGenerator[PostgresStore]:
    """Yield a new store in a schema of its own."""
    address = server.address(server.new_schema())
    await asyncio.to_thread(create, address)
    store = await PostgresStore.open(address, clock)
    try:
        yield store
    finally:
        await store.close()


@contextmanager
def a_pair(setup: Setup = _QUICK, disk: Path | None = None) -> Generator[tuple[Server, Server]]:
    """Run a primary and a standby that each commit waits for, perhaps on a disk of their own."""
    with running_postgres(_both(setup) / "a", setup, disk) as primary, _folder(disk) as folder:
        standby = Server(folder / "data", free_ports(1)[0])
        _copy(_both(setup) / "b", standby, setup)
        standby.name_primary(primary)
        standby.start()
        try:
            primary.wait_for_standby()
            yield primary, standby
        finally:
            standby.kill()


@cache
def _empty(setup: Setup) -> Path:
    """Return an empty cluster, made once."""
    data = _kept_folder() / "a"
    cluster = ("-A", "trust", "-U", "orrery", "-E", "UTF8", "--locale=C", "--no-sync")
    _run("initdb", "-D", str(data), *cluster, f"--wal-segsize={setup.segment}")
    return data


@cache
def _both(setup: Setup) -> Path:
    """Return a folder with a cluster and the copy of it that is its standby, made once."""
    folder = _kept_folder()
    with running_postgres(setup=setup) as server:
        _run("pg_basebackup", "-D", str(folder / "b"), "-R", "-c", "fast", "-d", server.address())
        server.stop()
        _copytree(server.folder, folder / "a")
        server.start()
    return folder


def _kept_folder() -> Path:
    _kept.append(ExitStack())
    return _kept[-1].enter_context(_folder())


def _copy(data: Path, server: Server, setup: Setup) -> None:
    _copytree(data, server.folder)
    server.settle(setup.settings)


def _copytree(data: Path, target: Path) -> None:
    """Copy as the server's user."""
    subprocess.run(["cp", "-a", str(data), str(target)], check=True, user=USER, group=_GROUP, cwd="/")  # noqa: S603, S607  coreutils


@contextmanager
def _folder(disk: Path | None = None) -> Generator[Path]:
    with TemporaryDirectory(prefix="orrery-pg-", dir=disk) as name:
        if os.geteuid() == 0:
            os.chown(name, pwd.getpwnam("nobody").pw_uid, -1)
        yield Path(name)


def _run(program: str, *arguments: str) -> None:
    done = subprocess.run(  # noqa: S603  the distribution's
        [str(PROGRAMS[-1] / program), *arguments],
        capture_output=True,
        text=True,
        check=False,
        user=USER,
        group=_GROUP,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(one) for one in found.read_text().split()] if found.exists() else []
