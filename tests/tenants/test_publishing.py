"""What may become public reaches a destination of track B, and nothing else does."""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from orrery.adapters.published_files import PublishedFiles
from orrery.errors import Invalid, NotConfigured, NotFound, TrackRefused
from orrery.ports.publications import MOST_BYTES, PublicationRefused
from orrery.ports.scanner import Scanned
from orrery.tenants.publishing import Publishing
from orrery.tenants.settings import TenantsSettings
from tests.support.destinations import Desk, destination, track, tracks_in
from tests.support.scanners import UnableScanner, WordScanner

LABEL_OF_A = b'[{"track": "A", "title": "A secret"}]'


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
    with pytest.raises(PublicationRefused, match=r"Nothing was published: watch-list in site/b.md\.$"):
        desk.publishing.publish(desk.source / "site", "blog")
    with pytest.raises(PublicationRefused, match=r"watch-list in note\.md"):
        desk.publishing.publish_text(b"Contoso", "blog/note.md")
    with pytest.raises(PublicationRefused, match="watch-list in standard input"):
        desk.publishing.publish_text(b"Contoso", "news")
    assert (desk.public(), list((desk.root / "blog").iterdir())) == ({}, [])


def test_names_are_scanned_as_they_become_public(desk: Desk) -> None:
    """The name that a file or a folder is given at its destination is public, too; the one that it had is not."""
    desk.write("site/b/c.md")
    desk.publishing.publish(desk.write("note.md"), "blog/posts/first.md")
    desk.publishing.publish(desk.source / "site", "code/docs")
    desk.publishing.publish_text(b"Hello.", "blog/posts/second.md")
    assert [[*one] for one in desk.scanner.seen] == [["posts/first.md"], ["docs/b/c.md"], ["posts/second.md"]]


def test_many_leaks_are_counted(desk: Desk) -> None:
    """Twenty are named, and the others are counted."""
    for number in range(23):
        desk.write(f"site/{number}.md", b"Contoso")
    with pytest.raises(PublicationRefused, match=r"; and 3 more\.$"):
        desk.publishing.publish(desk.source / "site", "blog")


def test_without_a_scanner_nothing_is_published(desk: Desk) -> None:
    """What cannot be scanned is not published; what is refused anyway is refused for its own reason."""
    publishing = Publishing(desk.publishing.settings, UnableScanner(), PublishedFiles())
    with pytest.raises(NotConfigured, match="The key of the watch-list is missing"):
        publishing.publish(desk.write("note.md"), "blog")
    with pytest.raises(NotConfigured):
        publishing.publish_text(b"Hello.", "news")
    with pytest.raises(TrackRefused):
        publishing.publish(desk.write("rows.json", LABEL_OF_A), "blog")
    assert desk.public() == {}


def test_without_names_nothing_is_published(desk: Desk) -> None:
    """A scanner that knows no name of track A finds nothing, and that says nothing: a word lets it pass."""

    class Blind(WordScanner):
        def scan(self, files: Mapping[str, bytes]) -> Scanned:
            return replace(super().scan(files), knows_names=False)

    said = list[str]()
    strict = replace(desk.publishing, scanner=Blind())
    for publishing in (strict, replace(strict, without_watch_list=said.append)):
        with pytest.raises(PublicationRefused):
            publishing.publish_text(b"Contoso", "news")
    with pytest.raises(NotConfigured, match="orrery tenants watch add"):
        strict.publish(desk.write("note.md"), "blog")
    assert (desk.public(), said) == ({}, [])
    replace(strict, without_watch_list=said.append).publish(desk.source / "note.md", "blog/a.md")
    assert said == ["Published to blog/a.md without a watch-list: no name was searched for."]
    without_a = strict.settings.model_copy(update={"A": None})
    replace(strict, settings=without_a).publish(desk.source / "note.md", "blog/b.md")
    assert sorted(desk.public()) == ["blog/a.md", "blog/b.md"]


def test_what_was_scanned_is_what_is_written(desk: Desk) -> None:
    """A file that changes while the scanner reads is written as it was scanned."""
    source = desk.write("note.md")

    class Slow(WordScanner):
        def scan(self, files: Mapping[str, bytes]) -> Scanned:
            del files
            source.write_bytes(b"Contoso")
            return Scanned()

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


@pytest.mark.parametrize(
    "to", ["code/.git/hooks/pre-commit", "code/.GIT/config", "code/sub/.git", "code/link/pre-commit"]
)
def test_nothing_goes_to_where_git_is(desk: Desk, to: str) -> None:
    """A file in `.git` would be run by git, or change what it does, whichever link leads there."""
    (desk.root / "code" / ".git" / "hooks").mkdir(parents=True)
    (desk.root / "code" / "link").symlink_to(".git/hooks")
    desk.refused(PublicationRefused, desk.write("note.md"), to, "is git's own")


@pytest.mark.parametrize("leads", ["team", "elsewhere"])
def test_a_folder_that_leads_out_is_refused(desk: Desk, leads: str) -> None:
    """A symbolic link in a destination leads neither to the other track nor anywhere else."""
    (desk.root / "elsewhere").mkdir()
    (desk.root / "blog" / "out").symlink_to(desk.root / leads)
    with pytest.raises((TrackRefused, PublicationRefused)):
        desk.publishing.publish(desk.write("note.md"), "blog/out/note.md")
    with pytest.raises((TrackRefused, PublicationRefused)):
        desk.publishing.publish_text(b"Hello.", "blog/out/note.md")
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


@pytest.mark.parametrize("name", ["cockpit.db", "cockpit.db-wal", "cockpit.db.bak"])
def test_the_store_is_not_published(desk: Desk, name: str) -> None:
    """Named alone, the store of both tracks is refused too, and so is what the database keeps beside it."""
    store = desk.root / "kept" / name
    store.parent.mkdir()
    store.write_bytes(b"")
    desk.refused(TrackRefused, store, said="keeps in")


def test_standard_input_is_bounded(desk: Desk) -> None:
    """More than one publication may have is refused before it is scanned."""
    for to in ("news", "blog/a.md"):
        with pytest.raises(PublicationRefused, match="larger than 100 MiB"):
            desk.publishing.publish_text(bytes(MOST_BYTES + 1), to)
    assert desk.scanner.seen == []


def test_the_folder_above_has_its_own_name(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """`.` and `..` are published under the names that they have."""
    desk.write("site/posts/a.md")
    for source, folder, inside in ((".", "site/posts", "posts/a.md"), ("..", "site/posts", "site/posts/a.md")):
        monkeypatch.chdir(desk.source / folder)
        desk.publishing.publish(Path(source), "blog")
        assert f"blog/{inside}" in desk.public()


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
        with pytest.raises(Invalid, match="the file that it becomes"):
            desk.publishing.publish_text(b"Hello.", to)


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
