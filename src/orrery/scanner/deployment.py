"""What the composition root hands to the scanner's commands: each function is one of its adapters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from orrery.ports.scanned import HooksFolder, Source
from orrery.scanner.allowances import Allowances
from orrery.scanner.findings import FingerprintKey
from orrery.scanner.policy import Policy

if TYPE_CHECKING:
    from datetime import datetime

    from orrery.ports.notifier import OutgoingMessage
    from orrery.ports.private_file import PrivateFile
    from orrery.scanner.watch_list_file import WatchListFile

Config = Path | None
"""The settings file that a command names; without one that of the user or the machine counts, if there is one."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The content of the settings and the watch-list. `notes` are sentences for the summary.

    `rules` are the settings' further files of rules for secrets.
    """

    policy: Policy = field(default_factory=Policy)
    fingerprints: FingerprintKey = field(default_factory=FingerprintKey)
    allowances: Allowances = field(default_factory=Allowances)
    rules: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a scan reads from; each raises `Invalid` for what cannot be scanned at all.

    `staged` is what the next commit of a repository would change, and its author; `history` is all that a
    repository holds. `outgoing` is what a push would send: it takes the lines that git gives its hook, and the
    name of the remote. `message` is that of a commit that is being made, and `text` is standard input.
    """

    files: Callable[[Sequence[Path]], Source]
    staged: Callable[[Path], Source]
    history: Callable[[Path], Source]
    outgoing: Callable[[Path, str, str], Source]
    message: Callable[[Path], Source]
    text: Callable[[bytes], Source]


@dataclass(frozen=True, slots=True)
class PublicDestination:
    """A destination of the public track that has a folder; a repository is searched with its history."""

    name: str
    folder: Path
    is_repository: bool


Push = Callable[["OutgoingMessage"], None]
"""Sends one push; raises `DeliveryFailed`."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """What a round of the destinations needs; each raises `SettingsError`.

    `places` are the destinations of track B that have a folder. `pushed` is the file of what was pushed. `push`
    raises `NotConfigured` when nothing can be sent. `now` is in UTC.
    """

    places: Callable[[Config], Sequence[PublicDestination]]
    pushed: Callable[[Config], "PrivateFile"]
    push: Callable[[Config], Push]
    now: Callable[[], "datetime"]


@dataclass(frozen=True, slots=True)
class Protected:
    """The repositories in which each commit is to be searched.

    `all` are those in which hooks were installed, and those that are a destination of the public track. `add` and
    `forget` take a folder of one; `forget` also takes a folder that was deleted.
    """

    all: Callable[[Config], Sequence[Path]]
    add: Callable[[Path], None]
    forget: Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Watching:
    """What the commands of the watch-list need.

    `watch_list` raises `SettingsError`. `new_key` makes a key, and returns the file that it wrote, or the text of
    the key when that is to be printed; it raises `Invalid`. `refuse_public` raises `Invalid` for a file of terms
    in a repository. `today` is as in `2026-05-04`.
    """

    watch_list: Callable[[Config], "WatchListFile"]
    new_key: Callable[[Config, bool], str]
    refuse_public: Callable[[Path], None]
    today: Callable[[], str]


@dataclass(frozen=True, slots=True)
class ScanDeployment:
    """The settings, secrets and adapters of a command of the role scan.

    `rounds`, `watching` and `protected` are loaded when a command asks for them: a hook needs none of them.
    `this_orrery` are the words that start this installation from any folder. `hooks_folders` returns where a
    repository has its hooks, for each work tree; it raises `Invalid` where there is no repository. `write_journal`
    writes an entry of track B; it raises `NotConfigured` when the journal cannot keep it. `load` raises
    `SettingsError`, and `NotConfigured` for a watch-list that cannot be read (decision 50).
    """

    sources: Sources
    rounds: Callable[[], Rounds]
    watching: Callable[[], Watching]
    protected: Callable[[], Protected]
    this_orrery: Callable[[], tuple[str, ...]]
    hooks_folders: Callable[[Path], Sequence[HooksFolder]]
    write_journal: Callable[[Config, str], None]
    load: Callable[[Config], Loaded]
