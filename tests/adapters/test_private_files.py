"""Files that nobody else may read: what is refused, and how they are written."""

import os
import threading
from pathlib import Path

import pytest

from orrery.adapters.own_process.command import failure
from orrery.adapters.private_files import OwnFile, PrivateFiles, write_new
from orrery.errors import DependencyFailed, NotConfigured
from orrery.ports.private_file import SignInFileUnusable


@pytest.fixture
def files(tmp_path: Path) -> PrivateFiles:
    """Return the files of a folder that is not there yet, nor is the one above it."""
    return PrivateFiles(tmp_path / "above" / "tenants")


def test_what_was_written_is_read(files: PrivateFiles) -> None:
    """A file is made with its folder, both for their owner only, whatever the mask is."""
    before = os.umask(0)
    try:
        files.change("A", lambda found: b"first" if found is None else b"wrong")
        files.change("A", lambda found: (found or b"") + b", second")
    finally:
        os.umask(before)
    assert files.read("A") == b"first, second"
    file = files.path_of("A")
    assert [one.stat().st_mode & 0o777 for one in (file, file.parent)] == [0o600, 0o700]
    assert [one.name for one in file.parent.iterdir()] == ["A.json"]


def test_a_file_that_is_not_there(files: PrivateFiles) -> None:
    """Reading makes nothing."""
    assert files.read("A") is None
    assert not files.path_of("A").parent.exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601])
def test_a_file_that_others_may_use(files: PrivateFiles, mode: int) -> None:
    """It is refused for reading and for writing, with what to type, and stays as it is."""
    files.change("A", lambda _: b"first")
    files.path_of("A").chmod(mode)
    for use in (lambda: files.read("A"), lambda: files.change("A", lambda _: b"second")):
        with pytest.raises(SignInFileUnusable, match=r"Other users may use .*A.json.*chmod 600"):
            use()
    assert files.path_of("A").read_bytes() == b"first"


@pytest.mark.parametrize("mode", [0o750, 0o705, 0o770])
def test_a_folder_that_others_may_use(files: PrivateFiles, mode: int) -> None:
    """They could see or replace the file."""
    files.change("A", lambda _: b"first")
    files.path_of("A").parent.chmod(mode)
    for use in (lambda: files.read("A"), lambda: files.change("A", lambda _: b"second")):
        with pytest.raises(SignInFileUnusable, match=r"Other users may use .*tenants.*chmod 700"):
            use()


def test_a_link_in_the_place_of_the_file(files: PrivateFiles) -> None:
    """It is not followed."""
    files.change("B", lambda _: b"other")
    files.path_of("A").symlink_to(files.path_of("B"))
    with pytest.raises(SignInFileUnusable):
        files.read("A")
    with pytest.raises(SignInFileUnusable):
        files.change("A", lambda _: b"second")
    assert files.read("B") == b"other"


def test_a_pipe_in_the_place_of_the_file(files: PrivateFiles) -> None:
    """It is refused instead of waited for."""
    files.change("B", lambda _: b"other")
    os.mkfifo(files.path_of("A"), 0o600)
    with pytest.raises(SignInFileUnusable, match="no plain file"):
        files.read("A")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_file_of_another_user(files: PrivateFiles) -> None:
    """What another user wrote is not believed."""
    files.change("A", lambda _: b"first")
    os.chown(files.path_of("A"), 12_345, -1)
    with pytest.raises(SignInFileUnusable, match="belongs to another user"):
        files.read("A")


def test_changes_at_the_same_time(files: PrivateFiles) -> None:
    """None is lost."""

    def add(found: bytes | None) -> bytes:
        return (found or b"") + b"."

    threads = [threading.Thread(target=files.change, args=("A", add)) for _ in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert files.read("A") == b"." * 20


def test_a_new_file_replaces_nothing(tmp_path: Path) -> None:
    """Nor does it leave anything beside the one that is there."""
    place = tmp_path / "key"
    write_new(place, "first")
    with pytest.raises(FileExistsError):
        write_new(place, "second")
    assert [one.read_text() for one in tmp_path.iterdir()] == ["first"]


def test_what_is_wrong_is_a_setting_and_what_breaks_is_none(tmp_path: Path) -> None:
    """A file that others may use is refused with 2; a folder that cannot be used ends with 1 (decision 54)."""
    path = tmp_path / "list"
    path.touch(mode=0o644)
    with pytest.raises(NotConfigured) as wrong:
        _ = OwnFile(path).read()
    assert wrong.value.exit_code == 2
    with pytest.raises(DependencyFailed, match="cannot be used") as broken:
        OwnFile(path / "below").change(lambda _: b"")
    assert broken.value.exit_code == 1


def test_another_process_that_cannot_run_keeps_its_kind() -> None:
    """Settings that are wrong there are wrong here."""
    assert [failure(code).exit_code for code in (1, 2, 3, -9)] == [1, 2, 1, 1]
