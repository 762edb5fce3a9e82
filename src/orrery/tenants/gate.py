"""The gate: the one rule for where data of a track may go."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from orrery.errors import TrackRefused
from orrery.syntax.track import Track
from orrery.tenants.settings import TenantsSettings


@dataclass(frozen=True, slots=True)
class Gate:
    """See `TrackGate`."""

    settings: TenantsSettings

    def require(self, tracks: Iterable[Track], place: Path) -> None:
        where = place.resolve()
        for owner, one in self.settings.destinations():
            folder = one.folder.resolve() if one.folder else None
            if folder is None or not (where == folder or folder in where.parents):
                continue
            if foreign := sorted(set(tracks) - {owner}):
                raise TrackRefused(
                    f"{place} lies in the {one.kind} {one.name} of track {owner}: "
                    f"data of track {foreign[0]} cannot go there."
                )
