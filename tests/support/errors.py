"""Every kind of error that the product raises on purpose and answers by its class."""

import importlib
import pkgutil

import orrery
from orrery.errors import OrreryError


def kinds_of_errors() -> set[type[OrreryError]]:
    """Return the kinds that an `errors.py` of the product defines, in the root or in a domain, or a port."""
    for module in pkgutil.walk_packages(orrery.__path__, "orrery."):
        if _defines(module.name) and not module.name.startswith("orrery.sandbox"):
            importlib.import_module(module.name)
    return _below(OrreryError)


def _below(kind: type[OrreryError]) -> set[type[OrreryError]]:
    named = {one for one in kind.__subclasses__() if _defines(one.__module__)}
    return {kind}.union(*map(_below, named))


def _defines(module: str) -> bool:
    return module.endswith(".errors") or module.startswith("orrery.ports.")
