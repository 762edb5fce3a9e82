"""Rich text: its control words removed, its characters decoded."""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.encodings import known
from orrery.scanner.unpack.parts import UnpackedFile
from orrery.scanner.unpack.texts import texts
from orrery.scanner.unpack.view import Views, changed, windows

_TOKEN: Final = re.compile(
    rb"\\'([0-9a-fA-F]{2})"
    rb"|\\u(-?[0-9]{1,6}) ?(?:\\'[0-9a-fA-F]{2}|\?)?"
    rb"|(\\(?:par|pard|line|cell|row|tab|page|sect)(?![a-zA-Z])-?[0-9]{0,10} ?)"
    rb"|\\[a-zA-Z]{1,32}-?[0-9]{0,10} ?|\\[^a-zA-Z]|[{}\r\n]"
)
_PAGE: Final = re.compile(rb"\\ansicpg([0-9]{1,5})")
_OBJECT: Final = b"\\objdata"
_EMBEDDED: Final = "It holds an embedded object, which is not read: save it as docx, or leave it out."


def read(part: UnpackedFile, first: bytes) -> Views:
    """Yield the texts of rich text, as they are and as they are shown."""
    yield from texts(part, first)
    found = _PAGE.search(first)
    encoding = known(f"cp{found[1].decode()}") if found else ""
    yield from windows(part.place, plain(part.pieces(), encoding or "cp1252"), 0)
    if any(_OBJECT in view.text for view in windows(part.place, part.pieces())):
        yield NotRead(part.place, _EMBEDDED)


def plain(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield what is shown, as UTF-8."""

    def shown(found: re.Match[bytes]) -> bytes:
        if found[1]:
            return bytes.fromhex(found[1].decode()).decode(encoding, "replace").encode()
        if found[2]:
            return chr(int(found[2]) & 0xFFFF).encode(errors="replace")
        return b"\n" if found[3] else b""

    return changed(pieces, partial(_TOKEN.sub, shown), _end)


def _end(held: bytes) -> int:
    return max(held.rfind(b"\n"), held.rfind(b" ")) + 1 or len(held)
