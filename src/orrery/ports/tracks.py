"""The gate between the tracks: what every part asks before data goes to a place (spec 3, Authentication 4)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from orrery.syntax.track import Track


class TrackGate(Protocol):
    """Says whether data may go to a place."""

    def require(self, tracks: Iterable[Track], place: Path) -> None:
        """Return when data of these tracks may be written to a file or folder; raise `TrackRefused`.

        A place outside every destination is the owner's own, and takes data of any track. One that has a
        destination in it counts as in that destination. Data of both tracks goes into no destination.
        """
        ...
