"""Secrets: keys, passwords and tokens, by rules in gitleaks' format."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from orrery.scanner.detectors.secret_rules import Allowlist, Required, RuleMatch, RuleSet, SecretRule, entropy
from orrery.scanner.findings import BETWEEN, Match
from orrery.scanner.regex import Prefilter, RegexMatch, of_rule

PIECE = 128 * 1024
"""Bytes of a text that are asked at once which rules can match in them: in a longer one more of them can."""

REACH = 8 * 1024
"""Bytes that a secret may stretch beyond its piece."""

LONGEST_PATH = 4096
"""Bytes of a path, as the system has it."""

LONGEST_LINE = 2 * 1024
"""Bytes on each side of a secret that an allowlist for lines looks at."""


_ANCHOR = re.compile(r"\\[Az]|(?<!\[)\^|\$")
"""What may mean the start or the end of a text, which one of several does not have."""


def _for_several(rule: SecretRule) -> SecretRule:
    """Return a rule for several texts: what is between them ends a line, and so it may end a text.

    One for a path is not changed: a text with that path is searched by itself.
    """
    if rule.path or not _ANCHOR.search(rule.pattern):
        return rule
    bounds = {r"\A": "^", r"\z": "$"}
    pattern = re.sub(r"\\.", lambda found: bounds.get(found[0], found[0]), rule.pattern, flags=re.DOTALL)
    return replace(rule, regex=of_rule("(?m)" + pattern))


class _SearchedText:
    """One text, with what is asked of it again and again."""

    def __init__(self, text: bytes, path: str | None) -> None:
        self.text = text
        self.path = path
        self.is_name = path is not None and text == path.encode(errors="surrogateescape")

    def wants(self, rule: SecretRule) -> bool:
        """Return whether a rule is for this file."""
        return not (self.is_name and rule.path) and rule.is_for(self.path)

    def has_keyword(self, rule: SecretRule) -> bool:
        """Return whether one of a rule's keywords is in the text, if it has some."""
        return not rule.keywords or any(one in self._low for one in rule.keywords)

    @cached_property
    def _low(self) -> bytes:
        return self.text.lower()


class SecretDetector:
    """See `Detector`."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = [one for one in rules.rules if one.regex and one.reported]
        self._names = [one for one in rules.rules if not one.regex and one.reported]
        self._prefilter = Prefilter([*(one.pattern for one in self._rules), *map(_any_keyword, self._rules)])
        self._for_several = [_for_several(one) for one in self._rules]
        self._of_paths = [one for one in self._rules if one.path and _ANCHOR.search(one.pattern)]

    def is_for_path(self, path: str) -> bool:
        return any(one.is_for(path) for one in self._of_paths)

    def matches(self, text: bytes, place: str | None) -> Iterator[Match]:
        if self._names:
            yield from self._named(text, place)
        if place is None:
            yield from self._perhaps(text)
            return
        leaks = sorted(self._leaks(_SearchedText(text, place)), key=lambda leak: leak.secret_start)
        for leak in _without_repeats(leaks, text):
            end = leak.secret_start + len(leak.secret)
            yield Match("secret", leak.secret_start, end, leak.secret.decode(errors="backslashreplace"), leak.rule)

    def _perhaps(self, text: bytes) -> Iterator[Match]:
        """Yield what may be a secret in one of several texts.

        A match over two of them hides that in each: neither its group nor what allows it holds for those.
        """
        for search in self._searches(_SearchedText(text, None), self._for_several):
            yield from (Match("secret", one.start(), one.end(), "", search.rule.id) for one in search.found)

    def _named(self, text: bytes, place: str | None) -> Iterator[Match]:
        """Yield what is a secret by its path: the text is a path, or the path of a member of an archive is."""
        if place is None:
            at = 0
            for one in text.split(BETWEEN):
                if len(one) <= LONGEST_PATH:
                    found = one.decode(errors="surrogateescape")
                    yield from (
                        Match("secret", at, at, found, rule.id) for rule in self._names if rule.is_for(found)
                    )
                at += len(one) + len(BETWEEN)
        elif text == place.encode(errors="surrogateescape") or "!" in place:
            yield from (Match("secret", 0, 0, place, rule.id) for rule in self._names if rule.is_for(place))

    def _leaks(self, text: _SearchedText) -> Iterator[RuleMatch]:
        for search in self._searches(text, self._rules):
            if not search.found or not text.has_keyword(search.rule):
                continue
            leaks = [leak for found in search.found if (leak := _leak(search.rule, text, found))]
            yield from _complete(search.rule, leaks, text) if search.rule.required else leaks

    def _searches(self, text: _SearchedText, rules: Sequence[SecretRule]) -> Iterable["_Search"]:
        starts = range(0, len(text.text), PIECE)
        possible = [self._prefilter(text.text[start : start + PIECE + REACH]) for start in starts]
        there = set[int]().union(*possible)
        searches = {
            number: _Search(rule, text)
            for number, rule in enumerate(rules)
            if number in there and len(rules) + number in there and text.wants(rule)
        }
        for start, numbers in zip(starts, possible, strict=True):
            for number in sorted(searches.keys() & numbers):
                searches[number].look_in_piece(start)
        return searches.values()


def _any_keyword(rule: SecretRule) -> str:
    """Return what the prefilter knows a rule's keywords by: it asks for all of three letters and more."""
    return "|".join(re.escape(one.decode()) for one in rule.keywords)


