"""SQLite: the values in a database, its log or its journal, also of rows that were deleted.

Every page is read by itself by its format (https://www.sqlite.org/fileformat2.html), whether a table still
has it or not: a library would show what is in the tables now, and find nothing in a log without its database.
A page that is damaged, or is no page of a table, is searched as it is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from orrery.scanner.unpack.encodings import is_text, wide
from orrery.scanner.unpack.kinds import reader_of
from orrery.scanner.unpack.markup import is_markup
from orrery.scanner.unpack.parts import UnpackedFile, without_lines
from orrery.scanner.unpack.texts import texts
from orrery.scanner.unpack.view import Views

_ENCODINGS: Final = {2: "utf-16-le", 3: "utf-16-be"}
_TABLE_LEAF: Final = 0x0D
_INDEX_LEAF: Final = 0x0A
_INDEX: Final = 0x02
_TREE: Final = frozenset({_TABLE_LEAF, _INDEX_LEAF, _INDEX, 0x05})
_FIRST_HEADER: Final = 100
_LARGEST_PAGE: Final = 65536
_SIZES: Final = frozenset(2**power for power in range(9, 17))
_BYTES: Final = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}
_BLOB: Final = 12
_SECTOR: Final = 512
_MOST_PAGES: Final = 2**24
_POINTER: Final = re.compile(rb"(?=(\x00[\x00-\xff]{3}))")


@dataclass(frozen=True, slots=True)
class _Pages:
    """The pages of a file: `places` are where each begins, with its number; `last` has the newest of a number."""

    part: UnpackedFile
    size: int
    usable: int
    places: list[tuple[int, int]]
    encoding: str
    last: dict[int, int] = field(default_factory=dict[int, int])

    def page(self, place: int) -> bytes:
        return b"".join(self.part.slice(place, place + self.size))

    def chain(self, number: int, most: int, seen: set[int]) -> Iterator[bytes]:
        """Yield what overflows to a page and those after it, and note which they are."""
        while most > 0 and number in self.last and number not in seen:
            seen.add(number)
            page = self.page(self.last[number])
            yield page[4 : 4 + min(most, self.usable - 4)]
            most -= self.usable - 4
            number = _number(page, 0)


def read(part: UnpackedFile, first: bytes) -> Views:
    """Yield the texts of a database, a write-ahead log or a rollback journal: its bytes, and its values."""
    yield from texts(part, first)
    if not (pages := _pages(part, first)):
        return
    with_files: dict[tuple[int, int], None] = {}
    yield from without_lines(part.unpacked("(values)", "", _texts(pages, with_files), part.size))
    for page in with_files:
        for value in filter(_is_file, _values(pages, *page, set())):
            yield from without_lines(part.known(f"(value in page {page[1]})", "", value))


def _texts(pages: _Pages, with_files: dict[tuple[int, int], None]) -> Iterator[bytes]:
    """Yield all values that are no files, a line each, and then what is left of deleted ones over several pages.

    The pages with values that are files are added to `with_files`.
    """
    seen: set[int] = set()
    for page in pages.places:
        for value in _values(pages, *page, seen):
            if _is_file(value):
                with_files[page] = None
            else:
                yield value + b"\n"
    yield from _left(pages, seen)


def _size_by_numbers(part: UnpackedFile) -> int:
    """Return the size of the pages in a journal whose header was zeroed, as it is after each change, or 0.

    It is the one at which every place of a page's number has one.
    """
    for size in sorted(_SIZES):
        places = range(_SECTOR, part.size - size - 7, size + 8)
        numbers = [_number(b"".join(part.slice(place, place + 4)), 0) for place in places]
        if numbers and all(0 < number < _MOST_PAGES for number in numbers):
            return size
    return 0


def _pages(part: UnpackedFile, first: bytes) -> _Pages | None:
    """Return the pages of a file by its header, or nothing if that names no size that a page has.

    The number of each page of a log or a journal is before it; `before` and `after` are the bytes around a page.
    """
    if first.startswith(b"SQLite"):
        size, begin, before, after = int.from_bytes(first[16:18], "big"), 0, 0, 0
        size = _LARGEST_PAGE if size == 1 else size
    elif first.startswith(b"\x37\x7f"):
        size, begin, before, after = _number(first, 8), 32, 24, 0
    else:
        size, begin, before, after = _number(first, 24), _number(first, 20), 4, 4
        if not size:
            size, begin = _size_by_numbers(part), _SECTOR
    if size not in _SIZES:
        return None
    places: list[tuple[int, int]] = []
    for count, place in enumerate(range(begin, part.size - size - before + 1, before + size + after), 1):
        number = _number(b"".join(part.slice(place, place + 4)), 0) if before else count
        places.append((place + before, number))
    last = {number: place for place, number in places}
    header = b"".join(part.slice(last[1], last[1] + _FIRST_HEADER)) if 1 in last else bytes(_FIRST_HEADER)
    return _Pages(part, size, size - header[20], places, _ENCODINGS.get(_number(header, 56), ""), last)


def _number(data: bytes, place: int) -> int:
    return int.from_bytes(data[place : place + 4], "big")


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and where it ends."""
    value = 0
    for count, one in enumerate(data[place : place + 9], 1):
        if count == 9:  # noqa: PLR2004  the last byte of the longest has eight bits
            return value << 8 | one, place + count
        value = value << 7 | one & 0x7F
        if one < 0x80:  # noqa: PLR2004  the bit for another byte that follows
            return value, place + count
    return 0, len(data)


