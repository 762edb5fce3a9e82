"""Run the measurements: all of them, or those whose names are given.

usage: python -m bench [NAME…] [--against COMMIT]

With --against, an older commit's code is measured beside this one's, in turns, by those that can (`AGAINST`).
"""

import pkgutil
import sys
from collections.abc import Callable
from importlib import import_module
from subprocess import CalledProcessError

import bench
from bench.against import version_of


def measurements() -> dict[str, Callable[[], None]]:
    """Return the `main` of every module beside this one that has one, by the module's name."""
    names = [each.name for each in pkgutil.iter_modules(bench.__path__) if each.name != "__main__"]
    modules = {name: import_module(f"bench.{name}") for name in names}
    return {name: module.main for name, module in modules.items() if hasattr(module, "main")}


def against(names: list[str], ref: str) -> str | None:
    """Run the named measurements beside a commit, or all that can; what cannot is the exit status."""
    known = {name: import_module(f"bench.{name}") for name in measurements()}
    able = {name: module.AGAINST for name, module in known.items() if hasattr(module, "AGAINST")}
    if unable := set(names) - set(able):
        return f"{min(unable)!r} is not measured against a commit; there are: {', '.join(able)}."
    try:
        older = version_of(ref)
    except CalledProcessError:
        return f"There is no commit {ref!r} here."
    for name in names or able:
        sys.stdout.write(f"\n{name} against {ref}\n{'─' * len(name)}\n")
        able[name](older)
    return None


def main(names: list[str]) -> str | None:
    """Run the named measurements, or all; a name that does not exist is the exit status."""
    if len(names) > 1 and names[-2] == "--against":
        return against(names[:-2], names[-1])
    known = measurements()
    if unknown := set(names) - set(known):
        return f"There is no measurement {min(unknown)!r}; there are: {', '.join(known) or 'none'}."
    for name in names or known:
        sys.stdout.write(f"\n{name}\n{'─' * len(name)}\n")
        known[name]()
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
