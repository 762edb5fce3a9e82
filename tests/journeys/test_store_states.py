"""Whatever is at the store's path, each command says in one sentence what it is, and changes nothing.

A restore heals it. The long form, in a soak, types each command at each state.
"""

import hashlib
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support.program import run_orrery
from tests.support.soak import SOAKING
from tests.support.store_states import STATES, FileState, leave_log

GRANT = ("access", "grant", "ann@example.org", "--vendor", "northwind", "--cert", "cert-1", "--reason", "a try")
USUAL = ["another program's log", "a snapshot copied over it", "without its key"]
READING = [("serve",), ("access", "list"), ("backup", "copy.db")]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with settings, a store with a sale, and a snapshot of it."""
    folder = tmp_path_factory.mktemp("sound") / "shop"
    assert run_orrery("init", str(folder)).returncode == 0
    settings = ("--config", str(folder / "orrery.toml"))
    text = (folder / "orrery.toml").read_text(encoding="utf-8")
    text = text.replace("\nport = 8080", "\nport = 0").replace("\nprivate_port = 8081", "\nprivate_port = 0")
    (folder / "orrery.toml").write_text(text, encoding="utf-8")
    assert run_orrery(*GRANT, "--retired", *settings).returncode == 0
    assert run_orrery("backup", str(folder / "snapshot.db"), *settings).returncode == 0
    return folder


@pytest.fixture
def shop(sound: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder."""
    return Path(shutil.copytree(sound, tmp_path / "shop"))


def typed(shop: Path, *words: str) -> CompletedProcess[str]:
    """Type a command there; it ends by itself and without a traceback."""
    placed = [str(shop / word) if word.endswith(".db") else word for word in words]
    came = run_orrery(*placed, "--config", str(shop / "orrery.toml"))
    assert "Traceback" not in came.stderr
    return came


def contents(shop: Path) -> dict[str, str]:
    """Return a digest of each file of the store that a person would keep."""
    files = [
        one for one in (shop / ".orrery").iterdir() if one.is_file() and not one.name.endswith(("-shm", ".lock"))
    ]
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in files}


def see_refused(came: CompletedProcess[str], state: FileState) -> None:
    """See the one sentence, and the exit code of a broken file or of a wrong setting."""
    said = " ".join(came.stderr.split())
    assert state.sentence in said
    assert (came.returncode, len(came.stderr.strip().splitlines())) == (2 if state.missing else 1, 1)


@pytest.mark.parametrize("name", STATES if SOAKING else USUAL)
def test_a_state_is_named_and_healed(shop: Path, name: str) -> None:
    """Commands that read refuse it, `doctor` names it, `store create` keeps it, and a restore heals it."""
    state, store = STATES[name], shop / ".orrery" / "orrery.db"
    state.bring(store)
    before = contents(shop)
    for words in READING if SOAKING else READING[:1]:
        # An emptied store has nothing to save, which `backup` says as it does of a new one.
        if words[0] != "backup" or "emptied" not in state.sentence:
            see_refused(typed(shop, *words), state)
    examined = typed(shop, "doctor", "--json")
    assert (examined.returncode, state.sentence in examined.stdout + examined.stderr) == (
        2 if state.missing else 1,
        True,
    )
    made = typed(shop, "store", "create")
    assert made.returncode == (0 if name == "gone" else 2)
    if name != "gone":
        assert contents(shop) == before
    restored = typed(shop, "restore", "snapshot.db")
    assert restored.returncode == (0 if state.restorable else 1)
    if state.restorable:
        assert "ann@example.org" in typed(shop, "access", "list").stdout
    else:
        assert state.sentence in restored.stderr


def test_a_log_of_this_file_is_read(shop: Path) -> None:
    """After a kill the newest commits are in the log alone: they are there, and nothing is refused."""
    store = shop / ".orrery" / "orrery.db"
    leave_log(store, store, "UPDATE entries SET value = x'00' WHERE key = CAST('written' AS BLOB)")
    assert "ann@example.org" in typed(shop, "access", "list").stdout
