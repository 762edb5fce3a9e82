"""`[tls] ca_file` at the start: a file that is no good stops it in one sentence that names key and file."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orrery.app.settings.reader import SettingsError, load, load_settings, load_settings_if_any, settings_from
from orrery.runtime.settings import TlsSettings
from tests.support.certificates import make_authority
from tests.support.machine import MARK, Machine, machine_in

MALLORY = 54_321
"""A user who is neither root nor the one who runs the tests."""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")

NAME = "authority.pem"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine whose settings name a file with an authority's certificate."""
    machine = machine_in(tmp_path, monkeypatch)
    machine.write(f'mode = "test"\n[tls]\nca_file = "{NAME}"\n')
    make_authority(tmp_path)
    return machine


def test_a_relative_path_begins_at_the_settings(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is looked for beside the settings, wherever a command is typed."""
    monkeypatch.chdir("/")
    assert load_settings(machine.file)[TlsSettings].ca_file == machine.folder / NAME


def test_the_variable_goes_first(machine: Machine) -> None:
    """The environment names it as every other key."""
    machine.set(ORRERY_TLS__CA_FILE=str(machine.folder / "other.pem"))
    assert "other.pem is not there" in machine.refusal()


def test_without_the_key() -> None:
    """No file is named by default."""
    assert settings_from({}, Path())[TlsSettings].ca_file is None


DAMAGES: dict[str, Callable[[Path], object]] = {
    "is not there": lambda file: file.unlink(),
    "cannot be read: is a directory": lambda file: (file.unlink(), file.mkdir()),
    "holds no certificates in the form of PEM, or a broken one": lambda file: file.write_text(f"{MARK}\n"),
    "holds no certificates": lambda file: file.write_bytes(b"\x30\x82\x01\xff\xfe"),
    "or a broken one": lambda file: file.write_text(file.read_text() + file.read_text()[:300]),
}


@pytest.mark.parametrize("said", DAMAGES)
def test_a_file_that_is_no_good(machine: Machine, said: str) -> None:
    """The start is refused with the key, the file and what is wrong."""
    file = machine.folder / NAME
    DAMAGES[said](file)
    sentence = machine.refusal()
    assert sentence.startswith(f"The certificate file (tls.ca_file) {file} ")
    assert said in sentence
    assert sentence.count(". ") == 0


def give(path: Path) -> None:
    """Give a path to another user."""
    os.chown(path, MALLORY, MALLORY)


def open_to_all(path: Path) -> None:
    """Let everybody write."""
    path.chmod(path.stat().st_mode | 0o022)


@pytest.mark.parametrize("way", [pytest.param(give, marks=as_root), open_to_all])
def test_a_file_that_another_user_may_write(machine: Machine, way: Callable[[Path], None]) -> None:
    """Anyone who may write it could open every connection: it is refused as the settings are."""
    way(machine.folder / NAME)
    assert machine.refusal().startswith(f"The certificate file (tls.ca_file) {machine.folder / NAME} ")


def test_a_folder_where_others_may_exchange_it(machine: Machine) -> None:
    """The folder that holds it is judged, too."""
    there = machine.folder / "there"
    there.mkdir()
    (machine.folder / NAME).rename(there / NAME)
    machine.write(f'mode = "test"\n[tls]\nca_file = "there/{NAME}"\n')
    open_to_all(there)
    assert f"The folder of the certificate file (tls.ca_file) {there} " in machine.refusal()


def test_a_good_file(machine: Machine) -> None:
    """A file that everybody may read, and nobody else write, is taken."""
    (machine.folder / NAME).chmod(0o444)
    assert load()[0][TlsSettings].ca_file == machine.folder / NAME


def test_settings_if_there_are_any(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file is named or there it counts, and must be good; without one, the variables count."""
    assert load_settings_if_any().mode == "test"
    machine.write("nonsense = 1")
    with pytest.raises(SettingsError, match="nonsense"):
        load_settings_if_any()
    with pytest.raises(SettingsError, match=r"no settings file .*missing\.toml"):
        load_settings_if_any(Path("missing.toml"))
    machine.file.unlink()
    machine.set(ORRERY_TLS__CA_FILE=NAME)
    assert load_settings_if_any()[TlsSettings].ca_file == machine.folder / NAME
    monkeypatch.setenv("ORRERY_TLS__CA_FILE", "missing.pem")
    with pytest.raises(SettingsError, match="is not there"):
        load_settings_if_any()
