"""Where the settings file is looked for, and where relative paths begin (decision 50)."""

import os
from pathlib import Path
from typing import get_args

import pytest

from orrery.app.settings.reader import SettingsError, find_settings_file, load
from orrery.app.settings.tables import read_toml
from orrery.approvals.settings import ApprovalSettings
from orrery.live.settings import MonitorSettings
from orrery.runtime.module import Role
from orrery.runtime.settings import SandboxSettings, SecretFiles, ServerSettings, StoreSettings
from tests.support.machine import Machine, machine_in

PATHS = """
[store]
path = "data/orrery.db"
[secrets]
directory = "secrets"
[monitor]
file = "/var/lib/orrery/issues.json"
[approvals]
signing_key = "~/.ssh/owner"
[sandbox]
clock_file = "clock"
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return an empty folder that is the working directory."""
    return machine_in(tmp_path, monkeypatch)


def test_a_user_without_a_home(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command says where it looked, and looks in no home, as in a container with a user of its own.

    The scanner does not look here, either: the folder may be a stranger's repository.
    """
    monkeypatch.setenv("HOME", "~")  # so it looks to Python where the system knows no such user
    with pytest.raises(RuntimeError):
        _ = Path.home()
    for role in get_args(Role):
        with pytest.raises(SettingsError, match=str(machine.folder / "none.toml")) as refused:
            find_settings_file(None, {}, machine.folder / "none.toml", role)
        assert (str(machine.file) in str(refused.value)) == (role != "scan")


def test_a_folder_that_its_user_may_not_enter(machine: Machine) -> None:
    """`sudo -u orrery` leaves the shell in root's own folder: the sentence shows what to type."""
    machine.file.touch()
    machine.folder.chmod(0)
    user = os.geteuid()
    os.seteuid(user or 65534)  # root may enter each
    try:
        with pytest.raises(SettingsError, match="type `cd /` first"):
            _ = read_toml(find_settings_file(None, {}))
    finally:
        os.seteuid(user)
        machine.folder.chmod(0o700)


def test_a_relative_folder_of_the_user_is_ignored(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The standard of `$XDG_CONFIG_HOME` says so; what lies there by chance is not the user's."""
    monkeypatch.setenv("HOME", str(machine.folder / "home"))
    chance, own = machine.folder / "here/orrery/orrery.toml", machine.folder / "home/.config/orrery/orrery.toml"
    for file in (chance, own):
        file.parent.mkdir(parents=True)
        file.touch()
    environment = {"XDG_CONFIG_HOME": "here"}
    assert find_settings_file(None, environment, machine.folder / "none.toml", "cockpit") == own


def test_each_place_goes_before_the_next(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Named by option, named by variable, here, the system's, the demo's: the first that there is counts."""
    system = tmp_path_factory.mktemp("etc") / "orrery.toml"
    variable, option = machine.folder / "variable.toml", machine.folder / "option.toml"
    demo = machine.folder / ".orrery" / "orrery.toml"
    demo.parent.mkdir()
    for file in (demo, system, machine.file):
        file.touch()
        assert find_settings_file(None, {}, system) == file
    environment = {"ORRERY_CONFIG": str(variable)}
    assert find_settings_file(None, environment, system) == variable
    assert find_settings_file(option, environment, system) == option


def test_without_a_file_nothing_is_assumed(machine: Machine) -> None:
    """Where there is no file, the refusal names each place that was looked at, and how to get one."""
    message = machine.refusal()
    here, demo = machine.file, machine.folder / ".orrery" / "orrery.toml"
    for told in ("--config", "$ORRERY_CONFIG", str(here), "/etc/orrery/orrery.toml", str(demo), "orrery init"):
        assert told in message


def test_an_empty_variable_names_no_file(machine: Machine) -> None:
    """`ORRERY_CONFIG=` is as good as none."""
    machine.write("[server]\nport = 9000\n")
    machine.set(ORRERY_CONFIG="")
    assert load()[0][ServerSettings].port == 9000


def test_a_named_file_must_be_there(machine: Machine) -> None:
    """A named file that is missing is refused with its whole path, though another file is here."""
    machine.write("")
    machine.set(ORRERY_CONFIG="elsewhere.toml")
    assert f"There is no settings file {machine.folder / 'elsewhere.toml'}" in machine.refusal()


def test_a_link_to_nowhere_is_not_passed_over(machine: Machine) -> None:
    """A settings file that is a broken link is refused; the next place would be another deployment."""
    machine.file.symlink_to(machine.folder / "gone")
    demo = machine.folder / ".orrery" / "orrery.toml"
    demo.parent.mkdir()
    demo.touch()
    assert str(machine.file) in machine.refusal()


def test_relative_paths_begin_in_the_folder_of_the_settings(machine: Machine) -> None:
    """The same deployment has the same store, secrets, key and clock in whatever folder a command is typed."""
    folder = machine.folder / "deployment"
    (folder / "secrets").mkdir(parents=True)
    (folder / "orrery.toml").write_text(PATHS)
    settings, _ = load(Path("deployment/orrery.toml"))
    assert settings[StoreSettings].path == folder / "data" / "orrery.db"
    assert settings[SecretFiles].directory == folder / "secrets"
    assert settings[SandboxSettings].clock_file == folder / "clock"
    assert settings[MonitorSettings].file == Path("/var/lib/orrery/issues.json")
    assert settings[ApprovalSettings].signing_key == Path.home() / ".ssh" / "owner"


def test_defaults_and_variables_begin_there_too(machine: Machine) -> None:
    """A path that is not in the file is no exception."""
    folder = machine.folder / "deployment"
    folder.mkdir()
    (folder / "orrery.toml").write_text("")
    assert load(folder / "orrery.toml")[0][StoreSettings].path == folder / ".orrery" / "orrery.db"
    machine.set(ORRERY_STORE__PATH="other.db")
    assert load(folder / "orrery.toml")[0][StoreSettings].path == folder / "other.db"


def test_a_home_that_nobody_has(machine: Machine) -> None:
    """`~` before a name that is no user's is refused in a sentence."""
    machine.write('[approvals]\nsigning_key = "~nobody-of-that-name/key"\n')
    with pytest.raises(SettingsError, match="no user's"):
        load()
