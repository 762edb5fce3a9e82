"""Run the measurements: all of them, or those whose names are given.

usage: python -m bench [NAME…]
"""

import pkgutil
import sys
from collections.abc import Callable
from importlib import import_module

import bench


def measurements() -> dict[str, Callable[[], None]]:
    """Return the `main` of every module beside this one that has one, by the module's name."""
    names = [each.name for each in pkgutil.iter_modules(bench.__path__) if each.name != "__main__"]
    modules = {name: import_module(f"bench.{name}") for name in names}
    return {name: module.main for name, module in modules.items() if hasattr(module, "main")}


def main(names: list[str]) -> str | None:
    """Run the named measurements, or all; a name that does not exist is the exit status."""
    known = measurements()
    if unknown := set(names) - set(known):
        return f"There is no measurement {min(unknown)!r}; there are: {', '.join(known) or 'none'}."
    for name in names or known:
        sys.stdout.write(f"\n{name}\n{'─' * len(name)}\n")
        known[name]()
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
