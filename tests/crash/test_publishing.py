"""Publishing under `kill -9`: a file is the one before or the new one, and a folder is whole or absent."""

from pathlib import Path

import pytest

from orrery.adapters.published_files import UNFINISHED
from tests.crash.publication_worker import CONTENT, publish
from tests.crash.workers import killed_at_each_step

BEFORE = b"before"


def public(place: Path) -> dict[str, bytes]:
    """Return what a reader of the destination finds; what is unfinished is hidden, and has another name."""
    blog = place / "blog"
    found = {one.relative_to(blog): one for one in blog.rglob("*") if one.is_file()}
    return {str(name): one.read_bytes() for name, one in found.items() if name.parts[0] != UNFINISHED}


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """Return a place with a destination, in which the file is already."""
    place = tmp_path / "before"
    (place / "blog" / "posts").mkdir(parents=True)
    (place / "blog" / "posts" / "note.md").write_bytes(BEFORE)
    return place


@pytest.mark.parametrize(("what", "files", "folders"), [("file", 1, 0), ("folder", 2, 2)])
def test_a_kill_at_each_step(what: str, files: int, folders: int, tmp_path: Path, before: Path) -> None:
    """Nothing is half, whatever the step; and the next publication is as if there had been no kill.

    It outlives a power cut: the content is on the disk before anything has its name, and the name before the end.
    """
    folder = tmp_path / "killed"
    folder.mkdir()
    old = {"posts/note.md": BEFORE}
    new = (
        {"posts/note.md": CONTENT} if what == "file" else old | {"site/a.md": CONTENT, "site/posts/b.md": CONTENT}
    )
    steps = killed_at_each_step("crash.publication_worker", what, folder, before)
    outcomes = [public(folder / str(step)) for step in range(1, len(steps) + 2)]
    assert [one for one in outcomes if one not in (old, new)] == []
    assert (outcomes[0], outcomes[-1]) == (old, new)
    assert {"c_call flock", "c_call write", "c_return fsync", "c_call replace", "c_return replace"} <= {*steps}
    for step, outcome in enumerate(outcomes, start=1):
        if outcome == old:
            publish(folder / str(step), what)
            assert public(folder / str(step)) == new
            assert not (folder / str(step) / "blog" / UNFINISHED).exists()
    kept = [one for one in steps if one in {"c_return write", "c_return fsync", "c_return replace"}]
    content = ["c_return write", "c_return fsync"] * files + ["c_return fsync"] * folders
    assert kept == [*content, "c_return replace", "c_return fsync", "c_return fsync"]
