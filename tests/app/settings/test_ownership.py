"""Who may write a settings file or a secret decides where money goes: another user may not (decision 50)."""

import grp
import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest

from orrery.app.settings.ownership import NO_REASON, Users, why_foreign
from orrery.app.settings.reader import load, load_settings, load_usable
from orrery.app.settings.secret_observation import observe
from orrery.secrets.fingerprints import DIRECTORY, Fingerprints
from tests.support.machine import MARK, SECRETS, Machine, machine_in
from tests.support.tables import each_case

MALLORY = 54_321
"""A user who is neither root nor the one who runs the tests."""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine in test mode with one secret, in a folder that nobody else may write."""
    machine = machine_in(tmp_path, monkeypatch)
    machine.write(f'mode = "test"\n{SECRETS}')
    machine.secret("processor_api_key", f"sk_test_{MARK}").chmod(0o700)
    return machine


def give(path: Path) -> None:
    """Give a path to another user."""
    os.chown(path, MALLORY, MALLORY)


def open_to_all(path: Path) -> None:
    """Let everybody write."""
    path.chmod(path.stat().st_mode | 0o022)


PLACES: dict[str, Callable[[Machine], Path]] = {
    "The settings file": lambda machine: machine.file,
    "The folder of the settings file": lambda machine: machine.folder,
    "The secrets directory": lambda machine: machine.folder / "secrets",
    "The secret file": lambda machine: machine.folder / "secrets" / "processor_api_key",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", [pytest.param(give, marks=as_root), open_to_all])
def test_what_another_user_may_write_is_refused(machine: Machine, place: str, way: Callable[[Path], None]) -> None:
    """A file or folder of another user, or one that others may write, stops the start in one sentence."""
    path = PLACES[place](machine)
    way(path)
    said = machine.refusal()
    assert said.startswith(f"{place} {path} ")
    assert ("belongs to" if way is give else f"chmod go-w {path}") in said
    assert said.count(". ") == 0


def test_files_that_others_may_read_are_believed(machine: Machine) -> None:
    """The usual modes of files and folders are taken."""
    machine.file.chmod(0o644)
    machine.folder.chmod(0o755)
    (machine.folder / "secrets" / "processor_api_key").chmod(0o444)
    assert load()[1].reveal("processor_api_key")


def test_a_file_of_ones_own_in_a_folder_like_tmp(machine: Machine) -> None:
    """In a sticky folder nobody else can replace a file: one's own is believed there."""
    machine.folder.chmod(0o1777)
    assert load()[0].mode == "test"


@as_root
def test_anothers_file_in_a_folder_like_tmp(machine: Machine) -> None:
    """What somebody left for root in a folder such as /tmp is refused, and not passed over."""
    machine.folder.chmod(0o1777)
    give(machine.file)
    assert f"The settings file {machine.file} belongs to" in machine.refusal()


@as_root
def test_a_link_that_another_user_laid(machine: Machine) -> None:
    """A link of another user could lead somewhere else tomorrow: it is refused though its target is one's own."""
    machine.file.rename(machine.folder / "real.toml")
    machine.file.symlink_to("real.toml")
    assert load()[0].mode == "test"
    os.chown(machine.file, MALLORY, MALLORY, follow_symlinks=False)
    assert f"The settings file {machine.file} belongs to" in machine.refusal()


def test_the_folder_behind_a_link_counts(machine: Machine) -> None:
    """A link of one's own into a folder where others may replace files is refused."""
    there = machine.folder / "there"
    there.mkdir()
    machine.file.rename(there / "real.toml")
    machine.file.symlink_to("there/real.toml")
    open_to_all(there)
    assert f"The folder of the settings file {there} " in machine.refusal()


def test_secrets_of_the_environment_are_no_files(machine: Machine) -> None:
    """A secret in a variable belongs to the one who started the command."""
    machine.write('mode = "test"')
    machine.set(ORRERY_PROCESSOR_API_KEY=f"sk_test_{MARK}")
    assert load()[1].reveal("processor_api_key")


