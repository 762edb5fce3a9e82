"""Where the answers of `orrery setup` come from: a person at a terminal, or a file."""

import json
import select
import stat
import sys
import termios
import tomllib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from getpass import getpass
from pathlib import Path
from typing import Any, Protocol, cast

from orrery.app.settings.ownership import read_own
from orrery.app.setup.deployment_files import text_at
from orrery.app.setup.steps import Question, Step, steps
from orrery.errors import Invalid, words_of
from orrery.runtime.console.tables import note

KEEP = "kept"
"""The default that a secret has which is there already: its value is not shown."""

AWAY = "-"
"""The answer that takes an optional value away."""

STOP = "s"

PAUSE = 0.3
"""Seconds in which the next part of a paste comes, over a slow line, too."""

_QUOTES = {('"', '"'), ("'", "'"), ("\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}")}


class Answers(Protocol):
    """One who answers."""

    def wants(self, step: Step, *, default: bool) -> bool:
        """Return whether an optional step is wanted; `default` without an answer."""
        ...

    def answer(self, question: Question, default: str, choices: Sequence[str]) -> str:
        """Return the answer to one question, or nothing without one."""
        ...

    def given(self, question: Question) -> str:
        """Return what was answered before the question is asked, or nothing."""
        ...

    def again(self, step: Step) -> bool:
        """Return whether a step that failed is to be tried again; the questions come again then."""
        ...


class Typed:
    """A person at the terminal. What is secret is not shown."""

    def wants(self, step: Step, *, default: bool) -> bool:
        typed = typed_line(f"  {step.wanted} [{'Y/n' if default else 'y/N'}] ").lower()
        return typed in {"y", "yes"} if typed else default

    def answer(self, question: Question, default: str, choices: Sequence[str]) -> str:
        note(f"{'; '.join(filter(None, (question.what, question.where)))}.")
        for number, one in enumerate(choices, 1):
            note(f"    {number}  {one}")
        hint = f" [{default}]" if default else " [Enter leaves it out]" if question.optional else ""
        if default and question.optional:
            hint = f" [{default}; {AWAY} takes it away]"
        if question.password:
            return self._password(hint)
        shown = f"  {question.key}{hint}: "
        asked = _file_or_text if question.file else getpass if question.secret else _line
        typed = _text(asked, shown).strip()
        if not question.secret:
            typed = _unquoted(typed)
        if typed.isdecimal() and 0 < int(typed) <= len(choices):
            return choices[int(typed) - 1].split()[0]
        return typed or ("" if default == KEEP else default)

    def _password(self, hint: str) -> str:
        first = _text(getpass, f"  Password{hint}: ")
        if first and _text(getpass, "  Once more: ") != first:
            note("  The two differ.")
            return self._password(hint)
        return first

    def given(self, question: Question) -> str:
        del question
        return ""

    def again(self, step: Step) -> bool:
        shown = f"Enter tries {step.title[:1].lower()}{step.title[1:]} again, s stops here: "
        return typed_line(shown).lower() != STOP


def _text(asked: Callable[[str], str], shown: str) -> str:
    """Return what is typed; ask again for what is no text, as a terminal of another encoding sends it."""
    while True:
        try:
            typed = asked(shown)
            _ = typed.encode()  # what the terminal sent is kept as lone surrogates under the locale C
        except UnicodeError:
            note("  This is not text in UTF-8: the terminal has another encoding.")
        else:
            return typed


def _unquoted(text: str) -> str:
    """Return a text without the quotes around it, as it stood in a page or a file; not a list of quoted texts."""
    is_quoted = len(text) > 1 and (text[0], text[-1]) in _QUOTES and text[0] not in text[1:-1]
    return text[1:-1].strip() if is_quoted else text


def typed_line(shown: str) -> str:
    """Return a line of text that is typed."""
    return _text(_line, shown).strip()


def _line(shown: str) -> str:
    """Return a line that is typed: what was pasted beyond it is no answer to what comes next."""
    if not sys.stdout.isatty():  # else `input` would ask in the file that the output goes to
        _ = sys.stderr.write(shown)
        _ = sys.stderr.flush()
        shown = ""
    typed = input(shown)
    _ = termios.tcflush(sys.stdin, termios.TCIFLUSH)
    return typed


