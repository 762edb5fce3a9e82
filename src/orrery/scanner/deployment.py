"""What the composition root hands to the scanner's commands."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from orrery.ports.scanned import HooksFolder, Source
from orrery.scanner.allowances import Allowances
from orrery.scanner.fingerprints import Fingerprints
from orrery.scanner.policy import Policy

if TYPE_CHECKING:
    from datetime import datetime

    from orrery.ports.notifier import OutgoingMessage
    from orrery.ports.private_file import PrivateFile
    from orrery.scanner.watch_list_file import WatchListFile


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the settings and the watch-list say. `notes` are sentences for the summary, such as that there is none.

    `rules` are the settings' further files of rules for secrets.
    """

    policy: Policy = field(default_factory=Policy)
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    allowances: Allowances = field(default_factory=Allowances)
    rules: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


class Sources(Protocol):
    """Where a scan reads from; each raises `Invalid` for what cannot be scanned at all."""

    def files(self, paths: Sequence[Path]) -> Source:
        """Return files and folders as they are."""
        ...

    def staged(self, folder: Path) -> Source:
        """Return what the next commit of a repository would change, and its author."""
        ...

    def history(self, folder: Path) -> Source:
        """Return all that a repository holds: blobs, messages, authors, tags, names of branches and files."""
        ...

    def outgoing(self, folder: Path, references: str, remote: str = "") -> Source:
        """Return what a push would send; `references` are the lines that git gives its hook, `remote` its name."""
        ...

    def message(self, file: Path) -> Source:
        """Return the message of a commit that is being made."""
        ...

    def text(self, text: bytes) -> Source:
        """Return what came by standard input."""
        ...


@dataclass(frozen=True, slots=True)
class PublicDestination:
    """A destination of the public track that has a folder; a repository is searched with its history."""

    name: str
    folder: Path
    is_repository: bool


Push = Callable[["OutgoingMessage"], None]
"""Sends one push; raises `DeliveryFailed`."""


class Rounds(Protocol):
    """What a round of the destinations stands on; each raises `SettingsError`."""

    def places(self, config: Path | None) -> Sequence[PublicDestination]:
        """Return the destinations of track B that have a folder."""
        ...

    def told(self, config: Path | None) -> "PrivateFile":
        """Return the file of what was pushed."""
        ...

    def push(self, config: Path | None) -> Push:
        """Return what sends a push; raise `NotConfigured` when nothing can be sent."""
        ...

    def now(self) -> "datetime":
        """Return the time, in UTC."""
        ...


class Protected(Protocol):
    """The repositories in which each commit is to be searched."""

    def all(self, config: Path | None) -> Sequence[Path]:
        """Return those in which hooks were installed, and those that are a destination of the public track."""
        ...

    def add(self, folder: Path) -> None:
        """Note the repository that a folder is in."""
        ...

    def forget(self, folder: Path) -> None:
        """Note it no more; a folder that is gone, too."""
        ...


class Watching(Protocol):
    """What the commands of the watch-list stand on."""

    def watch_list(self, config: Path | None) -> "WatchListFile":
        """Return the watch-list of the settings; raise `SettingsError`."""
        ...

    def keep_new_key(self, config: Path | None, *, printed: bool) -> str:
        """Make a key; return where it was written, or its text when it is to be `printed`. Raises `Invalid`."""
        ...

    def refuse_public(self, file: Path) -> None:
        """Raise `Invalid` for a file of terms that lies in a repository."""
        ...

    def today(self) -> str:
        """Return the day, as in `2026-05-04`."""
        ...


class ScanDeployment(Protocol):
    """The settings, secrets and adapters of a command of the role scan."""

    @property
    def sources(self) -> Sources:
        """Where to read from."""
        ...

    @property
    def rounds(self) -> Rounds:
        """What a round of the destinations stands on."""
        ...

    @property
    def watching(self) -> Watching:
        """What the commands of the watch-list stand on."""
        ...

    @property
    def this_orrery(self) -> tuple[str, ...]:
        """The words that start this installation from any folder."""
        ...

    @property
    def protected(self) -> Protected:
        """The protected repositories."""
        ...

    def hooks_folders(self, folder: Path) -> Sequence[HooksFolder]:
        """Return where a repository has its hooks, for each work tree; raise `Invalid` where there is none."""
        ...

    def write_journal(self, config: Path | None, text: str) -> None:
        """Write an entry of track B into the journal; raise `NotConfigured` when it cannot be kept."""
        ...

    def load(self, config: Path | None) -> Loaded:
        """Return what the settings say: `config`, else those of the user or the machine, else none (decision 50).

        Raises `SettingsError`, and `NotConfigured` for a watch-list that cannot be read.
        """
        ...
