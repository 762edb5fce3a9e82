"""What stands beside the pixels of a picture is found, whatever stands right before and behind it."""

import zlib
from collections.abc import Callable

from orrery.scanner.detectors.all import detectors
from orrery.scanner.policy import Policy, Term
from tests.scanner.unpack.carriers import chunk, jpeg, png
from tests.scanner.unpack.reading import read
from tests.support.tables import each_case

NAMES = [f"{first}uasar{last}" for first in "qZ" for last in "abcdefghiklmn"]
"""So many that checksums, which stand right behind a text, begin with letters of either case."""

_Z = zlib.compress
CHUNKS: dict[str, Callable[[bytes], bytes]] = {
    "text": lambda name: chunk(b"tEXt", b"Author\0" + name),
    "text keyword": lambda name: chunk(b"tEXt", name + b"\0x"),
    "text without a keyword": lambda name: chunk(b"tEXt", name),
    "compressed": lambda name: chunk(b"zTXt", b"k\0\0" + _Z(name)),
    "compressed keyword": lambda name: chunk(b"zTXt", name + b"\0\0" + _Z(b"x")),
    "international": lambda name: chunk(b"iTXt", b"k\0\0\0de\0k\0" + name),
    "international without a translated keyword": lambda name: chunk(b"iTXt", b"k\0\0\0de\0\0" + name),
    "international without a language": lambda name: chunk(b"iTXt", b"k\0\0\0\0\0" + name),
    "international keyword": lambda name: chunk(b"iTXt", name + b"\0\0\0de\0\0x"),
    "language": lambda name: chunk(b"iTXt", b"k\0\0\0" + name + b"\0\0x"),
    "translated keyword": lambda name: chunk(b"iTXt", b"k\0\0\0de\0" + name + b"\0x"),
    "compressed international": lambda name: chunk(b"iTXt", b"k\0\1\0de\0k\0" + _Z(name)),
    "translated keyword of a compressed one": lambda name: chunk(
        b"iTXt", b"k\0\1\0de\0" + name + b"\0" + _Z(b"x")
    ),
    "profile": lambda name: chunk(b"iCCP", name + b"\0\0" + _Z(b"x")),
    "palette": lambda name: chunk(b"sPLT", name + b"\0\x08"),
    "private": lambda name: chunk(b"prVt", name),
    "exif": lambda name: chunk(b"eXIf", b"MM\0*" + name),
    "two beside each other": lambda name: chunk(b"tEXt", name) + chunk(b"prVt", b"x"),
}
CARRIERS: dict[str, Callable[[bytes], bytes]] = {
    **{f"png, {kind}": lambda name, made=made: png(made(name)) for kind, made in CHUNKS.items()},
    "jpeg, comments beside each other": lambda name: jpeg((0xFE, b"x"), (0xFE, name), (0xFE, b"x")),
}


@each_case("carrier", CARRIERS)
def test_a_name_is_found_beside_the_pixels(carrier: str) -> None:
    """In each field of each kind of chunk, in either case, before any checksum."""
    for name in NAMES:
        detector = detectors(Policy(terms=(Term("customer", name),)))[0]
        found, not_read = read("a.png", CARRIERS[carrier](name.encode()))
        assert any([*detector.matches(one.text, one.part)] for one in found), name
        assert not_read == []
