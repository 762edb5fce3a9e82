"""Folders for what is not finished."""

from pathlib import Path

import pytest

from orrery.working_folder import working_folder


def test_a_working_folder_has_one_holder(tmp_path: Path) -> None:
    """Another is refused and changes nothing in it; what a killed one left is deleted, its folders too."""
    path = tmp_path / "unfinished"
    (path / "left").mkdir(parents=True)
    (path / "left" / "file").touch()
    with working_folder(path):
        assert list(path.iterdir()) == []
        (path / "new").touch()
        with pytest.raises(BlockingIOError), working_folder(path):
            pass
        assert (path / "new").exists()
    assert not path.exists()
