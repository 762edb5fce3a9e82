"""What was read of the gateway's host, as plain values for the rules that judge it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from orrery.gateway.guest.files import HostFile

LONGEST_PAUSE = 604800
"""Seconds; an end of a pause further off is none of this clock."""

Properties = Mapping[str, tuple[str, ...]]
"""What `systemctl show` prints of a unit; a property may come more than once."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file on the host: its bytes and mode, and whether it belongs to root, user and group."""

    content: bytes
    mode: int
    is_roots: bool
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class UnitState:
    """A unit: its properties, and the files that set them, in the order in which systemd reads them."""

    name: str
    properties: Properties
    sources: tuple[tuple[str, str | None], ...] = ()
    """Path and text; None for a file that cannot be read."""
    unread: tuple[str, ...] = ()
    """The files that were changed since systemd read its units."""

    def one(self, name: str) -> str:
        """Return a property that comes once, or an empty text."""
        values = self.properties.get(name, ())
        return values[0] if len(values) == 1 else ""


@dataclass(frozen=True, slots=True)
class SecretFile:
    """A secret file: what can be known of it without its content. `is_filled` is None for who may not read it."""

    path: str
    exists: bool
    is_roots: bool = False
    mode: int = 0
    is_filled: bool | None = None


@dataclass(frozen=True, slots=True)
class RecoveryState:
    """What the recovery keeps in its state folder; times are seconds of its clock (`clock_of`)."""

    fires: tuple[int, ...] = ()
    outage_since: int | None = None
    flap_since: int | None = None
    paused_until: int | None = None
    waiting_pushes: int = 0
    ping_refusal: str = ""
    """Why the last ping was not accepted."""

    def pause_left(self, now: int) -> int:
        """Return the seconds that a pause lasts yet, or 0, by the rule of the scripts."""
        left = (self.paused_until or 0) - now
        return left if 0 < left <= LONGEST_PAUSE else 0


@dataclass(frozen=True, slots=True)
class HostTools:
    """The programs that the scripts use; `wget` is GNU's, busybox's, or none."""

    curl: bool
    wget: Literal["", "gnu", "busybox"]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the scripts make of the unit, in their words: the finding, what the probe was answered, and why."""

    finding: str = ""
    answer: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """The host, at one time. `progress` is None for who may not read it."""

    now: int
    """By the clock of what the recovery keeps."""
    is_root: bool
    files: tuple[tuple[HostFile, StoredFile | None], ...]
    unit: UnitState
    own: Mapping[str, UnitState]
    tools: HostTools
    secrets: Mapping[str, SecretFile]
    progress: RecoveryState | None
    judgement: Judgement = Judgement()
    up_seconds: int = 0
    """Since the boot, by systemd's clock, as its times of a unit."""
    stale_watch: bool = False
    """The watch was started before its files were last written."""
    own_name: str = ""
    """What the names of our files and units begin with."""
