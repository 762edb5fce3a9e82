"""No command makes a store by the way, or answers from another one, wherever it is typed (decision 50)."""

from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from orrery.app.settings.variables import CONFIG_VARIABLE
from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.program import run_orrery
from tests.support.visiting import Visitor

GRANT = ("access", "grant", "ann@example.org", "--vendor", "northwind", "--cert", "cert-1", "--reason", "a try")
COMMANDS = (("access", "list"), GRANT, ("serve",), ("backup", "copy.db"))


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, in which commands are typed."""
    folder = tmp_path / "somewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv(CONFIG_VARIABLE, raising=False)
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Deployment]:
    """Run a sandbox; the service is the test's to start."""
    with beside_a_sandbox(Deployment(tmp_path / "shop")) as deployment:
        yield deployment


def see_refused(came: CompletedProcess[str], sentence: str) -> None:
    """See one sentence, nothing else, and the exit code of wrong settings."""
    assert (came.returncode, came.stdout) == (2, "")
    assert sentence in came.stderr
    assert len(came.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_in_a_folder_without_settings(empty: Path, words: tuple[str, ...]) -> None:
    """A command in a wrong folder says where it looked for settings, and leaves the folder empty."""
    see_refused(run_orrery(*words), f"none is at {empty / 'orrery.toml'}, /etc/orrery/orrery.toml or {empty}")
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_in_a_folder_where_others_left_settings(empty: Path, words: tuple[str, ...]) -> None:
    """A settings file that others may write, in a folder such as /tmp, is refused: it would get the key."""
    empty.chmod(0o1777)
    (empty / "orrery.toml").touch()
    (empty / "orrery.toml").chmod(0o666)
    refused = f"The settings file {empty / 'orrery.toml'} may be written by everybody, and is refused"
    see_refused(run_orrery(*words), refused)
    assert [file.name for file in empty.iterdir()] == ["orrery.toml"]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_where_the_store_is_gone(empty: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    """A command whose store is lost names it and the two ways to have one, and puts none in its place."""
    shop = Deployment(tmp_path / "shop")
    for file in shop.store.parent.iterdir():
        file.unlink()
    see_refused(run_orrery(*words, "--config", str(shop.config)), f"There is no store at {shop.store}: make one")
    assert list(shop.store.parent.iterdir()) == []
    assert list(empty.iterdir()) == []


def test_a_newcomer_has_a_store(empty: Path) -> None:
    """What `init` made is found from any folder by `--config`; a second `init` over the store is refused."""
    assert run_orrery("init", "shop").returncode == 0
    settings = ("--config", "shop/orrery.toml")
    assert run_orrery(*GRANT, "--retired", *settings).returncode == 0
    assert "ann@example.org" in run_orrery("access", "list", *settings).stdout
    assert run_orrery("backup", "copy.db", *settings).returncode == 0
    assert {file.name for file in empty.iterdir()} == {"shop", "copy.db"}
    (empty / "shop" / "orrery.toml").unlink()
    see_refused(run_orrery("init", "shop"), "There is a store at shop/.orrery/orrery.db already")
    assert not (empty / "shop" / "orrery.toml").exists()
    assert run_orrery("init", "--no-store", "shop").returncode == 0
    assert "ann@example.org" in run_orrery("access", "list", *settings).stdout


def test_a_store_is_made_where_the_settings_say(empty: Path) -> None:
    """`store create` makes the folders to it, and says where it is; a second time it refuses."""
    assert run_orrery("init", "--no-store", ".").returncode == 0
    settings = (empty / "orrery.toml").read_text(encoding="utf-8")
    (empty / "orrery.toml").write_text(settings.replace(".orrery/orrery.db", "var/lib/orrery.db"))
    see_refused(run_orrery("access", "list"), "`orrery store create`")
    made = run_orrery("store", "create")
    assert (made.returncode, made.stderr) == (0, f"Made an empty store at {empty}/var/lib/orrery.db.\n")
    assert run_orrery("access", "list").returncode == 0
    see_refused(run_orrery("store", "create"), "nothing was made")


def test_the_store_goes_away_while_the_service_runs(shop: Deployment, tmp_path: Path) -> None:
    """What comes in is refused until it is restored, nothing stands in for it, and then every sale is there."""
    service, snapshot = shop.start_service(), tmp_path / "snapshot.db"
    visitor = Visitor(shop)
    before = visitor.buy()
    visitor.await_access(before)
    visitor.await_told(before)
    assert shop.orrery("backup", str(snapshot)).returncode == 0
    shop.store.unlink()
    lost = visitor.check_out()
    assert (lost.status_code, lost.json()["error"]) == (503, "store-unavailable")
    assert shop.readiness() == [503, 503]
    see_refused(shop.orrery("access", "list"), "orrery.db is gone, but orrery.db-wal is there")
    see_refused(shop.orrery("restore", str(snapshot)), "in use")
    service.end()
    assert not shop.store.exists()
    see_refused(run_orrery("serve", "--config", str(shop.config)), str(shop.store))
    assert shop.orrery("restore", str(snapshot)).returncode == 0
    stop(shop.start_service())
    assert shop.records.access(before) is not None
