"""What may become public reaches a destination of track B, and nothing else does."""

import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from orrery.adapters.no_scanner import NoScanner
from orrery.adapters.published_files import UNFINISHED, PublishedFiles
from orrery.errors import Invalid, NotConfigured, NotFound, OrreryError, PublicationRefused, TrackRefused
from orrery.ports.publications import MOST_BYTES, MOST_ENTRIES
from orrery.ports.scanner import Leak
from orrery.tenants.publishing import Publishing
from orrery.tenants.settings import TenantsSettings
from tests.support.destinations import destination, publishing_in, track, tracks_in
from tests.support.scanners import WordScanner

LABEL_OF_A = b'[{"track": "A", "title": "A secret"}]'


class Desk:
    """A machine with both tracks, where the scanner looks for one word."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.scanner = WordScanner()
        self.publishing = publishing_in(root, self.scanner, root / "kept" / "cockpit.db", root / "kept" / "signs")
        self.source = root / "own"
        self.source.mkdir()

    def write(self, name: str, content: bytes = b"Hello.\n") -> Path:
        """Write a file that may be published."""
        file = self.source / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return file

    def public(self) -> dict[str, bytes]:
        """Return everything that lies in the destinations, of both tracks."""
        places = [self.root / name for name in ("team", "blog", "code")]
        found = [one for place in places for one in place.rglob("*") if one.is_symlink() or not one.is_dir()]
        return {one.relative_to(self.root).as_posix(): one.read_bytes() for one in found}

    def refused(self, kind: type[OrreryError], source: Path, to: str = "blog", said: str = ".") -> None:
        """See that nothing is published, and neither scanned nor changed."""
        before = self.public()
        with pytest.raises(kind, match=said) as raised:
            self.publishing.publish(source, to)
        assert type(raised.value) is kind
        assert (self.public(), self.scanner.seen) == (before, [])


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a machine with both tracks."""
    return Desk(tmp_path)


@pytest.mark.parametrize(
    ("to", "place"),
    [
        ("blog", "blog/note.md"),
        ("blog/", "blog/note.md"),
        ("blog/a.md", "blog/a.md"),
        ("blog/2026/12/a.md", "blog/2026/12/a.md"),
        ("blog/posts/", "blog/posts/note.md"),
        ("code/docs/a.md", "code/docs/a.md"),
    ],
)
def test_a_file_reaches_its_place(desk: Desk, to: str, place: str) -> None:
    """It keeps its name unless the destination has another; the folders above it are made."""
    published = desk.publishing.publish(desk.write("note.md"), to)
    assert desk.public() == {place: b"Hello.\n"}
    assert f"{published.destination}/{published.path}" == place


def test_what_was_published_is_reported(desk: Desk) -> None:
    """Where, of which track, and each file with its size and its digest."""
    desk.write("site/a.md", b"one")
    desk.write("site/b/c.md", b"three")
    published = desk.publishing.publish(desk.source / "site", "code/docs")
    assert (published.destination, published.kind, published.track, published.path, published.bytes) == (
        "code",
        "repository",
        "B",
        "docs",
        8,
    )
    assert {(one.name, one.bytes, one.sha256) for one in published.files} == {
        ("a.md", 3, sha256(b"one").hexdigest()),
        ("b/c.md", 5, sha256(b"three").hexdigest()),
    }
    assert desk.public() == {"code/docs/a.md": b"one", "code/docs/b/c.md": b"three"}


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


def test_nothing_goes_to_track_a(desk: Desk) -> None:
    """A destination of track A is internal: nothing is published there, by file or by standard input."""
    desk.refused(TrackRefused, desk.write("note.md"), "team", "team is of track A, whose data is internal")
    with pytest.raises(TrackRefused, match="internal"):
        desk.publishing.publish_text(b"Hello.", "team/note.md")
    assert desk.public() == {}


@pytest.mark.parametrize("to", ["nowhere", "", "BLOG", "/blog", "../blog"])
def test_an_unknown_destination_is_refused(desk: Desk, to: str) -> None:
    """The refusal names those that there are."""
    desk.refused(NotFound, desk.write("note.md"), to, "blog, code, news")


def test_without_track_b_nothing_is_published(tmp_path: Path) -> None:
    """The settings must have the track whose material is public."""
    publishing = Publishing(TenantsSettings(), WordScanner(), PublishedFiles())
    with pytest.raises(Invalid, match=r"add \[tenants.B\]"):
        publishing.publish(tmp_path, "blog")


