"""The gate: the one rule for where data of a track may go."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from orrery.errors import TrackRefused
from orrery.syntax.track import Track
from orrery.tenants.settings import Destination, TenantsSettings

How = Literal["is in", "holds", "is in or holds what overlaps with"]


@dataclass(frozen=True, slots=True)
class TouchedDestination:
    """A destination that a place touches, and how."""

    how: How
    track: Track
    destination: Destination

    def __str__(self) -> str:
        return f"{self.how} the {self.destination.kind} {self.destination.name} of track {self.track}"


@dataclass(frozen=True, slots=True)
class Gate:
    """Decides whether data may go to a place."""

    settings: TenantsSettings

    def require(self, tracks: Iterable[Track], place: Path) -> None:
        """Return when data of these tracks may be written to a file or folder; raise `TrackRefused`.

        A place outside every destination is the owner's own, and takes data of any track. One that has a
        destination in it counts as in that destination. Data of both tracks goes into no destination.
        """
        given = set(tracks)
        for one in self.touched_by(place):
            if foreign := sorted(given - {one.track}):
                raise TrackRefused(f"{place} {one}: data of track {foreign[0]} cannot go there.")

    def touched_by(self, place: Path) -> list[TouchedDestination]:
        """Return each destination that a place is in or that is in it, and those that overlap with these.

        So where the destinations of two tracks overlap, neither takes anything.
        """
        near = [*self._touched([place])]
        further = self._touched([one.destination.folder for one in near if one.destination.folder])
        known = [one.destination for one in near]
        return near + [
            TouchedDestination("is in or holds what overlaps with", one.track, one.destination)
            for one in further
            if one.destination not in known
        ]

    def _touched(self, places: list[Path]) -> Iterator[TouchedDestination]:
        for track, one in self.settings.destinations():
            if one.folder is None:
                continue
            if any(is_within(place, one.folder) for place in places):
                yield TouchedDestination("is in", track, one)
            elif any(is_within(one.folder, place) for place in places):
                yield TouchedDestination("holds", track, one)


def overlap(one: Path, other: Path) -> bool:
    """Return whether two places are the same, or one is in the other, wherever links lead."""
    return is_within(one, other) or is_within(other, one)


def is_within(place: Path, folder: Path) -> bool:
    """Return whether a place is a folder or is in it, wherever links lead; raise `TrackRefused` for a circle."""
    where, outer = _resolved(place), _resolved(folder)
    return any(_same(one, outer) for one in (where, *where.parents))


def _resolved(place: Path) -> Path:
    try:
        return place.resolve()
    except (OSError, RuntimeError, ValueError):
        raise TrackRefused(f"It is unknown where {place} leads: its links form a circle.") from None


def _same(one: Path, other: Path) -> bool:
    """Compare two places as the file system does; a missing one, as a file system that ignores case would."""
    try:
        return one.samefile(other)
    except OSError:
        return str(one).casefold() == str(other).casefold()
