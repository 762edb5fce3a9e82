"""The watch-list where it lies: where it may not, who may use it, and what is said of a missing key."""

import multiprocessing
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orrery.app.scan.files import scan_files
from orrery.app.scan.found import NO_LIST
from orrery.app.settings.variables import SettingsError
from orrery.errors import NotConfigured
from orrery.scanner.watch_list import WatchListEntry
from tests.support.scan_user import SECRETS, TRACKS, ScanUser

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--quiet", folder], check=True)  # noqa: S603, S607  real git
    return folder / "deep" / "list"


def bare(folder: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", "--bare", folder], check=True)  # noqa: S603, S607  real git
    return folder / "list"


def worktree(folder: Path) -> Path:
    """A further work tree has a file `.git`, which is no folder."""
    folder.mkdir()
    (folder / ".git").write_text("gitdir: /elsewhere\n")
    return folder / "list"


def link_into(folder: Path) -> Path:
    repository(folder).parent.mkdir()
    link = folder.with_name("link")
    link.symlink_to(folder / "deep")
    return link / "list"


def link_out_of(folder: Path) -> Path:
    """A link in a repository may be replaced by what it leads to."""
    repository(folder)
    folder.with_name("out").mkdir()
    (folder / "link").symlink_to(folder.with_name("out"))
    return folder / "link" / "list"


@pytest.mark.parametrize("place", [repository, bare, worktree, link_into, link_out_of])
def test_a_list_in_a_repository_is_refused(user: ScanUser, place: Callable[[Path], Path]) -> None:
    """Neither a command nor a scan takes it: one day it would be pushed."""
    path = place(user.home / "code")
    user.write(f'[scan]\nwatch_list = "{path}"\n')
    with pytest.raises(SettingsError, match=r"is in the repository .*Set `watch_list` in \[scan\]"):
        user.watch_list()
    path.parent.mkdir(exist_ok=True)
    path.touch()
    with pytest.raises(SettingsError, match="is in the repository"):
        user.load()


def test_what_was_pushed_lies_in_no_repository(user: ScanUser) -> None:
    """The same is true of the file in which that is noted."""
    user.write(f'[scan]\ntold = "{repository(user.home / "code")}"\n')
    with pytest.raises(SettingsError, match=r"The file of what was pushed .* is in the repository"):
        scan_files(None).pushed()


def test_a_list_in_a_destination_is_refused(user: ScanUser) -> None:
    """What lies there is read by others, whichever track it is of."""
    shared = user.home / "shared"
    place = f'[[tenants.B.destinations]]\nname = "team"\nkind = "shared-folder"\nfolder = "{shared}"\n'
    user.write(f'[scan]\nwatch_list = "{shared}/deep/list"\n{TRACKS}{place}')
    with pytest.raises(SettingsError, match="is in the destination team"):
        user.watch_list()


def test_no_list_is_said_once(user: ScanUser) -> None:
    """Without a list the other rules run, and a note says what is not searched for."""
    user.write("")
    assert user.load().notes == (NO_LIST,)


def test_a_list_without_its_key_fails(user: ScanUser) -> None:
    """It is never taken for an empty one; the sentence says where the key belongs, and what to do."""
    user.with_list()
    user.key_file.unlink()
    with pytest.raises(NotConfigured) as refused:
        user.load()
    said = str(refused.value)
    for part in (str(user.list_path), str(user.key_file), "passwords", "orrery tenants watch new-key"):
        assert part in said


def test_a_list_is_found_without_a_settings_file(user: ScanUser) -> None:
    """A lost settings file does not switch the list off: it stays in the user's folder, and wants its key."""
    user.with_list()
    key = user.key_file.read_text()
    (user.config / "orrery.toml").unlink()
    with pytest.raises(NotConfigured, match=r"its key, the secret watch_list_key \(no `directory`"):
        user.load()
    user.set(ORRERY_WATCH_LIST_KEY=key)
    assert len(user.load().policy.terms) == 1


def test_a_folder_that_others_may_write_is_refused(user: ScanUser) -> None:
    """They could put an older list in its place, or take it away."""
    user.with_list()
    user.write(SECRETS, user.home / "other" / "orrery.toml")
    user.config.chmod(0o777)
    with pytest.raises(SettingsError, match="may be written by everybody"):
        user.load(user.home / "other" / "orrery.toml")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o602])
def test_a_list_that_others_may_use_is_refused(user: ScanUser, mode: int) -> None:
    """In one sentence, with what to type."""
    user.with_list()
    user.list_path.chmod(mode)
    with pytest.raises(NotConfigured, match=rf"Other users may use {user.list_path}.*chmod 600"):
        user.load()


@as_root
def test_a_list_of_another_user_is_refused(user: ScanUser) -> None:
    """It is not read, whatever its mode."""
    user.with_list()
    os.chown(user.list_path, 54_321, 54_321)
    with pytest.raises(NotConfigured, match="belongs to another user"):
        user.load()


def test_adders_at_once_lose_nothing(user: ScanUser) -> None:
    """Two commands in two terminals both come through."""
    user.with_list()
    watch_list = user.watch_list()

    def add(which: int) -> None:
        for number in range(5):
            entry = WatchListEntry("project", f"p{which}-{number}", "d")
            watch_list.change(lambda found, entry=entry: found.with_entries([entry]))

    fork = multiprocessing.get_context("fork")
    adders = [fork.Process(target=add, args=(which,)) for which in range(4)]
    for one in adders:
        one.start()
    for one in adders:
        one.join()
    assert [one.exitcode for one in adders] == [0] * 4
    assert len(user.load().policy.terms) == 21
