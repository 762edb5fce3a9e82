"""Ready files for the scheduler that calls the refresh each minute (spec 2, What the service does 4).

`ready_files` fills package files with one checked address; it writes nothing.
"""

from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from orrery.syntax.base_url import checked_base_url

Kind = Literal["systemd", "worker", "workflow"]

REFRESH_PATH = "/api/stats?refresh=realtime"
"""The path of the refresh operation (spec 2, Endpoints)."""

_FILES: dict[Kind, tuple[str, ...]] = {
    "systemd": ("orrery-refresh.service", "orrery-refresh.timer"),
    "worker": ("refresh-worker.mjs", "wrangler.toml"),
    "workflow": ("refresh.yml",),
}


@dataclass(frozen=True, slots=True)
class ReadyFile:
    """A file to put in place as it is."""

    name: str
    text: str


def ready_files(kind: Kind, base_url: str) -> tuple[ReadyFile, ...]:
    """Return the files of one kind of schedule for a service; raise `Invalid` for an address that is none."""
    base = checked_base_url(base_url)
    folder = files("orrery").joinpath("web", "schedules", kind)
    return tuple(
        ReadyFile(name, _filled(folder.joinpath(name).read_text(encoding="utf-8"), base)) for name in _FILES[kind]
    )


def _filled(template: str, base: str) -> str:
    return template.replace("@BASE_URL@", base).replace("@REFRESH_URL@", base + REFRESH_PATH)
