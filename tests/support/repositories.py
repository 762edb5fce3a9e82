"""Real git repositories in temporary folders, and what a source of the scanner reads."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from orrery.ports.scanned import Item, NotRead, Source
from tests.support.waiting import PATIENCE


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository with a work tree, or without one."""

    folder: Path

    def git(self, *arguments: str | bytes | Path, given: bytes = b"", **variables: str) -> str:
        """Run git in it; return what it prints, and fail when it fails."""
        came = self.try_git(*arguments, given=given, **variables)
        assert came.returncode == 0, came.stderr
        return os.fsdecode(came.stdout).strip()

    def try_git(
        self, *arguments: str | bytes | Path, given: bytes = b"", **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git in it; return what came of it."""
        return subprocess.run(  # noqa: S603  git itself
            ["git", "-C", self.folder, *arguments],  # noqa: S607  the machine's git
            input=given,
            capture_output=True,
            env={**os.environ, **variables},  # noqa: TID251  passed on
            check=False,
            timeout=PATIENCE,
        )

    def write(self, name: str | bytes, content: str | bytes = "x") -> Path:
        """Write a file, without adding it to the index."""
        file = self.folder / os.fsdecode(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def stage(self, name: str | bytes, content: str | bytes = "x") -> None:
        """Write a file, and add it to the index."""
        self.write(name, content)
        self.git("add", "--", name)

    def commit(self, name: str | bytes, content: str | bytes = "x", message: str = "A change") -> str:
        """Write a file and commit it; return the commit."""
        self.stage(name, content)
        self.git("commit", "--no-verify", "-m", message)
        return self.git("rev-parse", "HEAD")


def new_repo(folder: Path, *options: str) -> Repo:
    """Make a repository."""
    folder.mkdir(parents=True, exist_ok=True)
    repo = Repo(folder)
    repo.git("init", "--quiet", "--initial-branch=main", *options)
    return repo


def every(source: Source) -> Iterator[tuple[Item, bytes]]:
    """Yield the items of a source with what is in them."""
    for one in source.items():
        if isinstance(one, Item):
            yield one, one.content.read()


def texts(source: Source) -> Mapping[str, bytes]:
    """Return what a source has to be searched, by place; that of several at one place is put together."""
    found: dict[str, bytes] = {}
    for item, text in every(source):
        found[item.place] = found.get(item.place, b"") + text
    return found


def names(source: Source) -> list[str]:
    """Return the names that are searched."""
    return [item.name for item, _ in every(source) if item.name and not item.is_named_elsewhere]


def unread(source: Source) -> list[NotRead]:
    """Return what could not be read."""
    return [one for one in source.items() if isinstance(one, NotRead)]
