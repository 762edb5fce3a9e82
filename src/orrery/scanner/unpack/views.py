"""The texts in a file: what is searched."""

from typing import BinaryIO

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.limits import Budget, LimitReached, Limits
from orrery.scanner.unpack.look import look
from orrery.scanner.unpack.parts import Part
from orrery.scanner.unpack.view import OVERLAP, WINDOW, View, Views

__all__ = ["OVERLAP", "WINDOW", "Limits", "View", "views"]


def views(name: str, content: BinaryIO, limits: Limits | None = None) -> Views:
    """Yield every text in a file, and what could not be read, whose place is the part."""
    try:
        yield from look(Part("", name, content, Budget(limits or Limits()), look))
    except LimitReached as reached:
        yield NotRead(reached.place, str(reached))
