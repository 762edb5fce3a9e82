"""The hooks by which git has each commit and each push searched. One that was there before runs first."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Literal

from orrery.errors import Invalid, NotFound
from orrery.ports.scanned import HooksFolder
from orrery.syntax.lines import visible

HOOKS = {
    "pre-commit": "--staged",
    "commit-msg": '--message="$1"',
    "pre-push": '--outgoing --remote="$1"',
}
"""Each hook, and what `orrery tenants scan` is given in it."""

BEFORE = ".before-orrery"
"""The end of the name of a hook that was there before."""

_UNFINISHED = ".orrery-unfinished"
_MARK = (
    "# orrery-hook 1: written by `orrery tenants hooks install`, and deleted by `orrery tenants hooks remove`.\n"
)
_IS_OURS = b"#!/bin/sh\n# orrery-hook "
_MODE = 0o755
_MAY_RUN = 0o100

_GIVEN = {"pre-push": "given=$(cat; echo .)\ngiven=${given%.}\n"}
"""Git writes to the standard input of this hook, and two read it."""

HookState = Literal["installed", "out of date", "missing", "another's"]
"""`out of date`: written by another installation or for other settings, or one that may not run."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of one repository. `command` starts this installation; `settings` is an absolute path, if any."""

    folder: HooksFolder
    command: Sequence[str]
    settings: Path | None = None

    def check(self, *, may_be_shared: bool = False) -> None:
        """Raise `Invalid` where hooks would reach further than this repository, or would believe it."""
        if self.folder.is_shared and not may_be_shared:
            raise Invalid(
                f"core.hooksPath says that the hooks are in {visible(str(self.folder.path))}: other repositories "
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
        """Return whether a hook is ours."""
        place = self.folder.path / hook
        if not _is_there(place):
            return "missing"
        if not _is_ours(place):
            return "another's"
        may_run = bool(place.stat().st_mode & _MAY_RUN)
        return "installed" if may_run and place.read_bytes() == self._script(hook) else "out of date"

    def install(self, hook: str) -> bool:
        """Write a hook whole or not at all; return whether another one was there, which it now runs first."""
        place = self.folder.path / hook
        before = place.with_name(hook + BEFORE)
        keeps = _is_there(place) and not _is_ours(place)
        if keeps and _is_there(before):
            raise Invalid(
                f"{visible(str(place))} is another program's, and so is {visible(str(before))}, which was there "
                "earlier: make one of the two, and install again."
            )
        unfinished = place.with_name(hook + _UNFINISHED)
        self.folder.path.mkdir(parents=True, exist_ok=True)
        _ = unfinished.write_bytes(self._script(hook))
        unfinished.chmod(_MODE)
        if keeps:
            _ = place.rename(before)
        _ = unfinished.replace(place)
        return _is_there(before)

    def remove(self, hook: str) -> bool:
        """Remove a hook if it is ours, and put back what was there before; return whether it was ours."""
        place = self.folder.path / hook
        if not _is_there(place) or not _is_ours(place):
            return False
        before = place.with_name(hook + BEFORE)
        if _is_there(before):
            _ = before.replace(place)
        else:
            place.unlink()
        return True

    def _script(self, hook: str) -> bytes:
        words = [*self.command, "tenants", "scan", *(["--config", str(self.settings)] if self.settings else [])]
        program = self.command[0]
        gone = (
            f"{visible(program)} is gone: nothing was searched, and so git was stopped. "
            "Install Orrery again, and type: orrery tenants hooks install\n"
            "To go on once without a search, give git the option --no-verify."
        )
        given = 'printf %s "$given" | ' if hook in _GIVEN else ""
        # A copy under another name, which another program made and runs, must not run that program again.
        text = f"""#!/bin/sh
{_MARK}{_GIVEN.get(hook, "")}before=${{0%/*}}/{hook}{BEFORE}
if [ "${{0##*/}}" = {hook} ] && [ -x "$before" ]; then
  {given}"$before" "$@" || exit
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


def _is_ours(place: Path) -> bool:
    """Return whether a hook is ours; a link is not, whatever it leads to."""
    if place.is_symlink() or not place.is_file():
        return False
    with place.open("rb") as file:
        return file.read(len(_IS_OURS)) == _IS_OURS
