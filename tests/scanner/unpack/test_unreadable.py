"""What cannot be searched is named, with what to do; never silently passed over, and never a crash."""

import bz2
import gzip
import io
import lzma
import os
import tracemalloc
import zlib
from collections.abc import Callable, Generator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, cast

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.limits import UnpackLimits
from orrery.scanner.unpack.look import views
from orrery.scanner.unpack.view import WINDOW, View
from tests.scanner.unpack.carriers import WORD, chunk, docx, encrypted_zip, nested, png, tarred, zipped
from tests.scanner.unpack.pdfs import pdf, written
from tests.scanner.unpack.reading import read
from tests.scanner.unpack.table import CARRIERS, PDFS
from tests.support.tables import each_case

_WORD = WORD.encode()
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def with_method(method: int) -> bytes:
    """Return a zip archive whose member is compressed by another method."""
    archive = bytearray(zipped({"a.txt": b"here"}))
    for mark, place in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        archive[archive.index(mark) + place] = method
    return bytes(archive)


def damaged(content: bytes, place: int = -40) -> bytes:
    """Return a file with a byte that was changed."""
    changed = bytearray(content)
    changed[place] ^= 0xFF
    return bytes(changed)


_NOISE = b"".join(sha256(bytes([number])).digest() for number in range(120))
UNREADABLE: dict[str, tuple[str, bytes, str, str]] = {
    "7z": ("a.7z", b"7z\xbc\xaf\x27\x1c\0\4", "", "A 7z archive"),
    "7z by content": ("a.txt", b"7z\xbc\xaf\x27\x1c\0\4", "", "A 7z archive"),
    "rar": ("a.rar", b"Rar!\x1a\x07\x01\0", "", "A RAR archive"),
    "cab": ("a.cab", b"MSCF\0\0\0\0\0", "", "A cabinet archive"),
    "zstd": ("a.zst", b"\x28\xb5\x2f\xfd\0", "", "A zstd file"),
    "iso": ("a.iso", bytes(32769) + b"CD001", "", "A disk image"),
    "dmg": ("a.dmg", b"\1\0" * 900 + b"koly\0\0\0\4" + bytes(504), "", "A disk image"),
    "ole": ("a.doc", _OLE, "", "A file of an older Office"),
    "encrypted docx": (
        "a.docx",
        _OLE + "EncryptedPackage".encode("utf-16-le"),
        "",
        "An office document is",
    ),
    "ole in docx": ("a.docx", docx(word__embeddings__o_bin=_OLE), "word/embeddings/o.bin", "A file of an older"),
    "macros": ("a.docm", docx(word__v_bin=_OLE + "_VBA_PROJECT".encode("utf-16-le")), "word/v.bin", "Macros"),
    "luks": ("a.img", b"LUKS\xba\xbe\0\2", "", "A volume is encrypted"),
    "gpg": ("a.gpg", b"\x85\x01\x0c\x03" + b"12345678" + b"\x01", "", "A file of OpenPGP is encrypted"),
    "armoured gpg": ("a.asc", b"-----BEGIN PGP MESSAGE-----\n", "", "A file of OpenPGP is encrypted"),
    "age": ("a.age", b"age-encryption.org/v1\n-> X\n\0", "", "A file of age is encrypted"),
    "git-crypt": ("a.txt", b"\0GITCRYPT\0\1\2", "", "A file of git-crypt is encrypted"),
    "mail store": ("a.pst", b"!BDN\0\0\0\0SM", "", "A mailbox of Outlook"),
    "parquet": ("a.parquet", b"PAR1\x15\0", "", "A table of its kind"),
    "pages": ("a.pages", zipped({"Index/Document.iwa": b"\0\1\2\3"}), "Index/Document.iwa", "A document of Pages"),
    "named docx": ("a.docx", _NOISE, "", "It is no .docx"),
    "encrypted odt": (
        "a.odt",
        zipped({"content.xml": _NOISE}),
        "content.xml",
        "It is no .xml",
    ),
    "encrypted zip": ("a.zip", encrypted_zip(), "a.txt", "It is encrypted"),
    "zip by another method": ("a.zip", with_method(93), "a.txt", "It is compressed by a method"),
    "broken zip": ("a.zip", zipped({"a.txt": _NOISE})[:-30], "", "It is damaged"),
    "broken member": ("a.zip", damaged(zipped({"a.txt": _NOISE}), 300), "a.txt", "It is damaged"),
    "hidden member": (
        "a.zip",
        zipped({"a": _NOISE})[:-80] + zipped({"b": b""}),
        "(between members)",
        "It is damaged",
    ),
    "broken appended zip": (
        "a.bin",
        b"\0\1" * 100 + b"PK\5\6\0\0\0\0" + b"\xff" * 14,
        "",
        "It seems to hold",
    ),
    "cut tar": ("a.tar", tarred({"a": _NOISE})[:2000], "a", "It is damaged"),
    "broken tar": ("a.tar", damaged(tarred({"a": b"1", "b": b"2"}), 1024), "", "It is damaged"),
    "long header of a tar": ("a.tar", tarred({"a": b""}, pax_headers={"x": "y" * 5_000_000}), "", "It is damaged"),
    "cut gzip": ("a.gz", gzip.compress(_NOISE)[:-20], "(content)", "It is damaged"),
    "broken gzip": ("a.gz", damaged(gzip.compress(_NOISE), -6), "(content)", "It is damaged"),
    "cut bzip2": ("a.bz2", bz2.compress(_NOISE)[:-20], "(content)", "It is damaged"),
    "cut xz": ("a.xz", lzma.compress(_NOISE)[:-20], "(content)", "It is damaged"),
    "broken chunk": ("a.png", png(chunk(b"zTXt", b"k\0\0" + b"no zlib")), "(zTXt)", "It is damaged"),
    "encrypted pdf": ("a.pdf", written(password="secret"), "", "It is encrypted"),  # noqa: S106  of no account
    "broken pdf": ("a.pdf", b"%PDF-1.4\n\0\1\2 no objects", "", "Some of it could not be read"),
    "cut chunk": ("a.png", png(chunk(b"zTXt", b"k\0\0" + zlib.compress(_NOISE)[:-9])), "(zTXt)", "It is damaged"),
    "zip without its beginning": ("a.bin", zipped({"a.txt": _NOISE})[8:], "", "It seems to hold"),
    "rich text with an object": (
        "a.rtf",
        b"{\\rtf1{\\object{\\*\\objdata 01}}}",
        "",
        "It holds an embedded object",
    ),
    "rich text with an object at a cut": (
        "a.rtf",
        b"{\\rtf1 " + b"a b " * (WINDOW // 4 - 5) + b"{\\object{\\*\\objdata 01}}}",
        "",
        "It holds an embedded object",
    ),
    "deep": ("a.zip", nested(b"x", 7), "!".join(["inner"] * 7), "It is nested more than 6 deep"),
}


@each_case("name", UNREADABLE)
def test_what_cannot_be_searched_is_named(name: str) -> None:
    """A sentence says what it is and what to do, and its place is the part."""
    file, content, place, why = UNREADABLE[name]
    _, not_read = read(file, content)
    found = [one.why for one in not_read if one.place == place]
    assert found
    assert all(one.startswith(why) and one.endswith(".") for one in found)


ALSO_READ = {
    "before the cut of a tar": ("a.tar", tarred({"a": _WORD * 50 + _NOISE})[:2000]),
    "before the cut of a gzip": ("a.gz", gzip.compress(_WORD * 1000 + os.urandom(5000))[:-2500]),
    "beside a broken member": ("a.zip", damaged(zipped({"a.txt": _NOISE, "b": _WORD}), 300)),
    "beside an encrypted member": ("a.zip", encrypted_zip() + b"\0" + _WORD),
    "behind a broken header of a tar": ("a.tar", damaged(tarred({"a": b"1", "b": b"2", "c": _WORD}), 1024)),
    "in the raw bytes of a broken zip": ("a.zip", zipped({WORD: _NOISE})[:-60]),
    "in the raw bytes of an older Office": ("a.doc", _OLE + WORD.encode("utf-16-le")),
    "in a broken PDF": ("a.pdf", b"%PDF-1.4\n\0\1\2 " + _WORD),
}


def test_what_is_below_a_limit_is_read() -> None:
    """A bomb is searched as far as it was unpacked, and named once."""
    found, not_read = read("a.gz", gzip.compress(_WORD + bytes(2_000_000)), UnpackLimits(total=1024 * 1024))
    assert any(_WORD in view.text for view in found)
    assert [one.place for one in not_read] == ["(content)"]


@each_case("name", ALSO_READ)
def test_what_can_be_read_of_it_is_read(name: str) -> None:
    """What cannot be searched whole is searched as far as it goes, and still named."""
    found, not_read = read(*ALSO_READ[name])
    assert any(_WORD in view.text for view in found)
    assert not_read


@cache
def zeros() -> bytes:
    """Return an archive that unpacks to more than the size from which its ratio counts."""
    return zipped({"a": bytes(12_000_000)})


LIMITED: dict[str, tuple[Callable[[], bytes], UnpackLimits, str]] = {
    "ratio": (zeros, UnpackLimits(), "It unpacks to more than 200 times its size"),
    "ratio of gzip": (
        lambda: gzip.compress(bytes(12_000_000)),
        UnpackLimits(),
        "It unpacks to more than 200 times",
    ),
    "total": (zeros, UnpackLimits(total=1024 * 1024), "It unpacks to more than 1 MB"),
    "total of many": (
        lambda: zipped({f"{n}": _NOISE for n in range(300)}),
        UnpackLimits(total=1024 * 1024),
        "It unpacks to more",
    ),
    "members of a zip": (
        lambda: zipped({f"{n}": b"" for n in range(20)}),
        UnpackLimits(members=10),
        "It has more than 10",
    ),
    "members of a tar": (
        lambda: tarred({f"{n}": b"" for n in range(20)}),
        UnpackLimits(members=10),
        "It has more than 10",
    ),
    "directory": (lambda: zipped({"a": _NOISE, "b" * 4000: b""}), UnpackLimits(members=10), "It has more than 10"),
    "profile of a picture": (
        lambda: png(chunk(b"zTXt", b"Raw profile type x\0\0" + zlib.compress(b"x 1 " + bytes(17_000_000)))),
        UnpackLimits(ratio=10_000),
        "It holds a profile",
    ),
    "revisions of a PDF": (
        lambda: pdf("x") + b"startxref\n%d\n%%%%EOF\n" % pdf("x").index(b"xref\n0") * 7,
        UnpackLimits(),
        "Some of it",
    ),
    "size of a PDF": (lambda: pdf("x"), UnpackLimits(pdf_bytes=100), "A PDF of more than"),
    "memory of a PDF": (lambda: pdf("x"), UnpackLimits(pdf_memory=16 * 1024 * 1024), "Reading it"),
    "time of a PDF": (lambda: pdf(") Tj (" * 300_000), UnpackLimits(pdf_seconds=1), "Reading it"),
}


@each_case("name", LIMITED)
def test_a_bomb_ends_at_a_limit(name: str) -> None:
    """The sentence names the limit."""
    make, limits, why = LIMITED[name]
    _, not_read = read("a", make(), limits)
    assert not_read[-1].why.startswith(why)


class Zeros(io.RawIOBase):
    """A file of zeros that takes no memory."""

    def __init__(self, size: int) -> None:
        self._size, self._place = size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self._place = offset + (0, self._place, self._size)[whence]
        return self._place

    def tell(self) -> int:
        return self._place

    def read(self, size: int = -1, /) -> bytes:
        left = self._size - self._place
        size = left if size < 0 else min(size, left)
        self._place += size
        return bytes(size)


@pytest.mark.parametrize(("name", "packed"), [("a.bin", False), ("a.gz", True)])
def test_a_huge_file_goes_through_in_windows(name: str, *, packed: bool) -> None:
    """Memory does not grow with a file, nor with what is unpacked."""
    content = io.BytesIO(gzip.compress(bytes(40_000_000))) if packed else cast("BinaryIO", Zeros(40_000_000))
    tracemalloc.start()
    try:
        count = sum(1 for _ in views(name, content, UnpackLimits(ratio=10_000)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count >= 39
    assert peak < 30_000_000


def test_a_temporary_file_is_gone_whatever_happens() -> None:
    """Nobody who stops in the middle leaves one open."""
    before = set(Path("/proc/self/fd").iterdir())
    reading = cast(
        "Generator[View | NotRead]", views("a.zip", io.BytesIO(nested(b"here", 4)), UnpackLimits(memory=1))
    )
    while not (isinstance(view := next(reading), View) and view.text == b"here"):
        pass
    assert set(Path("/proc/self/fd").iterdir()) > before
    reading.close()
    assert set(Path("/proc/self/fd").iterdir()) == before


class Failing(io.BytesIO):
    """A file that cannot be read to its end."""

    def read(self, size: int | None = -1, /) -> bytes:
        del size
        raise OSError


def test_a_disk_that_fails_is_named() -> None:
    """A file that cannot be read is a finding, not a crash."""
    assert [type(one) for one in views("a.txt", Failing())] == [NotRead]


@each_case("name", [*sorted(CARRIERS.keys() - PDFS.keys()), "pdf-page", "pdf-attachment", "broken"])
def test_nothing_is_said_of_what_is_in_a_file(
    name: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Not in a sentence of what was not read, nor in a log, an output or a representation."""
    file, content = CARRIERS.get(name, ("a.pdf", pdf(WORD).replace(b"startxref\n", b"startxref\n9")))
    for one in views(file, io.BytesIO(damaged(content, len(content) // 2))):
        assert WORD not in (one.why if isinstance(one, NotRead) else repr(one).replace(one.part, ""))
    out, err = capfd.readouterr()
    assert out + err + caplog.text == ""


def test_a_pdf_is_not_read_by_what_lies_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is scanned cannot bring its own library."""
    (tmp_path / "pypdf.py").write_text("raise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    found, not_read = read("a.pdf", pdf(WORD))
    assert any(_WORD in view.text for view in found if view.part)
    assert not_read == []


@st.composite
def hostile(draw: st.DrawFn, names: list[str]) -> tuple[str, bytes]:
    """Return a carrier that was cut, and some of whose bytes were changed."""
    name, content = CARRIERS[draw(st.sampled_from(names))]
    content = bytearray(content[:5000])
    for place, value in draw(st.lists(st.tuples(st.integers(0, 4999), st.integers(0, 255)), max_size=4)):
        if place < len(content):
            content[place] = value
    end = draw(st.integers(0, len(content)))
    return name, bytes(content[: end if draw(st.booleans()) else len(content)])


@settings(max_examples=200)
@given(hostile(sorted(CARRIERS.keys() - PDFS.keys())))
def test_a_damaged_file_ends_in_views_or_a_sentence(file: tuple[str, bytes]) -> None:
    """No cut and no changed byte makes reading fail otherwise."""
    found, not_read = read(*file)
    assert found or not_read or not file[1]


@settings(max_examples=5)
@given(hostile(sorted(PDFS)))
def test_a_damaged_pdf_ends_in_views_or_a_sentence(file: tuple[str, bytes]) -> None:
    """The same for those that another process reads."""
    found, not_read = read(*file)
    assert found or not_read or not file[1]


def test_zlib_that_is_none_is_searched_as_it_is() -> None:
    """Two bytes say too little to call a file damaged."""
    found, not_read = read("a.bin", b"\x78\x9c\0\1" + _WORD)
    assert any(_WORD in view.text for view in found)
    assert not_read == []
    assert [one.why for one in read("a.bin", zlib.compress(_NOISE)[:-50])[1]]
