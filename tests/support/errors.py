"""Every kind of error that the product raises on purpose and answers by its class."""

import importlib
import pkgutil
from pathlib import Path

import orrery
from orrery.errors import OrreryError

ANSWERED = ("http_status", "tag")
"""What a class says of its answer, where it is another than its parent's."""


def kinds_of_errors() -> set[type[OrreryError]]:
    """Return the kinds of each `errors.py` and port, and those elsewhere that have an answer of their own."""
    for module in pkgutil.walk_packages(orrery.__path__, "orrery."):
        if not module.name.startswith("orrery.sandbox") and (_defines(module.name) or _answers(module)):
            importlib.import_module(module.name)
    return _below(OrreryError)


def _below(kind: type[OrreryError]) -> set[type[OrreryError]]:
    kinds = kind.__subclasses__()
    named = {one for one in kinds if _defines(one.__module__) or not vars(one).keys().isdisjoint(ANSWERED)}
    return {kind}.union(*map(_below, named))


def _defines(module: str) -> bool:
    return module.endswith(".errors") or module.startswith("orrery.ports.")


def _answers(module: pkgutil.ModuleInfo) -> bool:
    file = Path(orrery.__path__[0], *module.name.split(".")[1:]).with_suffix(".py")
    return file.exists() and any(f"    {name}: ClassVar[" in file.read_text() for name in ANSWERED)
