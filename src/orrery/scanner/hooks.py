"""The hooks by which git has each commit and each push searched. One that was there before runs first."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Literal

from orrery.errors import Invalid, NotFound
from orrery.ports.scanned import HooksFolder
from orrery.syntax.lines import visible

HOOKS = {
    "pre-commit": "--staged",
    "pre-merge-commit": "--staged",
    "commit-msg": '--message="$1"',
    "pre-push": '--outgoing --remote="$1"',
}
"""Each hook, and what `orrery tenants scan` is given in it."""

KEPT = ".before-orrery"
"""The end of the name of the folder that has the hooks of before; it is beside the folder of the hooks.

There each keeps its own name, and finds above and beside itself what it found before (decision 80).
"""

_SCAN = ("tenants", "scan", "--quiet")
_WITHOUT_LIST = "--without-watch-list"
_IGNORED = ".gitignore"
_UNFINISHED = ".orrery-unfinished"
_MARK = (
    "# orrery-hook 2: written by `orrery tenants hooks install`, and deleted by `orrery tenants hooks remove`.\n"
)
_IS_OURS = b"#!/bin/sh\n# orrery-hook "
_MODE = 0o755
_MAY_RUN = 0o100

_READS = {"pre-push": "given=$(cat; echo .)\ngiven=${given%.}\n"}
"""Git writes to the standard input of this hook, and two read it."""

_PASSES_ON = {"pre-push": 'printf %s "$given" | '}

HookState = Literal["installed", "out of date", "not executable", "missing", "another's"]
"""`out of date`: of another release or other settings, changed by hand, or without its program or settings."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of one repository. `command` starts this installation; `settings` is an absolute path, if any.

    `without_list` has them search where there is a track A and no watch-list, too.
    """

    folder: HooksFolder
    command: Sequence[str]
    settings: Path | None = None
    without_list: bool = False

    def check(self, *, may_be_shared: bool = False) -> None:
        """Raise `Invalid` where hooks would reach further than this repository, or would believe it."""
        if self.folder.is_shared and not may_be_shared:
            raise Invalid(
                f"core.hooksPath puts the hooks into {visible(str(self.folder.path))}: other repositories "
                "may use them, or they are committed with this one. To write them there anyway, add: --shared"
            )
        if self.settings and not self.settings.is_file():
            raise NotFound(f"There is no settings file {visible(str(self.settings))}.")
        if self.settings and self.settings.resolve().is_relative_to(self.folder.work_tree.resolve()):
            raise Invalid(
                f"The settings file {visible(str(self.settings))} is in the repository that is searched: a commit "
                "could change what is searched for. Keep it elsewhere."
            )

    def state(self, hook: str) -> HookState:
        """Return whether git runs a hook of ours that searches, of whichever installation."""
        place = self._place / hook
        if not _is_there(place):
            return "missing"
        if not _is_ours(place):
            return "another's"
        if not _may_run(place):
            return "not executable"
        written = self._writer_of(hook, place.read_bytes())
        return "installed" if written and written.works(self.settings) else "out of date"

    def install(self, hook: str) -> bool:
        """Write a hook whole or not at all; return whether another one was there, which it now runs first."""
        place, kept = self._place / hook, self._kept(hook)
        is_theirs = _is_there(place) and not _is_ours(place)
        is_same = is_theirs and place.is_file() and kept.is_file() and place.read_bytes() == kept.read_bytes()
        if is_theirs and _is_there(kept) and not is_same:
            raise Invalid(
                f"{visible(str(place))} is another program's, and so is {visible(str(kept))}, which was there "
                "earlier: make one of the two, and install again."
            )
        unfinished = place.with_name(hook + _UNFINISHED)
        self._place.mkdir(parents=True, exist_ok=True)
        _ = unfinished.write_bytes(self.script(hook))
        unfinished.chmod(_MODE)
        if is_theirs and not is_same:
            kept.parent.mkdir(exist_ok=True)
            _ = place.rename(kept)
        _ = unfinished.replace(place)
        self._link_siblings(kept.parent)
        return _is_there(kept)

    def remove(self, hook: str) -> bool:
        """Remove a hook if it is ours, and put back what was there before; return whether it was ours."""
        place, kept = self._place / hook, self._kept(hook)
        if not _is_there(place) or not _is_ours(place):
            return False
        if _is_there(kept):
            _ = kept.replace(place)
        else:
            place.unlink()
        if kept.parent.is_dir() and not any(_is_there(kept.with_name(one)) for one in HOOKS):
            for one in [*_links(kept.parent), kept.with_name(_IGNORED)]:
                one.unlink(missing_ok=True)
            with suppress(OSError):
                kept.parent.rmdir()
        return True

    @property
    def _place(self) -> Path:
        return self.folder.path.resolve()

    def _kept(self, hook: str) -> Path:
        """Return where a hook of before is kept, once it was moved from where the first release put it."""
        kept, earlier = Path(f"{self._place}{KEPT}", hook), self._place / f"{hook}{KEPT}"
        if _is_there(earlier) and not _is_there(kept):
            kept.parent.mkdir(exist_ok=True)
            _ = earlier.rename(kept)
        return kept

    def _link_siblings(self, kept: Path) -> None:
        """Have the hooks of before find the files beside them, by links; git sees nothing of the folder."""
        if not kept.is_dir():
            return
        _ = (kept / _IGNORED).write_text("*\n")
        for one in self._place.iterdir():
            link = kept / one.name
            if (
                one.suffix != ".sample"
                and one.name not in {*HOOKS, _IGNORED}
                and not _is_there(link)
                and not _is_ours(one)
            ):
                link.symlink_to(Path("..", self._place.name, one.name))

    def _writer_of(self, hook: str, script: bytes) -> "Hooks | None":
        """Return what wrote a hook, or None when it is not, to the byte, what this release writes."""
        given = _PASSES_ON.get(hook, "")
        line = (
            script.decode(errors="surrogateescape")
            .rpartition("\nfi\n")[2]
            .removeprefix(given)
            .removesuffix(f" {HOOKS[hook]}\n")
        )
        try:
            words = shlex.split(line)
            at = words.index(_SCAN[0])
        except ValueError:
            return None
        options = words[at + len(_SCAN) :]
        settings = Path(options[-1]) if "--config" in options else None
        made = replace(self, command=words[:at], settings=settings, without_list=options[:1] == [_WITHOUT_LIST])
        return made if words[:at] and made.script(hook) == script else None

    def works(self, settings: Path | None) -> bool:
        """Return whether this starts an Orrery that is there, with settings that are: these, if any are given."""
        is_orrery = Path(self.command[0]).name == "orrery" or self.command[-1] == "orrery"
        is_there = _may_run(Path(self.command[0])) and (self.settings is None or self.settings.is_file())
        return is_orrery and is_there and settings in {None, self.settings}

    def script(self, hook: str) -> bytes:
        """Return the text of a hook."""
        settings = ["--config", str(self.settings)] if self.settings else []
        words = [*self.command, *_SCAN, *([_WITHOUT_LIST] if self.without_list else []), *settings]
        program = self.command[0]
        gone = (
            f"{visible(program)} is gone: nothing was searched, and so git was stopped. "
            "Install Orrery again, and type: orrery tenants hooks install\n"
            "To go on once without a search, give git the option --no-verify."
        )
        given = _PASSES_ON.get(hook, "")
        # A copy under another name, which another program made and runs, must not run that program again.
        text = f"""#!/bin/sh
{_MARK}{_READS.get(hook, "")}here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd -P) || exit
kept=$here{KEPT}/{hook}
if [ "${{0##*/}}" = {hook} ] && [ -x "$kept" ]; then
  {given}"$kept" "$@" || exit
fi
if [ ! -x {quote(program)} ]; then
  printf '%s\\n' {quote(gone)} >&2
  exit 1
fi
{given}{" ".join(map(quote, words))} {HOOKS[hook]}
"""
        return text.encode(errors="surrogateescape")


def _is_there(place: Path) -> bool:
    return place.is_symlink() or place.exists()


def _may_run(place: Path) -> bool:
    return place.is_file() and bool(place.stat().st_mode & _MAY_RUN)


def _links(folder: Path) -> Iterator[Path]:
    return (one for one in folder.iterdir() if one.is_symlink())


def _is_ours(place: Path) -> bool:
    """Return whether a hook is ours; a link is not, whatever it leads to."""
    if place.is_symlink() or not place.is_file():
        return False
    with place.open("rb") as file:
        return file.read(len(_IS_OURS)) == _IS_OURS
