"""The composition root of the role scan: what its commands stand on. It imports no pydantic by itself."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orrery.adapters.file_tree import FileTree
from orrery.adapters.git_objects import CommitMessage, History, Outgoing, Staged, hooks_folders
from orrery.adapters.given_text import GivenText
from orrery.app.scan.found import NO_LIST, NO_SETTINGS, found_file, is_there_a_list, today
from orrery.ports.scanned import HooksFolder, Source
from orrery.scanner.allowances import Allowances
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
        return CommitMessage(file)

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
        file = found_file(config)
        if file is None and not is_there_a_list():
            return Loaded(allowances=Allowances(today=today()), notes=(NO_SETTINGS, NO_LIST))
        from orrery.app.scan.files import files_of  # noqa: PLC0415  it imports pydantic

        return files_of(file).loaded()

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
