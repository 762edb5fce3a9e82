"""Dated snapshots: the newest stay, and nothing else is touched."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from orrery.adapters.snapshot_folder import SnapshotFolder
from orrery.working_folder import working_folder

NOW = datetime(2026, 11, 21, 3, 4, 5, tzinfo=UTC)


def test_the_newest_stay(tmp_path: Path) -> None:
    """Of ten snapshots, in whatever order they were made, the three newest stay."""
    folder = SnapshotFolder(tmp_path, 3)
    files = [folder.file_at(NOW - timedelta(days=days)) for days in (3, 1, 9, 0, 2, 8, 4, 6, 7, 5)]
    for file in files:
        file.touch()
    assert folder.thin_out() == 7
    assert sorted(tmp_path.iterdir()) == sorted(folder.file_at(NOW - timedelta(days=days)) for days in range(3))
    assert folder.newest() == NOW


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    """What has another name is neither counted nor deleted."""
    folder = SnapshotFolder(tmp_path, 1)
    others = (
        "orrery.db",
        "orrery-before-the-move.db",
        "orrery-20261121T030405Z.db.gz",
        ".orrery-20261121T030405Z.db",
    )
    for name in (*others, "orrery-20261399T030405Z.db"):
        (tmp_path / name).touch()
    assert folder.newest() is None
    assert folder.thin_out() == 0
    folder.file_at(NOW).touch()
    assert folder.newest() == NOW
    assert {*others} <= {file.name for file in tmp_path.iterdir()}


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """Without the folder there is no snapshot."""
    assert SnapshotFolder(tmp_path / "gone", 1).newest() is None


def test_a_running_backup_stays(tmp_path: Path) -> None:
    """What a killed one has left goes; one that is still at work has its file, whichever ends first."""
    folder = SnapshotFolder(tmp_path, 1)
    folder.file_at(NOW).touch()
    left, running = (tmp_path / f".orrery-{day}T030405Z.db.unfinished" for day in (20261119, 20261120))
    left.mkdir()
    (left / "new").touch()
    with working_folder(running):
        (running / "new").touch()
        folder.thin_out()
        assert (running / "new").exists()
        assert not left.exists()
