"""`orrery tenants journal`: no entry without its track, from the command line to the erasure of a person."""

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore
from orrery.ports.store import Put
from orrery.runtime.index_key import index_key
from orrery.syntax.track import labels_in
from tests.support.program import run_orrery

SETTINGS = """\
[cockpit]
store = "cockpit.db"
[tenants.A]
label = "Corporate"
tenant = "00000000-0000-4000-8000-00000000000a"
client = "00000000-0000-4000-8000-0000000000a1"
accounts = ["ann@corp.example"]
[tenants.B]
label = "Lab"
tenant = "00000000-0000-4000-8000-00000000000b"
client = "00000000-0000-4000-8000-0000000000b1"
accounts = ["bo@lab.example"]
"""

Orrery = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def orrery(tmp_path: Path) -> Orrery:
    """Return what runs a command on a cockpit of two tracks."""
    settings = tmp_path / "orrery.toml"
    settings.write_text(SETTINGS)

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        return run_orrery(*words, "--config", str(settings))

    assert run("cockpit", "store", "create").returncode == 0
    return run


def test_each_entry_has_its_track(orrery: Orrery) -> None:
    """In the table it comes first, in JSON it is a field of each entry; a label that does not fit is refused."""
    add = ("tenants", "journal", "add")
    assert orrery(*add, "--track", "A", "--account", "ann", "Answered\nthe auditors").returncode == 0
    assert orrery(*add, "--track", "B", "Wrote a lesson").returncode == 0
    for wrong in ((), ("--track", ""), ("--track", "C"), ("--track", "B", "--account", "ann")):
        assert orrery(*add, *wrong, "text").returncode == 2
    table = orrery("tenants", "journal", "list").stdout.splitlines()
    assert [line.split()[0] for line in table] == ["[track:B]", "track", "[track:B]", "[track:A]"]
    rows = json.loads(orrery("tenants", "journal", "list", "--json").stdout)
    assert [(one["track"], one["account"], one["text"]) for one in rows] == [
        ("B", None, "Wrote a lesson"),
        ("A", "ann@corp.example", "Answered\nthe auditors"),
    ]
    only = orrery("tenants", "journal", "list", "--json", "--track", "B").stdout
    assert labels_in(only.encode()) == {"B"}


def test_an_entry_without_its_track_is_named(orrery: Orrery, tmp_path: Path) -> None:
    """It is shown as of neither track, and the command ends with 1."""
    stored = Put("track-journal:20270101T000000.000000Z:00000000", b'{"v": 1, "text": "whose is it?"}')
    asyncio.run(_put(tmp_path / "cockpit.db", stored))
    listed = orrery("tenants", "journal", "list", "--track", "A")
    assert (listed.returncode, "whose is it?" in listed.stdout) == (1, False)
    assert stored.key in listed.stderr


async def _put(file: Path, entry: Put) -> None:
    store = await SqliteStore.open(file, SystemClock())
    try:
        _ = await index_key(store)
        _ = await store.commit([entry])
    finally:
        await store.close()


def test_a_person_is_erased_from_the_journal_too(orrery: Orrery, tmp_path: Path) -> None:
    """By the cockpit's own command, which covers ledger and journal; a restored snapshot is erased again."""
    for text in ("Called cy@lab.example", "Called Dee"):
        assert orrery("tenants", "journal", "add", "--track", "B", text).returncode == 0
    assert orrery("cockpit", "backup", str(tmp_path / "snapshot.db")).returncode == 0
    exported = json.loads(orrery("cockpit", "privacy", "export", "cy@lab.example").stdout)
    assert [(one["track"], one["text"]) for one in exported["journal"]] == [("B", "Called cy@lab.example")]
    erased = orrery("cockpit", "privacy", "erase", "cy@lab.example", "--reason", "asked")
    assert "Erased: 0 ledger, 1 journal." in erased.stderr
    restored = orrery("cockpit", "restore", str(tmp_path / "snapshot.db"))
    assert "Erased again, as in the store before: 1." in restored.stderr
    rows = json.loads(orrery("tenants", "journal", "list", "--json").stdout)
    assert [one["text"] for one in rows] == ["Called Dee"]
