"""The watch-list and its key under `kill -9`: the one before or the new one, and never a part."""

from pathlib import Path

import pytest

from orrery.scanner.watch_list import WatchList, WatchListEntry
from tests.crash.watch_list_worker import KEY, act, watch_list_in
from tests.crash.workers import killed_at_each_step


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """Return a folder with a list of one entry."""
    place = tmp_path / "before"
    place.mkdir()
    watch_list_in(place).change(lambda _: WatchList((WatchListEntry("project", "first", "d"),)))
    return place


def test_a_list_is_never_half(tmp_path: Path, before: Path) -> None:
    """At each step there is the old or the new list, and the next change is as if there had been no kill."""
    folder = tmp_path / "killed"
    folder.mkdir()
    steps = killed_at_each_step("crash.watch_list_worker", "add", folder, before)
    assert {"c_call flock", "c_call write", "c_return fsync", "c_call replace", "c_return replace"} <= {*steps}
    kept = list[int]()
    for step in range(1, len(steps) + 2):
        place = folder / str(step)
        kept.append(len((watch_list_in(place).read() or WatchList()).entries))
        act(place, "add")
        assert len((watch_list_in(place).read() or WatchList()).entries) == 2
        assert [one.name for one in place.iterdir()] == ["watch-list"]
    assert kept == sorted(kept)
    assert {*kept} == {1, 2}


def test_a_key_is_whole_or_absent(tmp_path: Path) -> None:
    """A kill leaves no empty secret file, which would stop the next try."""
    before, folder = tmp_path / "before", tmp_path / "killed"
    for one in (before, folder):
        one.mkdir()
    steps = killed_at_each_step("crash.watch_list_worker", "key", folder, before)
    for step in range(1, len(steps) + 2):
        file = folder / str(step) / "watch_list_key"
        if not file.exists():
            act(file.parent, "key")
        assert file.read_text() == KEY
        assert file.stat().st_mode & 0o777 == 0o600
