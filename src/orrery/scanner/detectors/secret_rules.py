"""Rules for secrets: what one looks like, and what looks like one and is none."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import log2
from typing import Literal

from orrery.scanner.regex import Regex, RegexMatch

Target = Literal["secret", "match", "line"]
"""What the regular expressions of an allowlist are compared with."""


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """A match of a rule, from byte `start`, and the secret in it, from byte `secret_start`."""

    rule: str
    start: int
    match: bytes = field(repr=False)
    secret_start: int
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Allowlist:
    """What is no secret: by its path, by what it looks like, by a word in it; by `every` of these, or by any."""

    every: bool = False
    path: Regex | None = field(default=None, repr=False)
    regex: Regex | None = field(default=None, repr=False)
    target: Target = "secret"
    words: tuple[bytes, ...] = field(default=(), repr=False)
    commits: bool = False
    """It names commits, which a text does not have: none of them is this one."""

    def allows_place(self, path: str | None) -> bool:
        """Return whether nothing in a file needs to be looked at."""
        if self.every and (self.commits or self.regex or self.words):
            return False
        return self._has(path)

    def allows(self, leak: RuleMatch, line: bytes, path: str | None) -> bool:
        """Return whether a match is no secret."""
        compared = {"secret": leak.secret, "match": leak.match, "line": line}[self.target]
        alike = self.regex is not None and self.regex.search(compared) is not None
        worded = any(word in leak.secret.lower() for word in self.words)
        if not self.every:
            return alike or worded
        wanted = ((self.path, self._has(path)), (self.regex, alike), (self.words, worded), (self.commits, False))
        return all(holds for asked, holds in wanted if asked)

    def _has(self, path: str | None) -> bool:
        if not path or self.path is None:
            return False
        return self.path.search(path.encode(errors="replace")) is not None


@dataclass(frozen=True, slots=True)
class Required:
    """Another rule that must match nearby: at most that many lines and columns away, where these are given."""

    rule: "SecretRule"
    lines: int | None = None
    columns: int | None = None


@dataclass(frozen=True, slots=True)
class SecretRule:
    """What a secret looks like. Without a regular expression a file with that path is one.

    `group` holds the secret; 0 is the first group that is not empty. `reported` is false for a rule that is there
    for others to require. A rule without keywords is for every text; with them, for those that have one of them.
    """

    id: str
    pattern: str = field(default="", repr=False)
    regex: Regex | None = field(default=None, repr=False)
    path: Regex | None = field(default=None, repr=False)
    group: int = 0
    entropy: float = 0.0
    keywords: tuple[bytes, ...] = ()
    allowlists: tuple[Allowlist, ...] = ()
    required: tuple[Required, ...] = ()
    reported: bool = True

    def is_for(self, path: str | None) -> bool:
        """Return whether the file with that path is searched by this rule; one without a known path always is."""
        if self.path and path is not None and not self.path.search(path.encode(errors="replace")):
            return False
        return not any(one.allows_place(path) for one in self.allowlists)

    def found(self, text: bytes, start: int, end: int) -> Iterator[RegexMatch]:
        """Yield the matches between two bytes of a text, none of which is empty."""
        matches = self.regex.finditer(text, start, min(end, len(text))) if self.regex else iter(())
        return (one for one in matches if one.end() > one.start())

    def secret_in(self, found: RegexMatch) -> tuple[int, int] | None:
        """Return where in the text the group is that holds the secret, or None for the whole match."""
        groups = [self.group] if self.group else range(1, self.regex.groups + 1 if self.regex else 1)
        places = ((found.start(group), found.end(group)) for group in groups)
        return next(((start, end) for start, end in places if end > start), None)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of one file, or of several. `notes` are sentences about what in a file has no effect."""

    rules: tuple[SecretRule, ...] = ()
    notes: tuple[str, ...] = ()

    def __add__(self, other: "RuleSet") -> "RuleSet":
        return RuleSet(self.rules + other.rules, self.notes + other.notes)


def entropy(secret: bytes) -> float:
    """Return Shannon's entropy of a text, in bits for each byte."""
    counts = Counter(secret.decode(errors="replace")).values()
    return -sum(count / len(secret) * log2(count / len(secret)) for count in counts)
