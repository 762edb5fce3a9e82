"""Where a repository's hooks are, and whether other repositories share them."""

import os
from pathlib import Path

from orrery.adapters.git_objects.program import GitFailed, opened
from orrery.errors import Invalid
from orrery.ports.scanned import HooksFolder
from orrery.syntax.lines import visible


def hooks_folder(folder: Path) -> HooksFolder:
    """Return where the hooks are; raise `Invalid` when there is no repository, or none in which one commits."""
    repository = opened(folder)
    asked = ("rev-parse", "--path-format=absolute")
    try:
        top = repository.git.output(*asked, "--show-toplevel")
    except GitFailed:
        raise Invalid(f"{visible(str(folder))} has no work tree: nothing is committed there.") from None
    hooks = _path(repository.git.output(*asked, "--git-path", "hooks"))
    own = Path(repository.common, "hooks")
    return HooksFolder(hooks, _path(top), hooks.resolve() != own.resolve())


def _path(printed: bytes) -> Path:
    return Path(os.fsdecode(printed).removesuffix("\n"))
