"""The composition root of the role scan: what its commands stand on. Nothing here meets the site's settings."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orrery.adapters.file_tree import FileTree
from orrery.adapters.git_objects import History, Message, Outgoing, Staged, hooks_folders
from orrery.adapters.given_text import GivenText
from orrery.app.scan.settings import load
from orrery.ports.scanned import HooksFolder, Source
from orrery.scanner.deployment import Loaded

if TYPE_CHECKING:
    from orrery.scanner.deployment import Protected, Rounds, Watching


class LocalSources:
    """See `Sources`."""

    def files(self, paths: Sequence[Path]) -> Source:
        return FileTree(paths)

    def staged(self, folder: Path) -> Source:
        return Staged(folder)

    def history(self, folder: Path) -> Source:
        return History(folder)

    def outgoing(self, folder: Path, references: str, remote: str = "") -> Source:
        return Outgoing(folder, references, remote)

    def message(self, file: Path) -> Source:
        return Message(file)

    def text(self, text: bytes) -> Source:
        return GivenText("standard input", text)


class LocalDeployment:
    """See `ScanDeployment`."""

    @property
    def sources(self) -> LocalSources:
        return LocalSources()

    @property
    def rounds(self) -> "Rounds":
        from orrery.app.scan.rounds import LocalRounds  # noqa: PLC0415  a hook needs none of it

        return LocalRounds()

    @property
    def watching(self) -> "Watching":
        from orrery.app.scan.watch import LocalWatching  # noqa: PLC0415  the same

        return LocalWatching()

    @property
    def this_orrery(self) -> tuple[str, ...]:
        return _this_orrery()

    def load(self, config: Path | None) -> Loaded:
        return load(config)

    @property
    def protected(self) -> "Protected":
        from orrery.app.scan.protected import LocalProtected  # noqa: PLC0415  a hook needs none of it

        return LocalProtected()

    def hooks_folders(self, folder: Path) -> Sequence[HooksFolder]:
        return hooks_folders(folder)

    def write_journal(self, config: Path | None, text: str) -> None:
        from orrery.adapters.own_process.journal import write_journal  # noqa: PLC0415  a hook needs none of it

        write_journal(config, text)


def _this_orrery() -> tuple[str, ...]:
    """Return what starts this installation from any folder. With -P Python takes no module from a repository."""
    started = Path(sys.argv[0]).absolute()
    if started.name == "orrery" and started.is_file() and os.access(started, os.X_OK):
        return (str(started),)
    return (sys.executable, "-P", "-m", "orrery")
