"""The owner who goes live by the page: what they paste, what they put into the settings, and where they type."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.rehearsal.page import Edited, Piece, Seen, Typed
from tests.rehearsal.typist import Answer, Typist
from tests.systemd.host import Host

SETTINGS = "/etc/orrery/orrery.toml"


@dataclass
class Owner:
    """Does what pieces of a page ask for.

    `values` replaces what the page has in place of the owner's own, in commands and settings. By a line's start,
    `answers` has what is typed after the line, and `ends` its exit status where that is not 0. `left_out` has the
    beginnings of lines that cannot be typed here.
    """

    host: Host
    typist: Typist
    values: Mapping[str, str]
    answers: Mapping[str, Sequence[Answer]]
    left_out: tuple[str, ...]
    ends: Mapping[str, int] = field(default_factory=dict[str, int])

    def follow(self, pieces: Sequence[Piece]) -> None:
        """Do what the pieces ask for, in their order; AssertionError where the page does not hold."""
        for piece in pieces:
            match piece:
                case Typed(lines):
                    self.typist.clear()
                    for line in lines:
                        self._type(line)
                case Edited(text):
                    self.edit(self._own(text))
                case Seen():
                    missing = piece.missing_from(self.typist.shown)
                    assert not missing, f"{missing} is not in:\n{self.typist.shown}"

    def edit(self, text: str) -> None:
        """Set keys in the settings file, in the sections that are there."""
        before = self.host.run(f"cat {SETTINGS}")
        self.host.write(SETTINGS, edited(before, text))

    def _type(self, line: str) -> None:
        if line.startswith(self.left_out):
            self.typist.log.append(f"(not typed: {line})")
        elif line.strip():
            line = self._own(line)
            answers = next((said for begins, said in self.answers.items() if line.startswith(begins)), ())
            status = self.typist.type(line, answers)
            expected = next((code for begins, code in self.ends.items() if line.startswith(begins)), 0)
            assert status in (None, expected), "\n".join([f"{line}: {status}", self.typist.shown])

    def _own(self, text: str) -> str:
        for theirs, own in self.values.items():
            text = text.replace(theirs, own)
        return text


def edited(settings: str, additions: str) -> str:
    """Return a settings file with the keys of another one set in it, as somebody does with an editor."""
    section = ""
    for line in additions.splitlines():
        if line.startswith("[["):
            section = ""
            settings = f"{settings.rstrip()}\n\n{line}\n"
        elif line.startswith("["):
            section = line.partition("#")[0].strip()
            assert f"\n{section}\n" in settings, f"there is no section {section}"
        elif line.strip():
            settings = _with(settings, section, line) if section else f"{settings.rstrip()}\n{line}\n"
    tomllib.loads(settings)
    return settings


def _with(settings: str, section: str, line: str) -> str:
    key = line.partition("=")[0].strip()
    before, header, rest = settings.partition(f"\n{section}\n")
    here = re.split(r"(?m)^(?=(?:# )?\[)", rest, maxsplit=1)
    body, after = here[0], "".join(here[1:])
    body, count = re.subn(rf"(?m)^(?:# )?{re.escape(key)} = .*$", lambda _: line, body, count=1)
    assert count, f"{section} has no key {key}"
    return before + header + body + after
