"""Reading a file as the scanner does."""

import io

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.limits import UnpackLimits
from orrery.scanner.unpack.look import views
from orrery.scanner.unpack.view import View


def read(name: str, content: bytes, limits: UnpackLimits | None = None) -> tuple[list[View], list[NotRead]]:
    """Return the views of a file, and what could not be read."""
    found = list(views(name, io.BytesIO(content), limits))
    return [one for one in found if isinstance(one, View)], [one for one in found if isinstance(one, NotRead)]
