"""Where a repository's hooks are, and whether other repositories share them."""

import os
from pathlib import Path

from orrery.adapters.git_objects.program import GitFailed, Repository, opened
from orrery.errors import Invalid
from orrery.ports.scanned import HooksFolder
from orrery.syntax.lines import visible

_ABSOLUTE = ("rev-parse", "--path-format=absolute")
_WORK_TREE = b"worktree "


def hooks_folder(folder: Path) -> HooksFolder:
    """Return where the hooks are; raise `Invalid` when there is no repository, or none in which one commits."""
    repository = opened(folder)
    try:
        top = repository.git.output(*_ABSOLUTE, "--show-toplevel")
    except GitFailed:
        raise Invalid(f"{visible(str(folder))} has no work tree: nothing is committed there.") from None
    try:
        hooks = _path(repository.git.output(*_ABSOLUTE, "--git-path", "hooks"))
    except GitFailed:
        raise Invalid(f"Git finds no hooks of {visible(str(folder))}: core.hooksPath leads nowhere.") from None
    own = Path(repository.common, "hooks")
    return HooksFolder(hooks, _path(top), hooks.resolve() != own.resolve())


def hooks_folders(folder: Path) -> tuple[HooksFolder, ...]:
    """Return where the hooks of each work tree of a repository are, each folder once.

    A relative `core.hooksPath` leads to another folder in each work tree. Raises as `hooks_folder` does, where
    there is no work tree at all.
    """
    trees = [one for one in _work_trees(opened(folder)) if (one / ".git").exists()]
    found = [hooks_folder(one) for one in trees] or [hooks_folder(folder)]
    return tuple({one.path.resolve(): one for one in reversed(found)}.values())[::-1]


def main_work_tree(folder: Path) -> Path:
    """Return the work tree by which a repository is known, which is there as long as the repository is."""
    trees = _work_trees(opened(folder))
    return trees[0] if (trees[0] / ".git").exists() else hooks_folder(folder).work_tree


def _work_trees(repository: Repository) -> list[Path]:
    try:
        lines = repository.git.output("worktree", "list", "--porcelain").splitlines()
    except GitFailed:
        raise Invalid(f"Git cannot list the work trees of {visible(str(repository.git.folder))}.") from None
    return [_path(one.removeprefix(_WORK_TREE)) for one in lines if one.startswith(_WORK_TREE)]


def _path(printed: bytes) -> Path:
    return Path(os.fsdecode(printed).removesuffix("\n"))
