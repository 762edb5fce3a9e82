"""Terms as a person gives them: asked for at a terminal, or read from standard input or a file."""

import csv
import sys
import termios
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from typing import TextIO

from orrery.errors import Invalid
from orrery.scanner.cli.arguments import explain
from orrery.scanner.detectors.spelling import why_unsearchable
from orrery.scanner.findings import WatchedKind
from orrery.scanner.watch_list import LONGEST_NOTE, MOST_TERMS, WatchListEntry, kind_of

_NOT_UTF_8 = "The terms are not valid UTF-8; nothing was added."
_MOST_CHARACTERS = 64 * 1024 * 1024
_MOST_NAMED = 20
"""How many bad lines are named."""

_TEXT, _NOTE = 2, 3
"""How many fields a line has, without and with a note."""


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    fields: list[str]


def asked(prompt: str) -> list[str]:
    """Return the lines of standard input; at a terminal each is asked for, not shown, and an empty one ends it."""
    if not sys.stdin.isatty():
        return [one for one in (line.strip() for line in _bounded(sys.stdin).splitlines()) if one]
    with _hidden(sys.stdin.fileno()):
        return list(_typed(prompt))


@contextmanager
def _hidden(terminal: int) -> Generator[None]:
    """Show only the ends of the typed lines: a terminal, and a program around it, keeps its screen.

    Once for all lines, and not by `getpass`, which would drop the further lines of a paste.
    """
    before, hidden = termios.tcgetattr(terminal), termios.tcgetattr(terminal)
    hidden[3] = hidden[3] & ~termios.ECHO | termios.ECHONL
    termios.tcsetattr(terminal, termios.TCSADRAIN, hidden)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _typed(prompt: str) -> Iterator[str]:
    while True:
        _ = sys.stderr.write(prompt)
        _ = sys.stderr.flush()
        try:
            line = sys.stdin.readline().strip()
        except UnicodeDecodeError:
            raise Invalid(_NOT_UTF_8) from None
        if not line:
            return
        explain(f"{len(line)} characters")
        yield line


def entries_of(kind: WatchedKind, lines: Iterable[str], added: str) -> list[WatchListEntry]:
    """Return the entries of a kind; raise `Invalid`, which names a line by its number."""
    return _all_good([_Line(number, [kind, text]) for number, text in enumerate(lines, start=1)], added)


def imported(source: TextIO, added: str) -> list[WatchListEntry]:
    """Return the entries in a file: `kind<TAB>text<TAB>note` a line, or CSV with a head; raise `Invalid`."""
    text = _bounded(source).removeprefix("\ufeff")
    head = text.partition("\n")[0].strip().lower()
    if head.replace(" ", "").replace('"', "") in ("kind,text", "kind,text,note"):
        return _all_good(list(_rows(text)), added)
    lines = [_Line(number, line.split("\t")) for number, line in enumerate(text.splitlines(), start=1)]
    return _all_good([one for one in lines if one.fields != [""]], added)


def _rows(text: str) -> Iterator[_Line]:
    rows = csv.reader(StringIO(text), strict=True)
    try:
        _ = next(rows)
        for fields in rows:
            if fields:
                yield _Line(rows.line_num, fields)
    except csv.Error:
        raise Invalid(f"Line {rows.line_num} cannot be read as CSV; nothing was added.") from None


def _bounded(source: TextIO) -> str:
    try:
        text = source.read(_MOST_CHARACTERS + 1)
    except UnicodeDecodeError:
        raise Invalid(_NOT_UTF_8) from None
    if len(text) > _MOST_CHARACTERS:
        raise Invalid(f"A watch-list has at most {MOST_TERMS:,} terms; nothing was added.")
    return text


def _all_good(lines: list[_Line], added: str) -> list[WatchListEntry]:
    """Return the entries of all lines, or raise: an import is done as a whole or not at all."""
    bad = [f"line {one.number}: {why}" for one in lines if (why := _why_bad(one))]
    if bad:
        more = f"\nand {len(bad) - _MOST_NAMED} more lines" if len(bad) > _MOST_NAMED else ""
        raise Invalid(f"Nothing was added.\n{chr(10).join(islice(bad, _MOST_NAMED))}{more}")
    return [
        WatchListEntry(kind_of(kind.strip()), text.strip(), added, "".join(note).strip())
        for kind, text, *note in (one.fields for one in lines)
    ]


def _why_bad(line: _Line) -> str:
    if not _TEXT <= len(line.fields) <= _NOTE:
        return "It is not a kind, a tab and a term."
    written, text, *note = line.fields
    try:
        kind = kind_of(written.strip())
    except Invalid:
        return "It begins with no kind of a term."
    if any(len(one) > LONGEST_NOTE or not one.isprintable() for one in note):
        return f"Its note has more than {LONGEST_NOTE} characters, or an invisible one."
    return why_unsearchable(kind, text.strip())
