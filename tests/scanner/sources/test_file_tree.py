"""Files and folders as they are on a disk, also where somebody meant no good."""

import os
import socket
import tempfile
from itertools import islice
from pathlib import Path

import pytest

from orrery.adapters.file_tree import SORTED, FileTree
from orrery.errors import Invalid, NotFound
from orrery.ports.scanned import Item, NotRead
from tests.support.repositories import every, names, new_repo, texts, unread


def test_everything_in_a_folder_is_read(tmp_path: Path) -> None:
    """Each file comes at its place, in order, with a name that the folder's own path is no part of."""
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "d.txt").write_text("deep")
    (tmp_path / "a.txt").write_text("flat")
    found = [(item.place, item.name, text) for item, text in every(FileTree([tmp_path]))]
    assert found == [
        (f"{tmp_path}/a.txt", "a.txt", b"flat"),
        (f"{tmp_path}/b", "b", b""),
        (f"{tmp_path}/b/c", "b/c", b""),
        (f"{tmp_path}/b/c/d.txt", "b/c/d.txt", b"deep"),
    ]


def test_the_folder_here_has_short_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a path the places are as a person types them."""
    (tmp_path / "a.txt").write_text("flat")
    monkeypatch.chdir(tmp_path)
    assert texts(FileTree([Path()])) == {"a.txt": b"flat"}


def test_a_file_may_be_named(tmp_path: Path) -> None:
    """A file is searched with its own name, and not with the folder's that holds it."""
    (tmp_path / "a.txt").write_text("flat")
    assert names(FileTree([tmp_path / "a.txt"])) == ["a.txt"]


def test_links_are_texts(tmp_path: Path) -> None:
    """What a link leads to is a text that is searched, and not followed: neither out of the folder nor around."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "outside.txt").write_text("not for you")
    (inside / "up").symlink_to("..")
    (inside / "out").symlink_to("../outside.txt")
    (inside / "nowhere").symlink_to("/gone")
    assert sorted(texts(FileTree([inside])).values()) == [b"..", b"../outside.txt", b"/gone"]


def test_a_path_that_is_a_link_is_followed(tmp_path: Path) -> None:
    """A destination may be a link to the folder of today; one that leads nowhere is a text."""
    (tmp_path / "today").mkdir()
    (tmp_path / "today" / "a.txt").write_text("flat")
    (tmp_path / "current").symlink_to("today")
    (tmp_path / "file").symlink_to("today/a.txt")
    (tmp_path / "broken").symlink_to("gone")
    for name, text in (("current", b"flat"), ("file", b"flat"), ("broken", b"gone")):
        assert list(texts(FileTree([tmp_path / name])).values()) == [text]


def test_what_is_no_file_is_never_opened(tmp_path: Path) -> None:
    """A pipe, a socket and a device are named: opening the first would wait until somebody writes to it."""
    os.mkfifo(tmp_path / "pipe")
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as bound:
        bound.bind(f"{short}/s")
        found = unread(FileTree([tmp_path, Path(short), Path("/dev/null")]))
    assert [one.why for one in found] == [
        f"it is {kind}, and not a file" for kind in ("a pipe", "a socket", "a device")
    ]


def test_odd_names_are_read(tmp_path: Path) -> None:
    """A name with line ends, quotes, or bytes that are no text is a name like any other."""
    odd = [b"line\nend", b"ta\tb", b"quo\"te'", b"\xff\xfe", b"-rf", b" "]
    for name in odd:
        (Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))).write_bytes(name)
    found = {os.fsencode(item.name): text for item, text in every(FileTree([tmp_path]))}
    assert found == {name: name for name in odd}


def test_an_error_of_the_disk_is_named(tmp_path: Path) -> None:
    """What the system will not give is named, with its reason: here for too long a path, as root may read all."""
    deep = tmp_path
    opened = os.open(tmp_path, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=opened)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=opened)
        os.close(opened)
        opened, deep = below, deep / ("d" * 200)
    os.close(opened)
    found = unread(FileTree([tmp_path]))
    assert [one.why for one in found] == ["the folder cannot be read: File name too long"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything; the test above shows the same for root")
def test_what_may_not_be_read_is_named(tmp_path: Path) -> None:
    """A file and a folder without permission are named."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "file").chmod(0)
    (tmp_path / "folder").mkdir(mode=0)
    assert len(unread(FileTree([tmp_path]))) == 2


