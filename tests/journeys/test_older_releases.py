"""What today's code stores, the first release whose records keep unknown fields reads, and changes without loss.

Only `./run soak` runs this: it takes the older release out of git, and lives in a demo for a while.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore
from orrery.ports.store import Put, StoreEntry
from orrery.record import Sealed
from tests.support.demo import running_demo
from tests.support.lived_in import LivedIn
from tests.support.reading import read as record_in
from tests.support.soak import SOAKING
from tests.support.stores import entries

pytestmark = pytest.mark.skipif(not SOAKING, reason="only ./run soak runs an older release")

ROOT = Path(__file__).resolve().parents[2]
LATER = b'{"later":{"of":"a release to come"},'
"""How a record begins to which a later release has added a field."""


@dataclass(frozen=True)
class Release:
    """The code of one commit in a folder, run with today's interpreter and libraries."""

    folder: Path

    def run(self, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        """Run a module of it, with its arguments, in the folder."""
        path = os.pathsep.join(map(str, (self.folder / "src", self.folder)))
        command = [sys.executable, "-m", *map(str, arguments)]
        environment = {"PATH": os.defpath, "PYTHONPATH": path}
        return subprocess.run(  # noqa: S603  our own code
            command, cwd=self.folder, env=environment, input="yes\n", capture_output=True, text=True, check=False
        )


def git(*arguments: str) -> bytes:
    """Return what git says of this checkout."""
    return subprocess.run(("git", *arguments), cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S603, S607  the machine's git


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Return the first release whose records keep unknown fields."""
    added = git("log", "--diff-filter=A", "--format=%H", "--", "src/orrery/record.py").decode().split()
    if not added:
        pytest.skip("the history of this checkout does not reach back to that release")
    folder = tmp_path_factory.mktemp("first")
    subprocess.run(("tar", "-x", "-C", folder), input=git("archive", added[-1]), check=True)  # noqa: S603, S607  the machine's tar
    return Release(folder)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the settings of a demo of today's code that was lived in, and has ended."""
    data = tmp_path_factory.mktemp("today") / "data"
    with running_demo(data) as demo:
        today = Release(ROOT)

        def run(arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
            return today.run("orrery", *arguments, "--config", data / "orrery.toml")

        LivedIn(demo.shop, demo.sandbox, run).fill(data)
        demo.press_ctrl_c()
    return data / "orrery.toml"


async def extend(store_file: Path) -> set[str]:
    """Add an unknown field to every record that is not sealed, as a later release may; return their keys."""
    store = await SqliteStore.open(store_file, SystemClock())
    try:
        found = [entry async for entry in entries(store_file, SystemClock())]
        extensible = [entry for entry in found if is_extensible(entry)]
        for entry in extensible:
            value = entry.value.replace(b"{", LATER, 1)
            remaining = entry.expires_at - SystemClock().now() if entry.expires_at else None
            assert await store.commit([Put(entry.key, value, remaining)])
        return {entry.key for entry in extensible}
    finally:
        await store.close()


def is_extensible(entry: StoreEntry) -> bool:
    """Return whether an entry holds a record that a later release may extend while the store is in use."""
    record = record_in(entry)
    return record is not None and not isinstance(record, Sealed) and entry.value != b"{}"


async def extended(store_file: Path) -> dict[str, bytes]:
    """Return the records that hold the field of the later release."""
    return {
        one.key: one.value async for one in entries(store_file, SystemClock()) if b'"later":{"of"' in one.value
    }


def test_an_older_release_reads_and_keeps_what_a_later_one_stores(first: Release, settings: Path) -> None:
    """It reads every record, and what it changes keeps the fields that it does not know."""
    store_file = settings.with_name("orrery.db")
    read = first.run("tests.support.reading", store_file)
    assert (read.returncode, read.stdout.split()) == (0, []), read.stderr
    asyncio.run(extend(store_file))
    read = first.run("tests.support.reading", store_file)
    assert (read.returncode, read.stdout.split()) == (0, []), read.stderr
    known = asyncio.run(extended(store_file))
    running = [
        key for key, value in known.items() if key.startswith("access:cs_") and b'"revoked_at":null' in value
    ]
    access = min(running).removeprefix("access:")
    revoked = first.run("orrery", "access", "revoke", access, "--reason", "x", "--config", settings)
    assert revoked.returncode == 0, revoked.stdout + revoked.stderr
    listed = first.run("orrery", "access", "list", "--config", settings)
    assert listed.returncode == 0, listed.stderr
    assert f"access:{access}" in asyncio.run(extended(store_file))
