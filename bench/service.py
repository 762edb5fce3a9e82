"""A real `orrery serve` for the measurements. It may use every core, as it would, unless limited to one."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orrery.adapters.clock import SystemClock
from orrery.adapters.postgres.place import PostgresDatabase
from orrery.adapters.sqlite.place import SqliteFile
from orrery.ports.store import StorePlace
from orrery.runtime.index_key import index_key

if TYPE_CHECKING:
    from tests.support.forks import Forked

SECRET = "whsec_orrery_bench"  # noqa: S105  no real secret: the measurement signs its own events with it
NO_PROCESSOR = "http://127.0.0.1:9"
"""Where nothing listens."""

LOAD_CORE = -1
"""Which of the machine's cores the load is bound to: the last."""

_SETTINGS = """\
mode = "sandbox"
[server]
port = {port}
private_port = {private_port}
closing_seconds = 0
[store]
{store}
[secrets]
directory = "{secrets}"
[log]
level = "error"
[checkout]
processor_url = "{processor}"
success_url = "http://127.0.0.1/success?session_id={{CHECKOUT_SESSION_ID}}"
cancel_url = "http://127.0.0.1/cancelled"
sessions_per_minute = 1000000
sessions_per_hour = 1000000
[[checkout.products]]
vendor_slug = "northwind"
cert_code = "cloud-navigator"
title = "Cloud Navigator"
price_id = "price_cloud_navigator"
"""


_AS_DEPLOYED = """\
import sys
sys.modules.update(httpx=None, aiohttp=None)
from orrery.app.main import main
main()
"""
"""A deployment has neither client, which the processor's library imports where it finds them: 4 MB and 30 ms."""


FORKED = ContextVar("FORKED", default=False)
"""Whether `orrery` is forked, not started as deployed: in the shortest rounds, whose figures nobody reads."""


@dataclass(frozen=True, slots=True)
class Service:
    """A running service: its public port, its process, and how long it took to the first 200, in seconds."""

    port: int
    process: "subprocess.Popen[bytes] | Forked"
    started_in: float


def prepare(folder: Path, processor: str = NO_PROCESSOR, more: str = "", database: str = "") -> Path:
    """Write settings, with `more` sections, secrets and a store as an owner would; return the settings file.

    The store is in a file, unless `database` is the address of one for it.
    """
    secrets = folder / "secrets"
    secrets.mkdir(parents=True)
    (secrets / "webhook_signing_secret").write_text(SECRET)
    (secrets / "processor_api_key").write_text("sk_test_orrery_sandbox")
    (secrets / "access_service_token").write_text("orrery-bench-token-of-the-access-check")
    settings = folder / "orrery.toml"
    text = _SETTINGS.format(
        port=free_port(),
        private_port=free_port(),
        store=f'address = "{database}"' if database else f'path = "{folder / "orrery.db"}"',
        secrets=secrets,
        processor=processor,
    )
    settings.write_text(text + more)
    place_of(settings).create()
    asyncio.run(_begin(place_of(settings)))
    return settings


def place_of(settings: Path) -> StorePlace:
    """Return where the store of these settings is."""
    store = tomllib.loads(settings.read_text())["store"]
    if "address" in store:
        return PostgresDatabase.at(store["address"], None, None, SystemClock())
    return SqliteFile(Path(store["path"]), SystemClock())


def beside(settings: Path) -> Path:
    """Write the settings of another process on the same store, and return the file."""
    other = settings.with_stem(f"{settings.stem}-beside")
    text = re.sub(
        r"(?m)^(port|private_port) = .*", lambda found: f"{found[1]} = {free_port()}", settings.read_text()
    )
    other.write_text(text)
    return other


async def _begin(place: StorePlace) -> None:
    """Give the store its key, as the first start does: a filled store without one counts as emptied."""
    store = await place.open()
    _ = await index_key(store)
    await store.close()


@contextmanager
def serving(settings: Path, before: Sequence[str] = ()) -> Generator[Service]:
    """Run `orrery serve` until the end of the block; `before` is put ahead of the command."""
    port = int(next(line for line in settings.read_text().splitlines() if line.startswith("port")).split("=")[1])
    words = () if before else ("serve", "--config", str(settings))
    with started([*before, *deployed(settings, "serve")], port, "/healthz", words) as service:
        yield service


def deployed(settings: Path, *words: str) -> list[str]:
    """Return the command line of `orrery` with these words, as it runs in a deployment."""
    return [sys.executable, "-P", "-c", _AS_DEPLOYED, *words, "--config", str(settings)]


@contextmanager
def started(command: Sequence[str], port: int, path: str, words: Sequence[str] = ()) -> Generator[Service]:
    """Run a server that answers `path` once it is ready, until the end of the block.

    If it is `orrery`, `words` are what is typed behind that: so it is forked, where it may be.
    """
    begin = time.perf_counter()
    process = launched(command, words)
    try:
        yield Service(port, process, wait_for(f"http://127.0.0.1:{port}{path}", begin))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def launched(command: Sequence[str], words: Sequence[str]) -> "subprocess.Popen[bytes] | Forked":
    """Start a server, which prints into nothing."""
    if not words or not FORKED.get():
        return subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603  our own command
    from tests.support.forks import Forked  # noqa: PLC0415  an older commit that is measured lacks what it imports

    with Path(os.devnull).open("r+b") as nothing:
        return Forked(words, nothing.fileno(), nothing.fileno(), sys.stderr.fileno())


@contextmanager
def sandbox(folder: Path, smtp_port: int | None = None) -> Generator[int]:
    """Run `orrery sandbox` beside the load; yield its port."""
    port = free_port()
    options = ["--port", str(port), "--smtp-port", str(smtp_port or free_port()), "--data", str(folder)]
    words = ["sandbox", "--webhook-url", "http://127.0.0.1:9/", *options]
    with started([*pinned(LOAD_CORE), sys.executable, "-m", "orrery", *words], port, "/_clock", words):
        yield port


def pinned(core: int) -> list[str]:
    """Return what is put ahead of a command that is to keep to one of this machine's cores."""
    return ["taskset", "-c", str(sorted(os.sched_getaffinity(0))[core])]


@contextmanager
def bound_to(core: int) -> Generator[None]:
    """Keep this process on one core until the end of the block."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(cores)[core]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def processor_seconds(process: int) -> float:
    """Return the processor time that a process and its children, ended ones too, have used so far."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    return sum(map(_own_processor_seconds, [*map(int, children), process]))


def _own_processor_seconds(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):  # a child that has just ended: its parent has its time now
        return 0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid: int) -> float:
    """Return a process's proportional set size: its own pages, and its share of those that it shares."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


_PATIENCE = 120


def wait_for(url: str, begin: float) -> float:
    """Return the seconds from `begin` to the first 200 of `url`."""
    while time.perf_counter() - begin < _PATIENCE:
        try:
            with urllib.request.urlopen(url, timeout=1):  # noqa: S310  our own address
                return time.perf_counter() - begin
        except OSError:
            time.sleep(0.002)  # noqa: TID251  what starts needs the processor
    raise RuntimeError(f"{url} did not answer.")
