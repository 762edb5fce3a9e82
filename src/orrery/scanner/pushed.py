"""What was pushed already: the findings and troubles of the destinations, as keyed fingerprints.

The key is in the same file, which only its owner may read: it hides the places. What was found is hidden by the
key of the watch-list, without which a finding has no fingerprint and is known by its kind and place alone.
"""

import hmac
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import cast

from orrery.scanner.findings import ScanFinding

_DIGITS = 24


@dataclass(frozen=True, slots=True)
class SearchedDestination:
    """One look at a destination: what was found, and why it could not be searched to its end, if so.

    `detail` of a trouble is never pushed; a trouble is another one when its detail is.
    """

    name: str
    findings: Sequence[ScanFinding] = ()
    trouble: str = ""
    detail: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class UnpushedFindings:
    """What the owner was not notified of yet."""

    findings: Sequence[tuple[str, ScanFinding]]
    troubles: Mapping[str, str]
    searched_again: Sequence[str]


@dataclass(frozen=True, slots=True)
class PushedFindings:
    """What was pushed, by destination; `ended` is when the last round ended."""

    key: bytes = field(repr=False)
    findings: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    troubles: Mapping[str, str] = field(default_factory=dict[str, str])
    ended: str = ""

    @classmethod
    def of(cls, content: bytes | None) -> "PushedFindings":
        """Return the content of a file; a missing or damaged one counts as empty: rather two pushes than none."""
        try:
            found = cast("dict[str, dict[str, list[str]]]", json.loads(content or b"{}"))
            texts = cast("dict[str, str]", found)
            key = bytes.fromhex(texts["key"])
            findings = {name: frozenset(map(str, ids)) for name, ids in found["findings"].items()}
            troubles = {name: str(one) for name, one in found["troubles"].items()}
            _ = datetime.fromisoformat(texts["ended"])
            return cls(key, findings, troubles, texts["ended"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return cls(secrets.token_bytes(32))

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        content = {
            "key": self.key.hex(),
            "findings": {name: sorted(ids) for name, ids in self.findings.items()},
            "troubles": dict(self.troubles),
            "ended": self.ended,
        }
        return json.dumps(content).encode()

    def news(self, looked: Iterable[SearchedDestination]) -> UnpushedFindings:
        """Return what is new since the last push."""
        every = list(looked)
        known = {one.name: self.findings.get(one.name, frozenset()) for one in every}
        fresh: dict[tuple[str, str], tuple[str, ScanFinding]] = {}
        for one in every:
            for found in one.findings:
                if (digest := self._id(found)) not in known[one.name]:
                    _ = fresh.setdefault((one.name, digest), (one.name, found))
        changed = {one.name: one.trouble for one in every if one.trouble and self._is_new(one)}
        again = [one.name for one in every if not one.trouble and one.name in self.troubles]
        return UnpushedFindings([*fresh.values()], changed, again)

    def after(
        self, looked: Iterable[SearchedDestination], ended: str, *, findings: bool, troubles: bool, again: bool
    ) -> "PushedFindings":
        """Return what was pushed after a round: of what is new only that whose push was accepted.

        What is gone is dropped, so that its return is news; what could not be looked at stays.
        """
        every = list(looked)
        kept = {one.name: self._kept(one, pushed=findings) for one in every}
        trouble = {one.name: self._trouble(one, pushed=troubles, again=again) for one in every}
        return PushedFindings(self.key, kept, {name: text for name, text in trouble.items() if text}, ended)

    def _kept(self, one: SearchedDestination, *, pushed: bool) -> frozenset[str]:
        before, now = self.findings.get(one.name, frozenset[str]()), frozenset(map(self._id, one.findings))
        there = before if one.trouble else before & now
        return there | now if pushed else there

    def _trouble(self, one: SearchedDestination, *, pushed: bool, again: bool) -> str:
        before = self.troubles.get(one.name, "")
        if one.trouble:
            return self._digest(one.trouble + one.detail) if pushed or not self._is_new(one) else before
        return "" if again else before

    def _is_new(self, one: SearchedDestination) -> bool:
        return self.troubles.get(one.name) != self._digest(one.trouble + one.detail)

    def _id(self, finding: ScanFinding) -> str:
        return self._digest(json.dumps([finding.kind, finding.rule, finding.place, finding.fingerprint]))

    def _digest(self, text: str) -> str:
        return hmac.new(self.key, text.encode(errors="surrogateescape"), sha256).hexdigest()[:_DIGITS]
