"""The composition root of the role scan: what its commands need. It imports no pydantic by itself."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orrery.adapters.file_tree import FileTree
from orrery.adapters.git_objects import CommitMessage, History, Outgoing, Staged, hooks_folders
from orrery.adapters.given_text import GivenText
from orrery.app.scan.found import NO_LIST, NO_SETTINGS, found_file, is_there_a_list, today
from orrery.scanner.allowances import Allowances
from orrery.scanner.deployment import Loaded, ScanDeployment, Sources

if TYPE_CHECKING:
    from orrery.scanner.deployment import Protected, Rounds, Watching


def _rounds() -> "Rounds":
    from orrery.app.scan.rounds import ROUNDS  # noqa: PLC0415  a hook needs none of it

    return ROUNDS


def _watching() -> "Watching":
    from orrery.app.scan.watch import WATCHING  # noqa: PLC0415  the same

    return WATCHING


def _protected() -> "Protected":
    from orrery.app.scan.protected import PROTECTED  # noqa: PLC0415  the same

    return PROTECTED


def _load(config: Path | None) -> Loaded:
    file = found_file(config)
    if file is None and not is_there_a_list():
        return Loaded(allowances=Allowances(today=today()), notes=(NO_SETTINGS, NO_LIST))
    from orrery.app.scan.files import files_of  # noqa: PLC0415  it imports pydantic

    return files_of(file).loaded()


def _write_journal(config: Path | None, text: str) -> None:
    from orrery.adapters.own_process.journal import write_journal  # noqa: PLC0415  a hook needs none of it

    write_journal(config, text)


def _this_orrery() -> tuple[str, ...]:
    """Return what starts this installation from any folder. With -P Python takes no module from a repository."""
    started = Path(sys.argv[0]).absolute()
    if started.name == "orrery" and started.is_file() and os.access(started, os.X_OK):
        return (str(started),)
    return (sys.executable, "-P", "-m", "orrery")


DEPLOYMENT = ScanDeployment(
    Sources(FileTree, Staged, History, Outgoing, CommitMessage, partial(GivenText, "standard input")),
    _rounds,
    _watching,
    _protected,
    _this_orrery,
    hooks_folders,
    _write_journal,
    _load,
)