def _values(pages: _Pages, place: int, number: int, seen: set[int]) -> Iterator[bytes]:
    """Yield the texts and blobs of the cells of a page."""
    page = pages.page(place)
    begin = _FIRST_HEADER if number == 1 else 0
    kind = page[begin] if begin < len(page) else 0
    if kind not in {_TABLE_LEAF, _INDEX_LEAF, _INDEX}:
        return
    pointers = begin + (12 if kind == _INDEX else 8)
    for at in range(int.from_bytes(page[begin + 3 : begin + 5], "big")):
        cell = int.from_bytes(page[pointers + 2 * at : pointers + 2 * at + 2], "big")
        if pointers <= cell < pages.usable:
            yield from _record(pages, _payload(pages, page, kind, cell, seen))


def _payload(pages: _Pages, page: bytes, kind: int, cell: int, seen: set[int]) -> bytes:
    size, place = _varint(page, cell + (4 if kind == _INDEX else 0))
    if kind == _TABLE_LEAF:
        _, place = _varint(page, place)
    room = pages.usable
    most = room - 35 if kind == _TABLE_LEAF else (room - 12) * 64 // 255 - 23
    if size <= most:
        return page[place : place + size]
    least = (room - 12) * 32 // 255 - 23
    local = least + (size - least) % (room - 4)
    local = local if local <= most else least
    rest = pages.chain(_number(page, place + local), size - local, seen)
    return page[place : place + local] + b"".join(rest)


def _record(pages: _Pages, payload: bytes) -> Iterator[bytes]:
    end, place = _varint(payload, 0)
    value = end
    while place < min(end, len(payload)):
        kind, place = _varint(payload, place)
        size = _BYTES.get(kind, (kind - _BLOB) // 2)
        found = payload[value : value + size] if kind >= _BLOB else b""
        value += max(0, size)
        if found:
            is_wide = kind % 2 and pages.encoding
            yield found.decode(pages.encoding, "replace").encode(errors="replace") if is_wide else found


def _is_file(value: bytes) -> bool:
    return bool(reader_of(value, "")) or is_markup(value, "") or bool(not is_text(value) and wide(value))


def _left(pages: _Pages, seen: set[int]) -> Iterator[bytes]:
    """Yield what is left of values that went over several pages and were deleted: no cell leads to them."""
    links: dict[int, int] = {}
    trees: list[int] = []
    for place, number in pages.places:
        page = pages.page(place)
        if page[100 if number == 1 else 0] in _TREE:
            trees.append(place)
        elif number not in seen:
            links[number] = _number(page, 0)
    heads = links.keys() - links.values()
    for place in trees if heads else []:
        page = pages.page(place)
        for found in _POINTER.finditer(page):
            if (head := _number(found[1], 0)) in heads:
                yield page[: found.start()] + b"".join(pages.chain(head, pages.part.size, set())) + b"\n"
                heads -= {head}
    for head in heads:
        yield b"".join(pages.chain(head, pages.part.size, set())) + b"\n"
