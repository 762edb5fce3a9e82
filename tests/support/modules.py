"""Where the code of the modules is."""

from collections.abc import Iterator

from orrery.app.modules import MODULES
from orrery.runtime.module import Module


def folders() -> set[str]:
    """Return the folders below `orrery` that the modules name, but for the root's own."""
    return {target.split(".")[1] for module in MODULES for target in targets(module)} - {"app"}


def targets(module: Module) -> Iterator[str]:
    """Yield where each part of a module's code is, as `package.module:name`."""
    named = (*module.sections, *module.secrets, *module.commands)
    yield from (one.target for one in named if one.target)
    if module.build:
        yield module.build