def test_a_label_of_track_a_refuses_all(desk: Desk) -> None:
    """One file of a folder has it: that file is named, and nothing of the folder is written or scanned."""
    desk.write("site/a.md")
    desk.write("site/data/export.json", LABEL_OF_A)
    desk.refused(TrackRefused, desk.source / "site", said="data/export.json has the label of track A")
    desk.refused(TrackRefused, desk.source / "site/data/export.json", said="export.json has the label of track A")
    with pytest.raises(TrackRefused):
        desk.publishing.publish_text(LABEL_OF_A, "news")


def test_a_label_of_track_b_is_well(desk: Desk) -> None:
    """What says that it is of the public track may be published."""
    desk.publishing.publish(desk.write("rows.json", b'[{"track": "B"}]'), "blog")
    assert list(desk.public()) == ["blog/rows.json"]


def test_a_leak_refuses_all(desk: Desk) -> None:
    """One file of a folder has one: its kind and its place are named, its text is not, and nothing is written."""
    desk.write("site/a.md")
    desk.write("site/b.md", b"Contoso is our customer.")
    with pytest.raises(PublicationRefused, match=r"Nothing was published: watch-list in b.md\.$"):
        desk.publishing.publish(desk.source / "site", "blog")
    with pytest.raises(PublicationRefused, match=r"watch-list in note\.md"):
        desk.publishing.publish_text(b"Contoso", "blog/note.md")
    with pytest.raises(PublicationRefused, match="watch-list in standard input"):
        desk.publishing.publish_text(b"Contoso", "news")
    assert (desk.public(), list((desk.root / "blog").iterdir())) == ({}, [])


def test_many_leaks_are_counted(desk: Desk) -> None:
    """Twenty are named, and the others are counted."""
    for number in range(23):
        desk.write(f"site/{number}.md", b"Contoso")
    with pytest.raises(PublicationRefused, match=r"; and 3 more\.$"):
        desk.publishing.publish(desk.source / "site", "blog")


def test_without_a_scanner_nothing_is_published(desk: Desk) -> None:
    """What cannot be scanned is not published; what is refused anyway is refused for its own reason."""
    publishing = Publishing(desk.publishing.settings, NoScanner(), PublishedFiles())
    with pytest.raises(NotConfigured, match="needs the scanner"):
        publishing.publish(desk.write("note.md"), "blog")
    with pytest.raises(NotConfigured):
        publishing.publish_text(b"Hello.", "news")
    with pytest.raises(TrackRefused):
        publishing.publish(desk.write("rows.json", LABEL_OF_A), "blog")
    assert desk.public() == {}


def test_what_was_scanned_is_what_is_written(desk: Desk) -> None:
    """A file that changes while the scanner reads is written as it was scanned."""
    source = desk.write("note.md")

    class Slow(WordScanner):
        def scan(self, files: Mapping[str, bytes]) -> list[Leak]:
            del files
            source.write_bytes(b"Contoso")
            return []

    Publishing(desk.publishing.settings, Slow(), PublishedFiles()).publish(source, "blog")
    assert desk.public() == {"blog/note.md": b"Hello.\n"}


@pytest.mark.parametrize(
    "to", ["blog/..", "blog/../team/a.md", "blog/a/../../team/a.md", "blog//etc/a.md", "blog/.", "blog/./"]
)
def test_a_path_stays_in_its_folder(desk: Desk, to: str) -> None:
    """No path leads out of the destination's folder, and a file has a name there."""
    source = desk.write("note.md")
    if to == "blog/./":
        desk.publishing.publish(source, to)
        assert desk.public() == {"blog/note.md": b"Hello.\n"}
        return
    desk.refused(Invalid, source, to, "is no path inside the folder of blog")
    with pytest.raises(Invalid):
        desk.publishing.publish_text(b"Hello.", to)


@pytest.mark.parametrize("to", ["code/.git/hooks/pre-commit", "code/.GIT/config", "code/sub/.git"])
def test_nothing_goes_to_where_git_is(desk: Desk, to: str) -> None:
    """A file in `.git` would be run by git, or change what it does."""
    desk.refused(PublicationRefused, desk.write("note.md"), to, "is git's own")


@pytest.mark.parametrize("leads", ["team", "elsewhere"])
def test_a_folder_that_leads_out_is_refused(desk: Desk, leads: str) -> None:
    """A symbolic link in a destination leads neither to the other track nor anywhere else."""
    (desk.root / "elsewhere").mkdir()
    (desk.root / "blog" / "out").symlink_to(desk.root / leads)
    with pytest.raises((TrackRefused, PublicationRefused)):
        desk.publishing.publish(desk.write("note.md"), "blog/out/note.md")
    assert not [*(desk.root / leads).iterdir()]
    assert desk.scanner.seen == []