def test_the_credentials_directory_is_held_to_the_same(machine: Machine) -> None:
    """What a service manager is said to hand over is no secret when others may write it."""
    machine.set(CREDENTIALS_DIRECTORY=str(machine.folder / "secrets"))
    open_to_all(machine.folder / "secrets")
    assert "The secrets directory" in machine.refusal()


def test_an_examination_names_the_one_secret(machine: Machine) -> None:
    """`secrets check` tells of the one file that others may write; the others are used."""
    machine.secret("push_token", MARK)
    open_to_all(machine.folder / "secrets" / "push_token")
    _, secrets = load_usable()
    assert [*secrets.troubles] == ["push_token"]
    assert "chmod go-w" in secrets.troubles["push_token"]
    assert (secrets.reveal("push_token"), secrets.reveal("processor_api_key")) == (None, f"sk_test_{MARK}")


def test_an_examination_names_the_folder(machine: Machine) -> None:
    """`secrets check` uses nothing from a folder that others may write, and says so of the folder."""
    open_to_all(machine.folder / "secrets")
    _, secrets = load_usable()
    assert [*secrets.troubles] == [""]
    assert "The secrets directory" in secrets.troubles[""]
    assert secrets.values() == []


def test_the_service_notices_while_it_runs(machine: Machine) -> None:
    """What the next start would stop at is seen at the next look."""
    open_to_all(machine.folder / "secrets" / "processor_api_key")
    seen = observe(load_settings(), Fingerprints.of_store(b"the tests' own store key"))
    assert seen[DIRECTORY].state == "refused"


USERS = Users(
    {"ann": pwd.struct_passwd(("ann", "x", 1000, 1000, "", "", "")),
     "bob": pwd.struct_passwd(("bob", "x", 1001, 100, "", "", "")),
     "cat": pwd.struct_passwd(("cat", "x", 1002, 100, "", "", ""))}.values(),
    {"ann": grp.struct_group(("ann", "x", 1000, [])),
     "users": grp.struct_group(("users", "x", 100, [])),
     "dora": grp.struct_group(("dora", "x", 1003, []))}.values(),
)  # fmt: skip


def status(mode: int, user: int, group: int) -> os.stat_result:
    """Return what the system says of a file."""
    return os.stat_result((0o100000 | mode, 1, 1, 1, user, group, 0, 0, 0, 0))


@each_case(
    ("mode", "user", "group", "asks", "believed"),
    [
        (0o664, 1000, 1000, 1000, True),  # a group of one's own, as Debian and Fedora give
        (0o664, 1000, 100, 1000, False),  # another group of theirs
        (0o664, 1001, 100, 1001, False),  # a group that is the first one of several
        (0o664, 1000, 77, 1000, False),  # a group without a name
        (0o666, 1000, 1000, 1000, False),
        (0o644, 1000, 1000, 1001, False),
        (0o644, 0, 0, 1001, True),  # root's file is everybody's to believe
        (0o660, 0, 1000, 1000, True),  # who asks is the only one in the group
        (0o660, 0, 1000, 0, False),  # root does not believe what ann may write
        (0o600, 1000, 1000, 0, False),
    ],
)
def test_a_group_of_ones_own_is_oneself(mode: int, user: int, group: int, asks: int, believed: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """A group may write when nobody is in it but those who are believed anyway."""
    why = why_foreign(status(mode, user, group), asks, USERS)
    assert (why == NO_REASON) is believed


def test_a_group_that_somebody_joined() -> None:
    """A group of one's own that another user was added to is a group like any other."""
    joined = Users(USERS.accounts, [grp.struct_group(("ann", "x", 1000, ["ann", "bob"]))])
    assert "group" in why_foreign(status(0o664, 1000, 1000), 1000, joined)
