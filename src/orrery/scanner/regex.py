"""RE2: regular expressions, many at once or one by one, in time linear to the text.

A text is bytes, of whatever encoding it may be. A search for many whose memory does not suffice finds nothing, and
reports nothing: so each has a mark to find, and without the mark, each of its expressions may be there.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, Protocol

import re2

_RE2: Final[Any] = re2
"""It has no types."""

MARGIN: Final = 256
"""Bytes beside a place that are taken with it: more than a term has."""

MEMORY: Final = 128 * 1024 * 1024
"""Bytes that a search for many expressions may use at most; it uses what the text needs."""

_MARK: Final = b"\n\x00\x01\x02\n"
"""Put behind each text, and searched for: an answer without it means that the memory did not suffice."""

_LEAST: Final = 4096
_SHARED: Final = 1024
_WIDEST: Final = 4
"""Bytes of a character in UTF-8."""

_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]|\\x\{|\\x[89a-fA-F]|\\[pP0-7]")
"""What means characters in UTF-8 in a rule. Any other one is read byte by byte, which is faster, and as right."""

_PADDED: Final = re.compile(r"(?P<flags>(?:\(\?[a-z]+\))?)\[(?:[^\]\\\[]|\\.)+\]\{0,(?P<most>\d+)\}\??(?![*+?{])")
"""A beginning that may be empty, such as `[a-z]{0,50}?`."""


class RegexRefused(ValueError):
    """A regular expression cannot be compiled; the message does not repeat it."""


class RegexMatch(Protocol):
    """A place that a regular expression matched; a group that took no part is at -1."""

    def start(self, group: int = 0) -> int:
        """Return its first byte."""
        ...

    def end(self, group: int = 0) -> int:
        """Return the byte behind it."""
        ...

    def span(self) -> tuple[int, int]:
        """Return both."""
        ...


class Regex(Protocol):
    """A compiled regular expression."""

    @property
    def groups(self) -> int:
        """How many groups it has."""
        ...

    def search(self, text: bytes, pos: int = 0, endpos: int | None = None) -> RegexMatch | None:
        """Return the first match between two places; anchors and word boundaries see the text around them."""
        ...

    def finditer(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Iterator[RegexMatch]:
        """Yield the matches that do not overlap."""
        ...


_Match = Callable[[bytes], list[int] | None]


def _options(*, is_utf8: bool = False) -> Any:  # noqa: ANN401  the library's
    options = _RE2.Options()
    options.log_errors = False
    if not is_utf8:
        options.encoding = _RE2.Options.Encoding.LATIN1
    return options


def compiled(pattern: str | bytes, *, is_utf8: bool = False) -> Regex:
    """Return an expression for bytes, or for characters in UTF-8; raise `RegexRefused`."""
    octets = pattern.encode() if isinstance(pattern, str) else pattern
    try:
        made: Regex = _RE2.compile(octets, _options(is_utf8=is_utf8))
    except _RE2.error as error:
        message: bytes = error.args[0]
    else:
        return made
    raise RegexRefused(message.decode(errors="replace").partition(":")[0])


class PaddedRegex:
    """A regular expression whose beginning may be empty: it is searched for without it, ten times as fast.

    A match with the beginning ends with one without it, at most `pad` bytes behind its start.
    """

    def __init__(self, whole: Regex, core: Regex, pad: int) -> None:
        self._whole = whole
        self._core = core
        self._pad = pad

    @property
    def groups(self) -> int:
        return self._whole.groups

    def search(self, text: bytes, pos: int = 0, endpos: int | None = None) -> RegexMatch | None:
        return next(self.finditer(text, pos, endpos), None)

    def finditer(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Iterator[RegexMatch]:
        end = len(text) if endpos is None else endpos
        while pos <= end and (near := self._core.search(text, pos, end)):
            found = self._whole.search(text, max(pos, near.start() - self._pad), end)
            if found is None:
                return
            yield found
            pos = max(found.end(), pos + 1)


def of_rule(pattern: str) -> Regex:
    """Return an expression in Go's syntax, which is RE2's, ready for use; raise `RegexRefused`."""
    is_utf8 = bool(_BEYOND_ASCII.search(pattern))
    whole = compiled(pattern, is_utf8=is_utf8)
    if (padded := _PADDED.match(pattern)) is None:
        return whole
    try:
        core = compiled(padded["flags"] + pattern[padded.end() :], is_utf8=is_utf8)
    except RegexRefused:  # the beginning opened what the rest closes
        return whole
    return PaddedRegex(whole, core, _WIDEST * int(padded["most"]))


class PatternSet:
    """Many expressions that are searched for at once."""

    def __init__(self, patterns: Sequence[bytes], memory: int = MEMORY) -> None:
        self._count = len(patterns)
        options = _options()
        options.max_mem = memory
        made = _RE2.Set.SearchSet(options)
        try:
            for one in (*patterns, _RE2.escape(_MARK)):
                _ = made.Add(one)
        except _RE2.error:
            raise ValueError("A pattern cannot be compiled.") from None  # its cause would name it
        self._match: _Match | None = made.Match if _fits(made) else None

    def __call__(self, octets: bytes) -> set[int]:
        """Return the numbers of those that are there, or when the memory does not suffice, that may be."""
        return numbers(self._match, octets, self._count) if self._match else set(range(self._count))


def numbers(match: _Match, octets: bytes, count: int) -> set[int]:
    """Return what a search for `count` expressions and the mark finds: without memory it finds nothing at all."""
    found = match(b"\n" + octets + _MARK)
    if found is not None:
        return {*found} - {count}
    if len(octets) < _LEAST:
        return set(range(count))
    half = len(octets) // 2
    return numbers(match, octets[: half + _SHARED], count) | numbers(match, octets[half - _SHARED :], count)


class Prefilter:
    """Finds quickly which of many rules' expressions can match in a text at all, by the words that they need."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._all = set(range(len(patterns)))
        made = _RE2.Filter()
        for one in patterns:
            _ = made.Add(one.encode(), _options(is_utf8=bool(_BEYOND_ASCII.search(one))))
        _ = made.Add(_RE2.escape(_MARK), _options())
        self._match: _Match | None = partial(made.Match, potential=True) if _fits(made) else None

    def __call__(self, text: bytes) -> set[int]:
        """Return the numbers of the expressions that can match; without memory, all of them."""
        found = {*(self._match(text + _MARK) or ())} if self._match else set[int]()
        return found & self._all if len(self._all) in found else self._all


def _fits(made: Any) -> bool:  # noqa: ANN401  the library's set or filter
    """Return whether many expressions fit into the memory; what does not must not be asked."""
    try:
        made.Compile()
    except _RE2.error:
        return False
    return True


def places(text: bytes, *regexes: Regex, is_led: bool = False) -> Iterator[tuple[int, int]]:
    """Yield where several expressions match.

    What `is_led` begins with the one character before which no word goes on: it is left out.
    """
    for start, end in (found.span() for one in regexes for found in one.finditer(text)):
        yield start + (is_led and not text[start : start + 1].isalnum()), end


def outermost(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield places in their order, without those that are within another one."""
    last = 0
    for start, end in sorted(spans, key=lambda place: (place[0], -place[1])):
        if end > last:
            last = end
            yield start, end


def around(regex: Regex, text: bytes, margin: int = MARGIN) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that are near what an expression matches; those that touch are one."""
    found = regex.search(text)
    start = end = 0
    while found:
        first = max(0, found.start() - margin)
        if end and first > end:
            yield start, end
            start = first
        elif not end:
            start = first
        end = min(len(text), found.end() + margin)
        if end == len(text):
            break
        found = regex.search(text, end - margin // 2)
    if end:
        yield start, end
