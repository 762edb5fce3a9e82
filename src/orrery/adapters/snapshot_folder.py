"""A folder of dated snapshots: the newest stay, and their names contain the times of their creation."""

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from orrery.working_folder import working_folder

_FORM = "orrery-%Y%m%dT%H%M%SZ.db"
_NAME = re.compile(r"orrery-\d{8}T\d{6}Z\.db")


@dataclass(frozen=True, slots=True)
class SnapshotFolder:
    """Names new snapshots in `path`, and keeps the newest `keep`; files with other names stay."""

    path: Path
    keep: int

    def file_at(self, now: datetime) -> Path:
        """Return the name of a snapshot that is made now; the folder is made when the snapshot is."""
        return self.path / now.astimezone(UTC).strftime(_FORM)

    def newest(self) -> datetime | None:
        """Return when the newest snapshot was made, or None without one or when the folder cannot be read."""
        try:
            made = [when for file in self._snapshots() if (when := _made_at(file))]
        except OSError:
            return None
        return max(made, default=None)

    def thin_out(self) -> int:
        """Delete all but the newest, and return how many; raise `OSError`.

        What a killed run has left goes, too; a running one holds its folder.
        """
        for folder in self.path.glob(".orrery-*.db.unfinished"):
            with suppress(BlockingIOError), working_folder(folder):
                pass
        old = sorted(self._snapshots())[: -self.keep]
        for file in old:
            file.unlink()
        return len(old)

    def _snapshots(self) -> list[Path]:
        return [file for file in self.path.iterdir() if _NAME.fullmatch(file.name)]


def _made_at(file: Path) -> datetime | None:
    try:
        return datetime.strptime(file.name, _FORM).replace(tzinfo=UTC)
    except ValueError:
        return None  # the digits are no time
