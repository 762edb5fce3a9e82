"""What `orrery tenants doctor` finds."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orrery.adapters.published_files import PublishedFiles
from orrery.ports.health import Finding
from orrery.ports.scanner import Scanner
from orrery.tenants.health import TracksHealth
from orrery.tenants.settings import TenantsSettings, ToolSettings
from tests.support.destinations import destination, track, tracks_in
from tests.support.scanners import UnableScanner, WordScanner


def health(
    settings: TenantsSettings, kept: Path = Path("/nowhere/cockpit.db"), scanner: Scanner | None = None
) -> TracksHealth:
    """Return what examines these tracks."""
    return TracksHealth(settings, scanner or WordScanner(), PublishedFiles(), {"place of the store": kept})


def found(examined: TracksHealth, part: str) -> Finding:
    """Return the finding about a part."""
    (finding,) = [one for one in examined.examine() if one.part == part]
    return finding


@pytest.fixture
def settings(tmp_path: Path) -> TenantsSettings:
    """Return both tracks; the repository is one."""
    found = tracks_in(tmp_path)
    (tmp_path / "code" / ".git").mkdir()
    return found


def test_all_is_well(settings: TenantsSettings, tmp_path: Path) -> None:
    """Each part is there, and only what nobody configured is off."""
    states = {one.part: one.state for one in health(settings, tmp_path / "cockpit.db").examine()}
    assert states == {
        "track [track:A]": "ok",
        "track [track:B]": "ok",
        "destination team [track:A]": "ok",
        "destination blog [track:B]": "ok",
        "destination code [track:B]": "ok",
        "destination news [track:B]": "ok",
        "place of the store": "ok",
        "tool": "off",
        "scanner: watch-list": "ok",
    }


def test_without_tracks_it_says_what_to_add() -> None:
    """A track that nobody configured is off, with what to add."""
    finding = found(health(TenantsSettings()), "track [track:A]")
    assert (finding.state, "[tenants.A]" in finding.todo) == ("off", True)


def _removed(root: Path) -> None:
    (root / "blog").rmdir()


def _is_a_file(root: Path) -> None:
    (root / "blog").rmdir()
    (root / "blog").write_bytes(b"")


def _in_the_other(root: Path) -> None:
    (root / "blog").rmdir()
    (root / "team" / "blog").mkdir()
    (root / "blog").symlink_to(root / "team" / "blog")


def _a_circle(root: Path) -> None:
    (root / "blog").rmdir()
    (root / "blog").symlink_to("blog")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_removed, "is missing"),
        (_is_a_file, "is missing"),
        (_in_the_other, "is in the shared-folder team of track A"),
        (_a_circle, "circle"),
    ],
)
def test_a_destination_that_cannot_be_used(
    settings: TenantsSettings, tmp_path: Path, spoil: Callable[[Path], None], why: str
) -> None:
    """A folder that is missing, or turns out to lie with the other track, is broken, with what to do."""
    spoil(tmp_path)
    finding = found(health(settings), "destination blog [track:B]")
    assert (finding.state, why in finding.why, bool(finding.todo)) == ("broken", True, True)


def test_an_overlap_breaks_both(settings: TenantsSettings, tmp_path: Path) -> None:
    """The destination of the other track says so, too: neither takes anything."""
    _in_the_other(tmp_path)
    finding = found(health(settings), "destination team [track:A]")
    assert (finding.state, "holds the blog blog of track B" in finding.why) == ("broken", True)


def test_a_repository_is_one(settings: TenantsSettings, tmp_path: Path) -> None:
    """A destination that is to be a git repository, and is none, is broken."""
    (tmp_path / "code" / ".git").rmdir()
    finding = found(health(settings), "destination code [track:B]")
    assert (finding.state, "is no git repository" in finding.why) == ("broken", True)


@pytest.mark.parametrize("place", ["team/cockpit.db", "blog/.orrery/cockpit.db"])
def test_a_store_in_a_destination_is_broken(settings: TenantsSettings, tmp_path: Path, place: str) -> None:
    """What holds data of both tracks lies in no destination of either."""
    finding = found(health(settings, tmp_path / place), "place of the store")
    assert (finding.state, "is in the" in finding.why, "Move it" in finding.todo) == ("broken", True, True)


def test_the_tool_is_there_or_not(settings: TenantsSettings, tmp_path: Path) -> None:
    """The program that is named must be a file that can be run."""
    program = tmp_path / "tool"

    def state() -> str:
        named = settings.model_copy(update={"tool": ToolSettings(program=program)})
        return found(health(named), "tool").state

    states = [state()]
    program.write_bytes(b"")
    states.append(state())
    program.chmod(0o700)
    states.append(state())
    assert states == ["broken", "broken", "ok"]


def test_a_scanner_that_cannot_scan(settings: TenantsSettings) -> None:
    """It says why, and what does not work until it can."""
    finding = found(health(settings, scanner=UnableScanner()), "scanner")
    assert (finding.state, finding.why) == ("broken", "The key of the watch-list is missing.")
    assert "nothing is published" in finding.todo


def test_the_sign_ins_come_behind_the_tracks(settings: TenantsSettings) -> None:
    """Findings about the accounts that signed in are among the others."""
    own = Finding("sign-in ann@corp.example", "ok", essential=False)
    examined = TracksHealth(settings, WordScanner(), PublishedFiles(), {}, lambda: [own])
    assert examined.examine()[2] == own


def test_destinations_of_one_track_may_overlap(tmp_path: Path) -> None:
    """A folder of a repository may be a destination, too."""
    (tmp_path / "docs").mkdir()
    (tmp_path / ".git").mkdir()
    both = (destination("code", "repository", tmp_path), destination("docs", "blog", tmp_path / "docs"))
    examined = health(TenantsSettings(B=track("B", *both)))
    assert {found(examined, f"destination {name} [track:B]").state for name in ("code", "docs")} == {"ok"}