class _Search:
    """The search for one rule in one text, piece by piece."""

    def __init__(self, rule: SecretRule, text: _SearchedText) -> None:
        self.rule = rule
        self.found: list[RegexMatch] = []
        self._text = text
        self._done = 0
        """Where the last match ended: the next one does not overlap it."""

    def look_in_piece(self, start: int) -> None:
        """Find what begins in the piece that begins at this byte."""
        end = start + PIECE
        for found in self.rule.found(self._text.text, max(start, self._done), end + REACH):
            if found.start() >= end:
                return
            self._done = found.end()
            self.found.append(found)


def _leak(rule: SecretRule, text: _SearchedText, found: RegexMatch) -> RuleMatch | None:
    """Return a match, unless it is too regular, or allowed."""
    match = text.text[found.start() : found.end()]
    start = found.start() + len(match) - len(match.lstrip(b"\n"))
    match = match.strip(b"\n")
    secret_start, secret_end = rule.secret_in(found) or (start, start + len(match))
    leak = RuleMatch(rule.id, start, match, secret_start, text.text[secret_start:secret_end])
    if not leak.secret or (rule.entropy and entropy(leak.secret) <= rule.entropy):
        return None
    return None if any(_allows(one, leak, text) for one in rule.allowlists) else leak


def _allows(allowlist: Allowlist, leak: RuleMatch, text: _SearchedText) -> bool:
    return allowlist.allows(leak, _line(leak, text.text) if allowlist.target == "line" else b"", text.path)


def _line(leak: RuleMatch, text: bytes) -> bytes:
    end = leak.start + len(leak.match)
    before = text[max(0, leak.start - LONGEST_LINE) : leak.start].rpartition(b"\n")[2]
    return before + leak.match + text[end : end + LONGEST_LINE].partition(b"\n")[0]


def _complete(rule: SecretRule, leaks: list[RuleMatch], text: _SearchedText) -> Iterator[RuleMatch]:
    """Yield the matches of a rule near which there is one of each rule that it requires."""
    others = [(one, [_place(leak, text.text) for leak in _all(one.rule, text)]) for one in rule.required]
    for leak in leaks:
        place = _place(leak, text.text)
        if all(any(_is_near(place, other, one) for other in found) for one, found in others):
            yield leak


def _all(rule: SecretRule, text: _SearchedText) -> Iterator[RuleMatch]:
    if rule.is_for(text.path):
        leaks = (_leak(rule, text, found) for found in rule.found(text.text, 0, len(text.text)))
        yield from (leak for leak in leaks if leak)


def _place(leak: RuleMatch, text: bytes) -> tuple[int, int]:
    return text.count(b"\n", 0, leak.start), leak.start - _line_start(leak, text)


def _is_near(place: tuple[int, int], other: tuple[int, int], required: Required) -> bool:
    limits = (required.lines, required.columns)
    return all(most is None or abs(one - two) <= most for one, two, most in zip(place, other, limits, strict=True))


def _without_repeats(leaks: Sequence[RuleMatch], text: bytes) -> Iterator[RuleMatch]:
    """Yield matches; one of a rule with "generic" in its id gives way to another's of the same text and line."""
    exact: defaultdict[int, list[bytes]] = defaultdict(list)
    if any(_is_generic(leak) for leak in leaks):
        for leak in leaks:
            if not _is_generic(leak):
                exact[_line_start(leak, text)].append(leak.secret)
    exact_in_line = {line: b"\0".join(secrets) for line, secrets in exact.items()}
    for leak in leaks:
        if not (
            exact_in_line and _is_generic(leak) and leak.secret in exact_in_line.get(_line_start(leak, text), b"")
        ):
            yield leak


def _line_start(leak: RuleMatch, text: bytes) -> int:
    return text.rfind(b"\n", 0, leak.start) + 1


def _is_generic(leak: RuleMatch) -> bool:
    return "generic" in leak.rule.lower()
