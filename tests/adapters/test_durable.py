"""Files that are written as a whole."""

from pathlib import Path

import pytest

from orrery.durable import UNFINISHED, replace


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return where a file is to be."""
    return tmp_path / "me.json"


def test_what_lies_in_the_way_gives_neither_its_mode_nor_its_place(file: Path) -> None:
    """A file with the name of an unfinished one, which others may read or which is elsewhere too, is replaced."""
    elsewhere, unfinished = file.with_name("elsewhere"), file.with_name(file.name + UNFINISHED)
    elsewhere.write_bytes(b"before")
    elsewhere.chmod(0o666)
    unfinished.hardlink_to(elsewhere)
    replace(file, b"new")
    assert (file.read_bytes(), file.stat().st_mode & 0o777, elsewhere.read_bytes()) == (b"new", 0o600, b"before")


def test_what_cannot_be_replaced_leaves_nothing(file: Path) -> None:
    """The content of a file that failed does not stay beside it."""
    file.mkdir()
    with pytest.raises(IsADirectoryError):
        replace(file, b"new")
    assert [*file.parent.iterdir()] == [file]
