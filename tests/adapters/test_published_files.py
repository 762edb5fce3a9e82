"""What is published as files: what is read, and how it is written."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orrery.adapters.published_files import UNFINISHED
from orrery.errors import NotFound
from orrery.ports.publications import MOST_BYTES, MOST_ENTRIES, PublicationRefused
from tests.support.destinations import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a machine with both tracks."""
    return Desk(tmp_path)


def test_a_file_takes_the_place_of_one_that_is_there(desk: Desk) -> None:
    """It is another file then: who reads the one before reads it to its end."""
    place = desk.root / "blog" / "note.md"
    place.write_bytes(b"before")
    with place.open("rb") as reader:
        desk.publishing.publish(desk.write("note.md"), "blog")
        assert reader.read() == b"before"
    assert desk.public() == {"blog/note.md": b"Hello.\n"}


@pytest.mark.parametrize("there", ["a folder", "an empty folder", "a file"])
def test_a_folder_replaces_nothing(desk: Desk, there: str) -> None:
    """A folder is refused where something of its name is."""
    place = desk.root / "blog" / "site"
    if there == "a file":
        place.write_bytes(b"before")
    else:
        place.mkdir()
        if there == "a folder":
            (place / "before.md").write_bytes(b"before")
    desk.write("site/a.md")
    before = desk.public()
    with pytest.raises(PublicationRefused, match="is there already"):
        desk.publishing.publish(desk.source / "site", "blog")
    assert (desk.public(), place.is_dir()) == (before, there != "a file")


def test_a_file_does_not_replace_a_folder(desk: Desk) -> None:
    """Where a folder has the name, the file is refused in words."""
    (desk.root / "blog" / "note.md").mkdir()
    with pytest.raises(PublicationRefused, match="is a folder: name the file"):
        desk.publishing.publish(desk.write("note.md"), "blog")


@pytest.mark.parametrize("source", ["gone.md", "gone/gone.md"])
def test_a_missing_source_is_refused(desk: Desk, source: str) -> None:
    """The caller named what is not there."""
    desk.refused(NotFound, desk.source / source)


def _links(folder: Path) -> None:
    (folder / "link.md").symlink_to("a.md")


def _links_to_a_folder(folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent)


def _pipes(folder: Path) -> None:
    os.mkfifo(folder / "pipe")


def _hides(folder: Path) -> None:
    (folder / ".env").write_bytes(b"")


def _versions(folder: Path) -> None:
    (folder / ".git").mkdir()


def _has_a_nameless_one(folder: Path) -> None:
    (folder / os.fsdecode(b"caf\xe9.md")).write_bytes(b"")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_links, "link.md is a symbolic link"),
        (_links_to_a_folder, "link is a symbolic link"),
        (_pipes, "pipe is neither a file nor a folder"),
        (_hides, ".env is hidden"),
        (_versions, ".git is hidden"),
        (_has_a_nameless_one, "is not printable text"),
    ],
)
def test_a_folder_has_files_only(desk: Desk, spoil: Callable[[Path], None], said: str) -> None:
    """A link, a pipe, or anything hidden in a folder refuses all of it, by its name."""
    desk.write("site/a.md")
    spoil(desk.source / "site")
    desk.refused(PublicationRefused, desk.source / "site", said=said)


def test_a_link_is_refused_by_itself(desk: Desk) -> None:
    """A symbolic link to a file or to a folder is not what it leads to."""
    desk.write("site/a.md")
    for name, leads in (("file", "site/a.md"), ("folder", "site"), ("nowhere", "gone")):
        (desk.source / name).symlink_to(leads)
        desk.refused(PublicationRefused, desk.source / name, said="is a symbolic link")


def test_a_hidden_file_may_be_named(desk: Desk) -> None:
    """Who names it sees it; but nothing of git's own."""
    desk.publishing.publish(desk.write(".nojekyll", b""), "blog")
    assert desk.public() == {"blog/.nojekyll": b""}
    git = desk.write(".git/config")
    for source in (git, git.parent):
        with pytest.raises(PublicationRefused, match="git's own"):
            desk.publishing.publish(source, "blog/config")


def test_a_folder_without_a_file_is_refused(desk: Desk) -> None:
    """There is nothing to publish in it."""
    (desk.source / "site" / "empty").mkdir(parents=True)
    desk.refused(PublicationRefused, desk.source / "site", said="There is no file")


def test_a_publication_is_bounded(desk: Desk) -> None:
    """More bytes or more files than one may have are refused before they are scanned."""
    for name in ("site/a", "site/b"):
        with desk.write(name).open("wb") as file:
            file.truncate(MOST_BYTES // 2 + 1)
    desk.refused(PublicationRefused, desk.source / "site", said="larger than 100 MiB")
    for number in range(MOST_ENTRIES + 1):
        (desk.source / "many" / str(number)).mkdir(parents=True)
    desk.refused(PublicationRefused, desk.source / "many", said="more than 2000 files and folders")


def test_what_a_killed_publication_left_is_removed(desk: Desk) -> None:
    """The next publication to the same destination removes it, and leaves nothing of its own."""
    left = desk.root / "blog" / UNFINISHED / "new"
    left.parent.mkdir()
    left.write_bytes(b"Hel")
    desk.publishing.publish(desk.write("note.md"), "blog")
    assert [one.name for one in (desk.root / "blog").iterdir()] == ["note.md"]


def test_nothing_is_published_where_it_is_staged(desk: Desk) -> None:
    """What lies there is removed."""
    with pytest.raises(PublicationRefused, match="is where Orrery itself writes"):
        desk.publishing.publish(desk.write("note.md"), f"blog/{UNFINISHED}/note.md")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_destination_that_cannot_be_written_to(desk: Desk) -> None:
    """It is refused before anything is scanned."""
    (desk.root / "blog").chmod(0o500)
    desk.refused(PublicationRefused, desk.write("note.md"), said="cannot be written to")


def test_a_failed_write_leaves_nothing(desk: Desk) -> None:
    """Where a file is in the way of a folder, that is said, and nothing is left."""
    (desk.root / "blog" / "posts").write_bytes(b"before")
    with pytest.raises(PublicationRefused, match="cannot be written"):
        desk.publishing.publish(desk.write("note.md"), "blog/posts/note.md")
    assert [one.name for one in (desk.root / "blog").iterdir()] == ["posts"]
