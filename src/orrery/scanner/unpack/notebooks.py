"""Notebooks of Jupyter: a text is a list of strings (nbformat's `multiline_string`), joined for a reader."""

import json
from collections.abc import Iterator
from typing import Final, cast

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.limits import MB
from orrery.scanner.unpack.parts import UnpackedFile, without_lines
from orrery.scanner.unpack.texts import texts
from orrery.scanner.unpack.view import Views

_LARGEST: Final = 128 * MB
_TOO_LARGE: Final = "A notebook of more than {} MB is not read: clear its outputs, or leave it out."
_NAMES: Final = {"markdown": "cell.md", "text/html": "output.html", "text/markdown": "output.md"}
_TEXTS: Final = frozenset({"source", "text", "input"})
"""Keys of texts; a key with a slash is the media type of an output or of an attachment."""


def read(part: UnpackedFile, first: bytes) -> Views:
    """Yield the texts of a notebook: its bytes, and each text in it as it is shown."""
    yield from texts(part, first)
    if part.size > _LARGEST:
        yield NotRead(part.place, _TOO_LARGE.format(_LARGEST // MB))
        return
    try:
        notebook: object = json.loads(b"".join(part.pieces()))
    except (ValueError, RecursionError):
        return  # no program opens it as a notebook, either
    for kind, text in _shown(notebook, ""):
        yield from without_lines(part.known(f"({kind or 'cell'})", _NAMES.get(kind, ""), text))


def _shown(one: object, kind: str) -> Iterator[tuple[str, bytes]]:
    """Yield the texts, each with its media type or the type of its cell."""
    if isinstance(one, dict):
        members = cast("dict[str, object]", one)
        inner = str(members.get("cell_type", "")) or kind
        for key, value in members.items():
            if text := _joined(value) if key in _TEXTS or "/" in key else "":
                yield (key if "/" in key else inner), text.encode(errors="replace")
            else:
                yield from _shown(value, inner)
    elif isinstance(one, list):
        for value in cast("list[object]", one):
            yield from _shown(value, kind)


def _joined(value: object) -> str:
    """Return a text that is one string or a list of strings; nothing for anything else."""
    strings = cast("list[object]", value) if isinstance(value, list) else [value]
    return "".join(cast("list[str]", strings)) if all(isinstance(one, str) for one in strings) else ""