def _file_or_text(shown: str) -> str:
    """Return the name of a file, or a JSON object that is pasted, which is not shown."""
    with _unseen():
        note("  A file's name, or the text itself. Nothing is shown meanwhile. Ctrl-D ends a text that was cut.")
        _ = sys.stderr.write(shown)
        _ = sys.stderr.flush()
        text = sys.stdin.readline()
        while not text.strip() and _is_coming():  # a paste may begin with empty lines
            text = sys.stdin.readline()
        text = text.lstrip()
        while text.startswith("{") and not _is_whole(text) and (line := sys.stdin.readline()):
            text += line
    note("" if text.startswith("{") else text.strip())
    return text


@contextmanager
def _unseen() -> Generator[None]:
    """Show nothing of what is typed: getpass shows nothing of one line, and drops what has come after it."""
    before = termios.tcgetattr(sys.stdin)
    flags = before[3]
    try:
        before[3] = flags & ~termios.ECHO
        _ = termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, before)
        yield
    finally:
        try:
            while _is_coming():  # echoed, the rest of a paste would show
                _ = termios.tcflush(sys.stdin, termios.TCIFLUSH)
        finally:
            before[3] = flags
            _ = termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, before)


def _is_coming() -> bool:
    """Return whether another line comes with the one that was read, as of a paste."""
    return bool(select.select([sys.stdin], [], [], PAUSE)[0])


def _is_whole(text: str) -> bool:
    try:
        _ = json.loads(text)
    except ValueError:
        return False
    return True


class FileOfAnswers:
    """A TOML file with the sections of the settings, `[secrets]`, and `[notes]` for what is in neither."""

    def __init__(self, file: Path) -> None:
        try:
            others = file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
            self._answers: dict[str, Any] = tomllib.loads(read_own(file, "The file of answers"))
        except tomllib.TOMLDecodeError as error:
            raise Invalid(f"The file of answers {file} is not valid TOML: {error}.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise Invalid(f"The file of answers {file} cannot be read: {words_of(error)}.") from None
        if others:
            raise Invalid(f"Others may use the file of answers, which has secrets. Type: chmod 600 {file}")
        asked = {_name(one) for step in steps() for one in step.questions if one.what}
        if unknown := [name for name in _names(self._answers) if name not in asked]:
            raise Invalid(f"Setup asks for no {', '.join(unknown)}: one site, one product, each by its own name.")

    def wants(self, step: Step, *, default: bool) -> bool:
        return default or any(map(self.given, step.questions))

    def answer(self, question: Question, default: str, choices: Sequence[str]) -> str:
        del choices  # what is no choice is refused by who asks
        return self.given(question) or ("" if default == KEEP else default)

    def again(self, step: Step) -> bool:
        del step
        return False

    def given(self, question: Question) -> str:
        found = text_at(self._answers, _name(question))
        return found.strip("\r\n") if question.password else found.strip()


def _name(question: Question) -> str:
    """Return where a file of answers has the answer."""
    section = "" if question.setting else "secrets." if question.secret else "notes."
    return f"{section}{question.key}".removesuffix("[]")


def _names(found: object, above: str = "") -> Iterator[str]:
    """Yield the names of all values of a file; a list of tables has numbers."""
    if isinstance(found, dict):
        inner = cast("dict[str, object]", found).items()
    elif isinstance(found, list) and any(isinstance(one, dict) for one in cast("list[object]", found)):
        inner = enumerate(cast("list[object]", found))
    else:
        yield above
        return
    for name, value in inner:
        yield from _names(value, f"{above}.{name}" if above else str(name))


def answers_of(file: Path | None) -> Answers:
    """Return who answers; raise `Invalid` without a file and without a terminal."""
    if file is not None:
        return FileOfAnswers(file)
    if not sys.stdin.isatty():
        raise Invalid("There is no terminal to ask at: name a file of answers with --answers.")
    return Typed()
