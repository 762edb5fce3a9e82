"""GUIDs in every form in which they are written."""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from uuid import UUID

from orrery.scanner.detectors.hints import GUID, GUID_FORMS
from orrery.scanner.detectors.reading import Reading

_EXACT = re.compile(f"(?<![0-9A-Za-z])(?:{GUID_FORMS})(?![0-9A-Za-z])")
_PART = re.compile(r"0[xX]([0-9A-Fa-f]+)")
_WIDTHS = (8, 4, 4, *(2,) * 8)

CONSUMERS = "9188040d-6c67-4c5b-b112-36a304b66dad"
"""The tenant of all personal accounts: https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference."""

_WORDS = re.compile(r"(?:dead|beef|cafe|babe|feed|face|f00d|c0de|0000|ffff)+")
_RISING = "0123456789abcdef0123456789abcdef"
_FALLING = _RISING[::-1]
_RISING_TENS = "1234567890" * 4


def guids(reading: Reading) -> Iterator[tuple[int, int, str]]:
    """Yield where GUIDs are, and each in lower case with dashes."""
    for found in _EXACT.finditer(reading.text) if GUID in reading.hints else ():
        if reading.judges(*found.span()):
            yield found.start(), found.end(), _canonical(found[0])


def _canonical(written: str) -> str:
    if "x" in written.lower():
        written = "".join(
            part.rjust(width, "0") for part, width in zip(_PART.findall(written), _WIDTHS, strict=True)
        )
    return str(UUID(re.sub("[^0-9A-Fa-f]", "", written)))


def is_placeholder(guid: str) -> bool:
    """Return whether a GUID stands for none: nil, of one or two digits, of runs, counted up, or of words."""
    digits = guid.replace("-", "")
    fours = [digits[at : at + 4] for at in range(0, len(digits), 4)]
    return (
        len(set(digits)) <= 2  # noqa: PLR2004  such as the nil GUID and ...0001
        or all(len(set(four)) == 1 for four in fours)
        or all(any(part in row for row in (_RISING, _FALLING, _RISING_TENS)) for part in guid.split("-"))
        or bool(_WORDS.fullmatch(digits))
    )


def encoded(guid: str) -> frozenset[bytes]:
    """Return a GUID in base64 of both orders of its bytes, without the signs of equality."""
    one = UUID(guid)
    return frozenset(
        encode(data).rstrip(b"=")
        for data in (one.bytes, one.bytes_le)
        for encode in (b64encode, urlsafe_b64encode)
    )
