"""Regular expressions of rules for secrets, and which of many can match in a text.

The syntax is Go's, which is RE2's. A text is bytes, of whatever encoding it may be.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import re2

_ENGINE: Any = re2
"""It has no types."""

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]|\\x\{|\\x[89a-fA-F]|\\[pP0-7]")
"""What means characters in UTF-8. Any other pattern is read byte by byte, which is faster, and as right."""

_PADDED = re.compile(r"(?P<flags>(?:\(\?[a-z]+\))?)\[(?:[^\]\\\[]|\\.)+\]\{0,(?P<most>\d+)\}\??(?![*+?{])")
"""A beginning that may be empty, such as `[a-z]{0,50}?`."""

_WIDEST = 4
"""Bytes of a character in UTF-8."""

_SENTINEL = b"\x01\x02 the set of all words ran to the end \x02\x01"
"""Added to each text: where even this is not found, the set ran out of memory, and its answer means nothing."""


class RegexRefused(ValueError):
    """A regular expression cannot be compiled; the message does not repeat it."""


class Found(Protocol):
    """A place that a regular expression matched; a group that took no part is at -1."""

    def start(self, group: int = 0) -> int:
        """Return its first byte."""
        ...

    def end(self, group: int = 0) -> int:
        """Return the byte behind it."""
        ...


class Regex(Protocol):
    """A compiled regular expression."""

    @property
    def groups(self) -> int:
        """How many groups it has."""
        ...

    def search(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Found | None:
        """Return the first match between two places; anchors and word boundaries see the text around them."""
        ...

    def finditer(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Iterator[Found]:
        """Yield the matches that do not overlap."""
        ...


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

    def search(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Found | None:
        return next(self.finditer(text, pos, endpos), None)

    def finditer(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Iterator[Found]:
        end = len(text) if endpos is None else endpos
        while pos <= end and (near := self._core.search(text, pos, end)):
            found = self._whole.search(text, max(pos, near.start() - self._pad), end)
            if found is None:
                return
            yield found
            pos = max(found.end(), pos + 1)


def compiled(pattern: str) -> Regex:
    """Return a regular expression ready for use; raise `RegexRefused`."""
    whole = _compiled(pattern)
    if (padded := _PADDED.match(pattern)) is None:
        return whole
    try:
        core = _compiled(padded["flags"] + pattern[padded.end() :])
    except RegexRefused:  # the beginning opened what the rest closes
        return whole
    return PaddedRegex(whole, core, _WIDEST * int(padded["most"]))


class Prefilter:
    """Says quickly which of many regular expressions can match in a text at all, by the words that they need."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._all = range(len(patterns))
        self._filter = _ENGINE.Filter()
        for pattern in patterns:
            _ = self._filter.Add(pattern.encode(), _options(pattern))
        _ = self._filter.Add(_ENGINE.escape(_SENTINEL), _options(""))
        self._is_ready = _compiles(self._filter)

    def possible(self, text: bytes) -> Sequence[int]:
        """Return the numbers of the patterns that can match: all of them, if these are too many for the engine."""
        if not self._is_ready:
            return self._all
        found: list[int] = self._filter.Match(text + _SENTINEL, potential=True) or []
        if len(self._all) not in found:
            return self._all
        return [number for number in found if number < len(self._all)]


class Words:
    """Says quickly which of many words a text has, in whatever case."""

    def __init__(self, words: Iterable[bytes]) -> None:
        self._words = sorted(set(words))
        options = _options("")
        options.literal = True
        options.case_sensitive = False
        self._set = _ENGINE.Set.SearchSet(options)
        for word in (*self._words, _SENTINEL):
            _ = self._set.Add(word)
        self._is_ready = _compiles(self._set)

    def present(self, text: bytes) -> frozenset[bytes]:
        """Return the words that a text has: all of them, if these are too many for the engine."""
        if not self._is_ready:
            return frozenset(self._words)
        found: list[int] = self._set.Match(text + _SENTINEL) or []
        if len(self._words) not in found:
            return frozenset(self._words)
        return frozenset(self._words[number] for number in found if number < len(self._words))


def _compiles(words: Any) -> bool:  # noqa: ANN401  the engine's set or filter
    """Return whether a set of words fits into the engine's memory; one that does not must not be asked."""
    try:
        words.Compile()
    except _ENGINE.error:
        return False
    return True


def _compiled(pattern: str) -> Regex:
    try:
        regex: Regex = _ENGINE.compile(pattern.encode(), _options(pattern))
    except _ENGINE.error as error:
        said: bytes = error.args[0]
    else:
        return regex
    raise RegexRefused(said.decode(errors="replace").partition(":")[0])


def _options(pattern: str) -> Any:  # noqa: ANN401  the engine's
    options = _ENGINE.Options()
    options.log_errors = False
    if not _BEYOND_ASCII.search(pattern):
        options.encoding = _ENGINE.Options.Encoding.LATIN1
    return options
