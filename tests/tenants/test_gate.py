"""The one rule for where data of a track may go."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orrery.errors import TrackRefused
from orrery.syntax.track import TRACKS, Track
from orrery.tenants.gate import Gate
from orrery.tenants.settings import TenantsSettings
from tests.support.destinations import destination, track, tracks_in
from tests.support.tables import each_case


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    """Return the gate of both tracks: `team` is of A, `blog` and `code` are of B."""
    return Gate(tracks_in(tmp_path))


def admitted(gate: Gate, place: Path) -> set[Track]:
    """Return the tracks whose data may go to a place."""

    def may(one: Track) -> bool:
        try:
            gate.require((one,), place)
        except TrackRefused:
            return False
        return True

    return {one for one in TRACKS if may(one)}


@each_case(
    ("place", "tracks"),
    [
        ("team", "A"),
        ("team/report.json", "A"),
        ("team/not/there/yet.json", "A"),
        ("blog/a.md", "B"),
        ("code/deep/er/a.md", "B"),
        ("own/a.json", "AB"),
        ("teams/a.json", "AB"),
        ("blog.db", "AB"),
        ("own/../blog/a.md", "B"),
        ("blog/../own/a.md", "AB"),
        (".", ""),
    ],
)
def test_a_destination_takes_data_of_its_track(gate: Gate, tmp_path: Path, place: str, tracks: str) -> None:
    """Outside every destination any data may go; and a folder that has destinations of both in it takes none."""
    assert admitted(gate, tmp_path / place) == set(tracks)


def test_data_of_both_goes_to_no_destination(gate: Gate, tmp_path: Path) -> None:
    """A place of either track refuses data of both; the owner's own takes it."""
    for folder in ("team", "blog"):
        with pytest.raises(TrackRefused, match=f"is in the .* {folder} of track"):
            gate.require(TRACKS, tmp_path / folder / "cockpit.db")
    gate.require(TRACKS, tmp_path / "cockpit.db")


def test_a_refusal_says_why(gate: Gate, tmp_path: Path) -> None:
    """The place, the destination with its track, and whose data it is."""
    with pytest.raises(TrackRefused) as refused:
        gate.require(["A"], tmp_path / "blog" / "a.md")
    assert str(refused.value) == (
        f"{tmp_path}/blog/a.md is in the blog blog of track B: data of track A cannot go there."
    )
    with pytest.raises(TrackRefused, match="holds the shared-folder team of track A: data of track B"):
        gate.require(["B"], tmp_path)


def _link_to_the_folder(root: Path) -> Path:
    (root / "own").symlink_to(root / "blog")
    return root / "own" / "a.md"


def _link_to_a_folder_in_it(root: Path) -> Path:
    (root / "blog" / "posts").mkdir()
    (root / "own").symlink_to(root / "blog" / "posts")
    return root / "own" / "new" / "a.md"


def _link_to_a_file_in_it(root: Path) -> Path:
    (root / "a.md").symlink_to(root / "blog" / "a.md")
    return root / "a.md"


def _link_by_another(root: Path) -> Path:
    (root / "first").symlink_to("second")
    (root / "second").symlink_to("own/../blog")
    (root / "own").mkdir()
    return root / "first" / "a.md"


def _destination_is_a_link(root: Path) -> Path:
    (root / "blog").rmdir()
    (root / "real").mkdir()
    (root / "blog").symlink_to(root / "real")
    return root / "real" / "a.md"


def _destination_is_below_a_link(root: Path) -> Path:
    (root / "blog").rmdir()
    (root / "real" / "deep").mkdir(parents=True)
    (root / "blog").symlink_to(root / "real" / "deep")
    return root / "real" / "deep" / "a.md"


@pytest.mark.parametrize(
    "lay",
    [
        _link_to_the_folder,
        _link_to_a_folder_in_it,
        _link_to_a_file_in_it,
        _link_by_another,
        _destination_is_a_link,
        _destination_is_below_a_link,
    ],
)
def test_links_are_followed(gate: Gate, tmp_path: Path, lay: Callable[[Path], Path]) -> None:
    """What counts is where a place is in the end, whichever way leads to it."""
    assert admitted(gate, lay(tmp_path)) == {"B"}


def test_a_relative_place_is_found(gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place that is named from within a destination lies in it."""
    monkeypatch.chdir(tmp_path / "blog")
    assert admitted(gate, Path("a.md")) == {"B"}


def test_a_circle_of_links_is_refused(gate: Gate, tmp_path: Path) -> None:
    """Where it cannot be said where a place leads, nothing goes there."""
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(TrackRefused, match="links form a circle"):
        gate.require(["B"], tmp_path / "one" / "a.md")


@pytest.mark.parametrize(("folder", "place"), [("blog", "Blog/a.md"), ("Straße", "STRASSE")])
def test_case_does_not_hide_a_place(tmp_path: Path, folder: str, place: str) -> None:
    """Where neither is there yet, the file system may be one that ignores case: the two count as the same."""
    gate = Gate(TenantsSettings(B=track("B", destination("blog", "blog", tmp_path / folder))))
    assert admitted(gate, tmp_path / place) == {"B"}


def test_folders_that_differ_by_case_are_two(gate: Gate, tmp_path: Path) -> None:
    """Where both are there, the file system decides."""
    (tmp_path / "Blog").mkdir()
    assert admitted(gate, tmp_path / "Blog" / "a.md") == {"A", "B"}


def overlapping(root: Path, inner: str) -> Gate:
    """Return the gate of two destinations that a link makes overlap: that of B lies in `outer`, that of A."""
    (root / "outer" / "inner").mkdir(parents=True)
    (root / "link").symlink_to(root / "outer" / "inner")
    shared = destination("team", "shared-folder", root / "outer")
    return Gate(TenantsSettings(A=track("A", shared), B=track("B", destination("blog", "blog", root / inner))))


@pytest.mark.parametrize("place", ["outer/a.md", "outer/inner/a.md", "link/a.md", "."])
def test_destinations_that_overlap_take_nothing(tmp_path: Path, place: str) -> None:
    """Where a destination of one track turns out to lie in one of the other, data of neither goes to either."""
    assert admitted(overlapping(tmp_path, "link"), tmp_path / place) == set()


def test_an_overlap_is_named(tmp_path: Path) -> None:
    """The refusal names the destination that the overlap is with."""
    with pytest.raises(TrackRefused, match="overlaps with the blog blog of track B: data of track A"):
        overlapping(tmp_path, "link").require(["A"], tmp_path / "outer" / "a.md")


def test_destinations_of_one_track_may_overlap(tmp_path: Path) -> None:
    """A folder of a repository may be a destination, too."""
    code, docs = tmp_path / "code", tmp_path / "code" / "docs"
    both = (destination("code", "repository", code), destination("docs", "blog", docs))
    assert admitted(Gate(TenantsSettings(B=track("B", *both))), docs / "a.md") == {"B"}


def test_without_tracks_every_place_is_the_owners(tmp_path: Path) -> None:
    """Settings without destinations keep nothing apart."""
    Gate(TenantsSettings()).require(TRACKS, tmp_path)