def test_a_file_that_vanishes_is_named(tmp_path: Path) -> None:
    """One that was listed, and is gone before it is opened, could not be searched."""
    for name in ("a", "b"):
        (tmp_path / name).write_text("x")
    items = FileTree([tmp_path]).items()
    next(items)
    (tmp_path / "b").unlink()
    assert list(items) == [NotRead(f"{tmp_path}/b", "it cannot be read: No such file or directory")]


def test_a_file_that_grows_has_an_end(tmp_path: Path) -> None:
    """What is added while a file is read is not read: a log could grow as fast as it is read."""
    file = tmp_path / "log"
    file.write_text("one\n")
    items = FileTree([file]).items()
    item = next(items)
    assert isinstance(item, Item)
    with file.open("a") as log:
        log.write("two\n")
    assert item.content.read() == b"one\n"
    assert list(items) == []


def test_a_file_that_is_cut_is_named(tmp_path: Path) -> None:
    """One that became shorter while it was read was not all searched."""
    file = tmp_path / "log"
    file.write_text("x" * 100)
    items = FileTree([file]).items()
    item = next(items)
    assert isinstance(item, Item)
    file.write_text("x")
    assert item.content.read() == b"x"
    assert list(items) == [NotRead(str(file), "it became shorter while it was read")]


def test_a_file_that_hides_its_size_is_named() -> None:
    """A file of the system says that it is empty, and is not; some mounted folders have such files, too."""
    assert unread(FileTree([Path("/proc/self/status")])) == [NotRead("/proc/self/status", "its size is unknown")]


def test_a_content_can_be_sought_in(tmp_path: Path) -> None:
    """An archive is read from its end."""
    (tmp_path / "zip").write_bytes(b"0123456789")
    items = FileTree([tmp_path / "zip"]).items()
    item = next(items)
    assert isinstance(item, Item)
    item.content.seek(-3, os.SEEK_END)
    assert item.content.read(2) == b"78"
    item.content.seek(1)
    assert (item.content.tell(), item.content.read(1), item.size) == (1, b"1", 10)


def test_a_large_folder_begins_at_once(tmp_path: Path) -> None:
    """The first file of a folder comes while it is still being listed; none is left out."""
    for number in range(SORTED + 3):
        (tmp_path / f"{number:05}").touch()
    items = FileTree([tmp_path]).items()
    begun = list(islice(items, 1))
    assert str(tmp_path) in {os.path.realpath(one.path) for one in os.scandir("/proc/self/fd")}
    assert len({item.place for item in (*begun, *items)}) == SORTED + 3


def test_a_repository_is_left_to_the_search_of_its_history(tmp_path: Path) -> None:
    """Git's own folders are compressed; they are left out, known, and the summary says how to search them."""
    new_repo(tmp_path / "work").write("a.txt", "flat")
    new_repo(tmp_path / "bare.git", "--bare")
    tree = FileTree([tmp_path])
    assert [text for text in texts(tree).values() if text] == [b"flat"]
    assert tree.repositories == [f"{tmp_path}/bare.git", f"{tmp_path}/work"]
    (note,) = tree.notes
    assert note.startswith("2 folders are repositories, with a history that was not searched: ")


def test_what_cannot_be_searched_at_all_is_refused(tmp_path: Path) -> None:
    """A path that does not exist, or that is git's own, is one sentence before anything is read."""
    repo = new_repo(tmp_path)
    with pytest.raises(NotFound, match=r"^There is no file or folder .*gone\.$"):
        FileTree([tmp_path / "gone"])
    with pytest.raises(Invalid, match="is git's own folder"):
        FileTree([repo.folder / ".git"])
