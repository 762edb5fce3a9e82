"""How a text is put into the forms that the table of decoders knows, at any alignment, wrapped, and nested."""

import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping
from urllib.parse import quote_from_bytes

Form = Callable[[bytes], bytes]


def raw_deflate(text: bytes) -> bytes:
    """Return a stream without a header."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(text) + packer.flush()


def gzipped(text: bytes) -> bytes:
    """Return a stream with the header of gzip."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(text) + packer.flush()


def base64(text: bytes) -> bytes:
    """Return standard Base64."""
    return b64encode(text)


def url_base64(text: bytes) -> bytes:
    """Return the other alphabet, without its end."""
    return b64encode(text, b"-_").rstrip(b"=")


def with_references(text: bytes) -> bytes:
    """Return Base64 as an attribute may have it."""
    return base64(text).replace(b"+", b"&#43;").replace(b"/", b"&#x2F;").replace(b"=", b"&equals;")


def with_escapes(text: bytes) -> bytes:
    r"""Return Base64 as a cautious writer of JSON has it: `+` is `\\u002b`."""
    return base64(text).replace(b"+", rb"\u002b").replace(b"/", rb"\/").replace(b"=", rb"\u003d")


def quoted(text: bytes) -> bytes:
    """Return Base64 within quoted-printable."""
    lines = base64(text).replace(b"=", b"=3D")
    return b"=\n".join(lines[at : at + 72] for at in range(0, len(lines), 72))


def in_address(text: bytes) -> bytes:
    """Return Base64 as a parameter of a web address."""
    return quote_from_bytes(base64(text), safe="").encode()


def dumped(text: bytes) -> bytes:
    """Return what `xxd` prints."""
    return b"\n".join(
        b"%08x: %b  %b" % (at, line.hex(" ", -2).encode(), bytes(one if 32 <= one < 127 else 46 for one in line))
        for at in range(0, len(text), 16)
        for line in [text[at : at + 16]]
    )


def canonical(text: bytes) -> bytes:
    """Return what `hexdump -C` prints."""
    return b"\n".join(
        b"%08x  %b  |%b|" % (at, line.hex(" ").encode(), bytes(one if 32 <= one < 127 else 46 for one in line))
        for at in range(0, len(text), 16)
        for line in [text[at : at + 16]]
    )


PACKED: Mapping[str, Form] = {
    "as it is": bytes,
    "gzip": gzipped,
    "zlib": zlib.compress,
    "raw deflate": raw_deflate,
}
FORMS: Mapping[str, Form] = {
    "Base64": base64,
    "Base64 of addresses": url_base64,
    "Base64 with references": with_references,
    "Base64 with escapes": with_escapes,
    "Base64 in quoted-printable": quoted,
    "Base64 in an address": in_address,
    "hex": lambda text: text.hex().encode(),
    "hex in upper case": lambda text: text.hex().upper().encode(),
    "hex with blanks": lambda text: text.hex(" ").encode(),
    "hex with colons": lambda text: text.hex(":").encode(),
    "hex of a program": lambda text: b", ".join(b"0x%02x" % one for one in text),
    "xxd": dumped,
    "hexdump -C": canonical,
    "percent": lambda text: b"".join(b"%%%02X" % one for one in text),
    "escapes of a program": lambda text: b"".join(rb"\x%02x" % one for one in text),
}
"""By name. The last two are read by the search itself when they say a text."""

WRAPPED: frozenset[str] = frozenset({"Base64", "Base64 of addresses", "hex", "hex in upper case"})
"""Forms that may be wrapped at any width."""


def wrapped(text: bytes, width: int, end: bytes) -> bytes:
    """Return a form in lines of so many letters; 0 is none."""
    return end.join(text[at : at + width] for at in range(0, len(text), width)) if width else text
