"""The two tracks as the tests have them: each with folders of its own."""

from pathlib import Path
from uuid import UUID

import pytest

from orrery.adapters.published_files import PublishedFiles
from orrery.errors import OrreryError
from orrery.syntax.track import Track
from orrery.tenants.publishing import Publishing
from orrery.tenants.settings import Destination, DestinationKind, TenantsSettings, TrackSettings
from tests.support.scanners import WordScanner


def destination(name: str, kind: DestinationKind, folder: Path | None = None) -> Destination:
    """Return one destination."""
    return Destination(name=name, kind=kind, folder=folder)


def track(label: Track, *destinations: Destination) -> TrackSettings:
    """Return a track with these destinations."""
    number = "AB".index(label) + 1
    return TrackSettings(
        label=f"Track {label}",
        tenant=str(UUID(int=number)),
        client=str(UUID(int=number + 10)),
        destinations=destinations,
    )


def tracks_in(root: Path) -> TenantsSettings:
    """Return both tracks, with the folders `team` of track A, and `blog` and `code` of track B, in `root`."""
    for name in ("team", "blog", "code"):
        (root / name).mkdir()
    return TenantsSettings(
        A=track("A", destination("team", "shared-folder", root / "team")),
        B=track(
            "B",
            destination("blog", "blog", root / "blog"),
            destination("code", "repository", root / "code"),
            destination("news", "social"),
        ),
    )


def publishing_in(root: Path, scanner: WordScanner, *private: Path) -> Publishing:
    """Return what publishes to these destinations, with a scanner that looks for one word."""
    return Publishing(tracks_in(root), scanner, PublishedFiles(), private)


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
        found = [one for place in places for one in place.rglob("*") if one.is_file()]
        return {one.relative_to(self.root).as_posix(): one.read_bytes() for one in found}

    def refused(self, kind: type[OrreryError], source: Path, to: str = "blog", said: str = ".") -> None:
        """See that nothing is published, and neither scanned nor changed."""
        before = self.public()
        with pytest.raises(kind, match=said) as raised:
            self.publishing.publish(source, to)
        assert type(raised.value) is kind
        assert (self.public(), self.scanner.seen) == (before, [])


SETTINGS = """
[cockpit]
store = "own/cockpit.db"

[tenants]
directory = "own/sign-ins"

[tenants.A]
label = "Corporate"
tenant = "00000000-0000-0000-0000-000000000001"
client = "00000000-0000-0000-0000-00000000000a"
[[tenants.A.destinations]]
name = "team"
kind = "shared-folder"
folder = "team"

[tenants.B]
label = "Lab"
tenant = "00000000-0000-0000-0000-000000000002"
client = "00000000-0000-0000-0000-00000000000b"
[[tenants.B.destinations]]
name = "blog"
kind = "blog"
folder = "blog"
[[tenants.B.destinations]]
name = "news"
kind = "social"
"""
"""The settings of both tracks, with the folders `team` and `blog` beside their file."""


def settings_file_in(root: Path, settings: str = SETTINGS) -> Path:
    """Write the settings, and make the destinations; return their file."""
    for name in ("team", "blog"):
        (root / name).mkdir()
    file = root / "orrery.toml"
    file.write_text(settings)
    return file
