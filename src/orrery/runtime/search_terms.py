"""Whether stored bytes name a person, in any spelling. Pure."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from orrery.syntax.email_address import without_case

_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

_ACCENTS = "\u0300-\u036f"
"""Accents that lower case may append to a character, as the dot of U+0130. They belong to that character."""


@dataclass(frozen=True)
class SearchTerms:
    """The search terms: a person's addresses, in any spelling, and the ids of records about this person alone."""

    addresses: frozenset[str]
    ids: frozenset[str] = frozenset()

    def __or__(self, other: "SearchTerms") -> "SearchTerms":
        return SearchTerms(self.addresses | other.addresses, self.ids | other.ids)

    def is_address(self, text: str) -> bool:
        """Return whether a text is one of the addresses."""
        return _folded(text) in self._words

    def addressed_in(self, value: bytes) -> bool:
        """Return whether stored bytes name one of the addresses."""
        return any(map(self._has_address, texts(value)))

    def named_in(self, value: bytes) -> bool:
        """Return whether stored bytes name one of the addresses or of the ids."""
        return any(self._has_address(text) or _has(self.ids, self._ids, text) for text in texts(value))

    def _has_address(self, text: str) -> bool:
        return _has(self._words, self._addresses, _folded(text))

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(map(_folded, self.addresses))

    @cached_property
    def _addresses(self) -> re.Pattern[str]:
        # As a whole word, so that erasing ann@example.org spares joann@example.org and o'ann@example.org.
        before, after = rf"(?<![\w{_ACCENTS}.!#$%&'*+^`{{|}}~-])", rf"(?![\w{_ACCENTS}-]|\.\w)"
        return re.compile(f"{before}(?:{_any_of(self._words)}){after}")

    @cached_property
    def _ids(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w)(?:{_any_of(self.ids)})(?!\w)")


def texts(value: bytes) -> Iterator[str]:
    """Yield the text of stored bytes: as it is, and without JSON's escapes.

    The bytes are not parsed: a parser reads nothing of cut JSON, and only the last of two equal names.
    """
    encoding = json.detect_encoding(value)
    readings = [value.decode(encoding, errors="replace")]
    if "\N{REPLACEMENT CHARACTER}" in readings[0]:
        readings.append(value.decode("latin-1"))
    for text in readings:
        yield text
        if "\\" in text:
            plain = _ESCAPED.sub(_unescaped, text)
            # Characters beyond U+FFFF are escaped as pairs.
            yield plain.encode("utf-16", "surrogatepass").decode("utf-16", errors="replace")


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _SHORT.get(escape[2], escape[2])


def _folded(text: str) -> str:
    # The lower case of a capital sigma depends on the letters around it.
    return without_case(text).replace("\N{GREEK SMALL LETTER FINAL SIGMA}", "\N{GREEK SMALL LETTER SIGMA}")


def _has(words: Iterable[str], pattern: re.Pattern[str], text: str) -> bool:
    """Return whether a pattern for words matches. It is asked last: a look behind makes it slow."""
    return any(one in text for one in words) and pattern.search(text) is not None


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words)))
