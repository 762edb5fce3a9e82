"""What today's code stores, the first release whose records keep unknown fields reads, and changes without loss.

Only `./run soak` runs this: it takes the older release out of git, and lives in a demo for a while.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore
from orrery.ports.store import Put, StoreEntry
from orrery.record import Sealed
from tests.support.demo import running_demo
from tests.support.reading import read as record_in
from tests.support.soak import SOAKING
from tests.support.stores import entries
from tests.support.waiting import PATIENCE, eventually

CERT = ("--vendor", "northwind", "--cert", "cloud-navigator")
WHY = ("--reason", "To have one of each.")

Command = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True)
class LivedIn:
    """One running demo: its shop, its sandbox, and how an owner's command is run."""

    shop: str
    sandbox: str
    run: Command

    def fill(self, folder: Path) -> None:
        """Leave sales, what went wrong with them, the owner's changes, approvals and an erasure."""
        with httpx2.Client(trust_env=False, timeout=PATIENCE) as client:
            self._sales(client)
            self._declines(client)
        self._preflight()
        self._access(folder)
        self._owner()

    def _sales(self, client: httpx2.Client) -> None:
        paid = self._start(client, "a click")
        self._pay(client, paid, "first@buyer.example")
        refunded = self._start(client)
        self._pay(client, refunded, "second@buyer.example")
        erased = self._start(client)
        self._pay(client, erased, "erased@buyer.example")
        self._pay(client, self._start(client), "later@buyer.example", "delayed")
        self._start(client)
        for session_id in (paid, refunded, erased):
            eventually(lambda session_id=session_id: self._expect_access(client, session_id))
        charges = client.get(f"{self.sandbox}/").text.split("/_charges/")
        newest = charges[-1].partition("/")[0]
        assert client.post(f"{self.sandbox}/_charges/{newest}/refund").is_success

    def _declines(self, client: httpx2.Client) -> None:
        session_id = self._start(client)
        for number in range(4):
            self._pay(client, session_id, f"tester{number}@buyer.example", "declined")

    def _preflight(self) -> None:
        self._do("checkout", "preflight", "--sign")
        self._do("checkout", "verify", "--sign")
        self._do("checkout", "reconcile")

    def _access(self, folder: Path) -> None:
        self._do("access", "grant", "given@buyer.example", *CERT, *WHY)
        rows = folder / "imported.csv"
        rows.write_text(
            "email,vendor_slug,cert_code,expires_at\n"
            "imported@buyer.example,northwind,cloud-navigator,2031-05-01\n"
            "moved@buyer.example,northwind,cloud-navigator,2032-05-01\n",
            encoding="utf-8",
        )
        self._do("access", "import", str(rows), *WHY)
        self._do("access", "change-email", self._session_of("moved@"), "new@buyer.example", *WHY)
        self._do("access", "resend", self._session_of("first@"), *WHY)
        self._do("access", "revoke", self._session_of("second@"), *WHY)

    def _owner(self) -> None:
        proposed = self._do("fraud", "block", "--email", "erased@buyer.example", *WHY)
        self._do("approvals", "withdraw", proposed.split()[-1])
        self._do("secrets", "announce", "push_token", *WHY)
        self._do("privacy", "erase", "erased@buyer.example", *WHY)

    def _start(self, client: httpx2.Client, click: str = "") -> str:
        body = {"productType": "cert", "certCode": "cloud-navigator", "vendorSlug": "northwind"}
        headers = {"Idempotency-Key": click.replace(" ", "-")} if click else {}
        answer = client.post(f"{self.shop}/guided/api/checkout", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["id"])

    def _pay(self, client: httpx2.Client, session_id: str, email: str, verdict: str = "approved") -> None:
        form = {"email": email, "method": "card", "verdict": verdict}
        answer = client.post(f"{self.sandbox}/pay/{session_id}", data=form)
        assert answer.status_code in {303, 402}, answer.status_code

    def _expect_access(self, client: httpx2.Client, session_id: str) -> None:
        state: Any = client.get(f"{self.shop}/guided/api/access/{session_id}").json()
        assert state["state"] == "granted", state

    def _session_of(self, email: str) -> str:
        listed = self._do("access", "list", "--json")
        return next(one["session_id"] for one in json.loads(listed) if one["email"].startswith(email))

    def _do(self, *arguments: str) -> str:
        done = self.run(arguments)
        assert done.returncode in {0, 1}, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout


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
