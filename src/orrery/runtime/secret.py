"""The kind of a secret: how it is written, what it looks like, and what it is used for. No message has a value."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from orrery.runtime.section import Mode, Sections

SHORTEST_SECRET = 8
"""Characters: a shorter secret can be guessed, and hiding it in a log would hide harmless texts."""

_QUOTES = "'\"`\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"

_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Form:
    """The fault in a secret's form, as a sentence, or else a note about it, as a phrase."""

    wrong: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class SecretUse:
    """The use of a secret: whether a configured part needs it, and what stops without it.

    `stops` is empty where no configured part uses it. `essential`: without it the service is not ready. `idle`
    is the reason why it may be missing.
    """

    needed: bool
    stops: str
    essential: bool = False
    idle: str = ""

    @property
    def effect(self) -> str:
        """What stops working without it, in a clause."""
        return self.stops or "nothing that is configured uses it."


class SecretValues(Protocol):
    """The secrets of a role, by their names."""

    def reveal(self, name: str) -> str | None:
        """Return a secret's value, or None when it is missing."""
        ...

    def parts(self, name: str) -> list[str]:
        """Return each value in a secret's text."""
        ...

    def values(self) -> list[str]:
        """Return every value there is."""
        ...


def unused(idle: str) -> SecretUse:
    """Return the use of a secret that no configured part uses."""
    return SecretUse(needed=False, stops="", idle=idle)


def one_value(text: str) -> list[str]:
    """Return a text as the only value of a secret."""
    return [text] if text else []


def one_a_line(text: str) -> list[str]:
    """Return the values of a secret that has several, one on each line."""
    return [line for line in map(str.strip, text.splitlines()) if line]


def why_badly_written(name: str, part: str) -> str:
    """Return in a sentence why a value cannot be a secret of any kind, or nothing."""
    return _why_invisible(name, part) or _why_quoted(name, part) or why_short(name, part)


def why_short(name: str, part: str) -> str:
    """Return in a sentence that a value is too short to be a secret, or nothing."""
    return (
        f"The secret {name} is shorter than {SHORTEST_SECRET} characters." if len(part) < SHORTEST_SECRET else ""
    )


def why_no_single_value(name: str, text: str) -> str:
    """Return in a sentence why a text is not one value without white space, or nothing."""
    if len(text.splitlines()) > 1:
        return f"The secret {name} has more than one line: put one value there, and nothing else."
    if len(text.split()) > 1:
        return f"The secret {name} has white space inside: put one value there, and nothing else."
    return why_badly_written(name, text)


def why_no_password(name: str, text: str) -> str:
    """Return the same for a password: it may have blanks inside, and any characters behind the first."""
    if len(text.splitlines()) > 1:
        return f"The secret {name} has more than one line: put one value there, and nothing else."
    return _why_invisible(name, text[:1]) or why_short(name, text)


def _why_invisible(name: str, part: str) -> str:
    if part.startswith(_BYTE_ORDER_MARK) or not part.isprintable():
        return (
            f"The secret {name} holds an invisible character, as a byte order mark: write it again as plain text."
        )
    return ""


def _why_quoted(name: str, part: str) -> str:
    return f"The secret {name} is in quotes: remove them." if part != part.strip(_QUOTES) else ""


def _no_remark(_text: str, _mode: Mode) -> Form:
    return Form()


def _single(name: str, text: str, _mode: Mode) -> str:
    return why_no_single_value(name, text)


@dataclass(frozen=True, slots=True)
class SecretKind:
    """What is known of one secret. The functions take its text without the white space around it.

    `use` is its use under the settings. `unusable` takes its name, too, and returns in a sentence why a text
    cannot be this secret, or nothing; with such a text nothing is started. `form` returns what looks wrong, or is
    worth knowing, of a text that can. `values` returns each value in the text, for the log's redaction; where the
    order and the lines of several values do not count, `several` is true. A text that another kind `recognizes`, a
    pattern and its name, is refused, unless `is_certain`: `unusable` looks at everything itself.
    """

    use: Callable[[Sections], SecretUse]
    unusable: Callable[[str, str, Mode], str] = _single
    form: Callable[[str, Mode], Form] = _no_remark
    values: Callable[[str], list[str]] = one_value
    several: bool = False
    is_certain: bool = False
    recognizes: Sequence[tuple[re.Pattern[str], str]] = field(default=())

    def recognized(self, text: str) -> str:
        """Return the name of what this kind recognizes in a text, or nothing."""
        return next((name for pattern, name in self.recognizes if pattern.match(text)), "")

    def normal_form(self, text: str) -> str:
        """Return a text without the white space that does not count."""
        return "\n".join(text.split()) if self.several else text.strip()