def test_a_destination_may_be_a_link_itself(desk: Desk) -> None:
    """The folder in the settings may be a symbolic link: it leads where the owner put it."""
    (desk.root / "blog").rmdir()
    (desk.root / "real").mkdir()
    (desk.root / "blog").symlink_to(desk.root / "real")
    desk.publishing.publish(desk.write("note.md"), "blog")
    assert (desk.root / "real" / "note.md").read_bytes() == b"Hello.\n"


def test_a_missing_destination_is_refused(desk: Desk) -> None:
    """Its folder is not made: it may be on a disk that is not there."""
    (desk.root / "blog").rmdir()
    desk.refused(PublicationRefused, desk.write("note.md"), "blog", "is missing")
    assert not (desk.root / "blog").exists()


@pytest.mark.parametrize(
    ("folder", "said"),
    [("team", "team of track A"), ("team/deep", "team of track A"), ("", "team of track A"), ("kept", "keeps in")],
)
def test_what_lies_with_track_a_is_not_published(desk: Desk, folder: str, said: str) -> None:
    """Neither from a destination of track A, nor a folder that has one in it, nor what Orrery keeps for both."""
    place = desk.root / folder
    place.mkdir(parents=True, exist_ok=True)
    (place / "note.md").write_bytes(b"Hello.")
    desk.refused(TrackRefused, place, said=said)
    if folder.startswith("team"):
        desk.refused(TrackRefused, place / "note.md", said=said)


def test_the_store_is_not_published(desk: Desk) -> None:
    """Named alone, the store of both tracks is refused too."""
    store = desk.root / "kept" / "cockpit.db"
    store.parent.mkdir()
    store.write_bytes(b"")
    desk.refused(TrackRefused, store, said="keeps in")


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


def test_a_post_is_text(desk: Desk) -> None:
    """A destination without a folder takes text from standard input, and nothing else."""
    published = desk.publishing.publish_text("Grüße\n".encode(), "news")
    assert (published.kind, published.path, published.bytes) == ("social", "", 8)
    for content in (b"\xff", b"", b" \n"):
        with pytest.raises(PublicationRefused):
            desk.publishing.publish_text(content, "news")
    with pytest.raises(Invalid, match="name it alone"):
        desk.publishing.publish_text(b"Hello.", "news/a.md")
    with pytest.raises(Invalid, match="--stdin news"):
        desk.publishing.publish(desk.write("note.md"), "news")


def test_standard_input_becomes_a_file(desk: Desk) -> None:
    """For a destination with a folder the path of a file is needed; any bytes go."""
    desk.publishing.publish_text(b"\xff", "blog/pixel.gif")
    assert desk.public() == {"blog/pixel.gif": b"\xff"}
    for to in ("blog", "blog/", "blog/posts/"):
        with pytest.raises(Invalid, match="which file it becomes"):
            desk.publishing.publish_text(b"Hello.", to)


def test_what_a_killed_publication_left_is_removed(desk: Desk) -> None:
    """The next publication to the same destination removes it, and leaves nothing of its own."""
    left = desk.root / "blog" / UNFINISHED / "new"
    left.parent.mkdir()
    left.write_bytes(b"Hel")
    desk.publishing.publish(desk.write("note.md"), "blog")
    assert [one.name for one in (desk.root / "blog").iterdir()] == ["note.md"]


def test_a_failed_write_leaves_nothing(desk: Desk) -> None:
    """Where a file is in the way of a folder, that is said, and nothing is left."""
    (desk.root / "blog" / "posts").write_bytes(b"before")
    with pytest.raises(PublicationRefused, match="cannot be written"):
        desk.publishing.publish(desk.write("note.md"), "blog/posts/note.md")
    assert [one.name for one in (desk.root / "blog").iterdir()] == ["posts"]


def test_overlapping_destinations_take_nothing(tmp_path: Path) -> None:
    """Where a link makes the destinations of both tracks overlap, nothing is published to either."""
    settings = tracks_in(tmp_path)
    assert settings.A
    (tmp_path / "link").symlink_to(tmp_path / "blog")
    overlapping = settings.model_copy(
        update={"A": track("A", destination("team", "shared-folder", tmp_path / "link" / "team"))}
    )
    (tmp_path / "note.md").write_bytes(b"Hello.")
    with pytest.raises(TrackRefused):
        Publishing(overlapping, WordScanner(), PublishedFiles()).publish(tmp_path / "note.md", "blog")
