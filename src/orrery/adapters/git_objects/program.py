"""The program git, run so that a repository's own settings run nothing and hide nothing."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader, RawIOBase
from select import select
from typing import IO, TYPE_CHECKING

from orrery.errors import DependencyFailed, Invalid, NotFound
from orrery.syntax.lines import visible

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

    from _typeshed import WriteableBuffer

DEADLINE = 120.0
"""Seconds for one answer of git, and for the next bytes of a long one."""

PIPE = 1 << 20
"""Bytes that git may be ahead."""

_OF_THE_USER = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG_", "GIT_CEILING_", "GIT_DISCOVERY_", "GIT_EXEC_PATH")
"""The variables of who commits, and of where git and its settings are; `git -c` passes on GIT_CONFIG_, too."""

_PLACES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_SHALLOW_FILE",
)
_OF_A_HOOK = (*_PLACES, "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH", "GIT_NAMESPACE")
"""What git passes to a hook about the repository and about the index of this one commit."""

_FIXED = {
    "LC_ALL": "C",
    "GIT_NO_REPLACE_OBJECTS": "1",  # a replacement would be read, and the original be pushed
    "GIT_GRAFT_FILE": os.devnull,  # the same for parents
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # a git without the line before must not fetch either
    "GIT_TERMINAL_PROMPT": "0",
}
_OPTIONS = ("--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false")


class GitFailed(Exception):
    """Git ended with an error. Its message is not repeated: it may hold a name that is watched for."""


@dataclass(frozen=True, slots=True)
class Git:
    """Git in a folder. `is_hook` keeps the variables by which git passes to a hook what it works on."""

    folder: Path
    is_hook: bool = field(default=False, kw_only=True)

    def output(self, *arguments: str) -> bytes:
        """Return what git prints; raise `GitFailed`."""
        try:
            came = subprocess.run(  # noqa: S603  git itself, without a shell
                self._command(arguments),
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=DEADLINE,
                check=False,
            )
        except FileNotFoundError:
            raise _missing() from None
        except subprocess.TimeoutExpired:
            raise GitFailed(f"git {arguments[0]} gave no answer within {DEADLINE:g} s.") from None
        if came.returncode != 0:
            raise GitFailed(f"git {arguments[0]} ended with {came.returncode}.")
        return came.stdout

    @contextmanager
    def running(self, *arguments: str, given: IO[bytes] | int = subprocess.DEVNULL) -> Generator[Running]:
        """Yield a process that is read while it runs; it is killed when it is left before its end."""
        errors = os.fdopen(os.memfd_create("git"), "w+b")
        try:
            process = subprocess.Popen(  # noqa: S603  git itself, without a shell
                self._command(arguments),
                env=self._environment(),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                pipesize=PIPE,
            )
        except FileNotFoundError:
            raise _missing() from None
        assert process.stdout is not None  # noqa: S101  as it was asked for
        with errors, process.stdout as pipe:
            try:
                yield Running(process, BufferedReader(_Waiting(pipe.fileno()), PIPE), errors)
            finally:
                process.kill()
                _ = process.wait()

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return ["git", "-C", str(self.folder), *_OPTIONS, *arguments]

    def _environment(self) -> Mapping[str, str]:
        kept = _OF_THE_USER + (_OF_A_HOOK if self.is_hook else ())
        given = os.environ  # noqa: TID251  what git passes to its hook, and the user to git
        passed = {
            name: value
            for name, value in given.items()
            if not name.startswith(("GIT_", "ORRERY_")) or name.startswith(kept)
        }
        # With -C they would be looked for below that folder.
        return {**passed, **{one: os.path.abspath(passed[one]) for one in _PLACES if one in passed}, **_FIXED}  # noqa: PTH100  a Path takes longer


@dataclass(frozen=True, slots=True)
class Running:
    """A process of git, and what it prints."""

    process: subprocess.Popen[bytes]
    output: BufferedReader
    errors: IO[bytes]

    def check(self) -> None:
        """Wait for its end; raise `GitFailed` when it ended with an error, or read less than it was to."""
        if self.process.wait(DEADLINE) != 0:
            raise GitFailed(f"git ended with {self.process.returncode}.")
        _ = self.errors.seek(0)
        if any(line.startswith(b"error:") for line in self.errors):
            raise GitFailed("git could not read all.")


class _Waiting(RawIOBase):
    """A pipe from which nothing comes for too long is an error."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        if not select([self._descriptor], (), (), DEADLINE)[0]:
            raise GitFailed(f"git gave no answer within {DEADLINE:g} s.")
        return os.readv(self._descriptor, [buffer])


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository: `common` is the folder that its worktrees share, `digits` are those of an object's id."""

    git: Git
    is_bare: bool
    is_shallow: bool
    digits: int
    common: str


def opened(folder: Path, *, is_hook: bool = False) -> Repository:
    """Return the repository that a folder is in; raise `Invalid` when it is missing."""
    if not folder.is_dir():
        raise NotFound(f"There is no folder {visible(str(folder))}.")
    git = Git(folder, is_hook=is_hook)
    asked = ("--is-bare-repository", "--is-shallow-repository", "--show-object-format", "--git-common-dir")
    try:
        came = git.output("rev-parse", "--path-format=absolute", *asked)
    except GitFailed:
        raise Invalid(
            f"Git opens no repository at {visible(str(folder))}: it is missing, or it belongs to another user "
            f"and is not trusted; to see which, type: git -C {visible(str(folder))} status"
        ) from None
    is_bare, is_shallow, form, common = os.fsdecode(came).split("\n", 3)
    digits = {"sha1": 40, "sha256": 64}[form]
    return Repository(git, is_bare == "true", is_shallow == "true", digits, common.removesuffix("\n"))


def _missing() -> DependencyFailed:
    return DependencyFailed("There is no git on this machine; type: sudo apt-get install git")
