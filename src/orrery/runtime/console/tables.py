"""How the commands print: a table for people, JSON for machines."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias, cast

from pydantic import TypeAdapter
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from orrery.errors import RecordUnreadable
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.terminal import new_console, visible, visible_json
from orrery.syntax.track import TRACKS, label

if TYPE_CHECKING:
    from orrery.ports.processor import ItemUnreadable  # its package takes 50 ms to import

Row = Mapping[str, object]
Unread: TypeAlias = "RecordUnreadable | ItemUnreadable"

_NOTHING = "-"

_FEWEST = 2
"""The fewest columns beside each other, even in a narrow terminal."""

_LABELS = {track: label(track) for track in TRACKS}

_ANYTHING: TypeAdapter[object] = TypeAdapter(object)


def show(
    rows: Iterable[Row],
    columns: Sequence[str],
    *,
    as_json: bool,
    empty: str,
    unreadable: Sequence[Unread] = (),
    more: str = "",
) -> None:
    """Print rows as a table of `columns`, with times in UTC, or as one JSON list with every field.

    Rows with data of a track have it as `track`. Its label is the first of their columns, and is above the
    table, too: each part of a table names its track.

    `unreadable` are the items that the list leaves out: see `left_out`. `more` is printed below the
    list.
    """
    found = list(rows)
    if as_json:
        show_json(found)
    elif found:
        _show_table(found, columns)
    elif not unreadable:
        note(empty)
    if more:
        note(more)
    left_out(unreadable)


def of_all(shown: int, total: int | None, counted_to: int = 0) -> str:
    """Return how many of all a list shows, where some are left out; None: there are more, which nothing counts.

    Who counts to `counted_to` may have found that many, or more.
    """
    if shown == total:
        return ""
    at_least = " or more" if counted_to and total and total >= counted_to else ""
    return f"{shown}{', and more' if total is None else f' of {total}{at_least}'}: see more with --limit."


def _show_table(found: Sequence[Row], columns: Sequence[str]) -> None:
    console = new_console()
    labels = dict.fromkeys(one for row in found if (one := _LABELS.get(str(row.get("track")))))
    if labels:
        console.print(" ".join(labels), markup=False)
        columns = ["track", *(column for column in columns if column != "track")]
    cells = [[visible(_cell(row, column)) for column in columns] for row in found]
    # A pipe gets each row on one line.
    room = console.width if sys.stdout.isatty() else None
    heads = [column.replace("_", " ") for column in columns]
    for line in table_lines(heads, cells, room, leads=[row[0] if row[0] in labels else "" for row in cells]):
        console.print(line)


def _cell(row: Row, column: str) -> str:
    text = _text(row.get(column))
    return _LABELS.get(text, text) if column == "track" else text


def show_json(value: object) -> None:
    """Print one JSON document, with whatever could steer a terminal escaped."""
    _ = sys.stdout.write(f"{visible_json(_ANYTHING.dump_python(value, mode='json'), indent=2)}\n")


def note(sentence: str) -> None:
    """Print one sentence or more for the person at the terminal, apart from the output."""
    shown = "\n".join(map(visible, sentence.split("\n")))
    new_console(stderr=True).print(shown, markup=False)


def left_out(errors: Sequence[Unread]) -> None:
    """Name each record or object that a listing had to leave out; with any, the command ends with exit code 1."""
    for error in errors:
        item_id = "" if isinstance(error, RecordUnreadable) else error.item_id
        its_id = f" Its id: {item_id}" if item_id else ""
        new_console(stderr=True).print(visible(f"{error}{its_id}"), style="red", markup=False)
    end_broken(when=errors)


def table_lines(
    heads: Sequence[str], rows: Sequence[Sequence[str]], room: int | None, leads: Sequence[str] = ()
) -> Iterator[Text]:
    """Yield a table of `room` cells' width: longer cells are printed whole under their row, to be copied.

    `leads` are what each row begins with there, too.
    """
    widths = [max(map(cell_len, column)) for column in zip(heads, *rows, strict=True)]
    beside = _beside(widths, room)
    yield Text(_padded(heads, widths, beside), "bold")
    for row, lead in zip_longest(rows, leads, fillvalue=""):
        yield Text(_padded(row, widths, beside))
        for index, (head, cell) in enumerate(zip(heads, row, strict=True)):
            if index not in beside and cell not in ("", _NOTHING):
                yield Text.assemble((f"  {lead}  {head}  " if lead else f"  {head}  ", "dim"), cell)


def _beside(widths: Sequence[int], room: int | None) -> list[int]:
    """Return the columns side by side: all of them, or without the widest, but at least the first and two."""
    beside = list(range(len(widths)))
    while room is not None and len(beside) > _FEWEST and sum(widths[index] + 2 for index in beside) - 2 > room:
        beside.remove(max(beside[1:], key=lambda index: (widths[index], index)))
    return beside


def _padded(cells: Sequence[str], widths: Sequence[int], beside: Sequence[int]) -> str:
    return "  ".join(set_cell_size(cells[index], widths[index]) for index in beside).rstrip()


def _text(value: object) -> str:
    if value is None:
        return _NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    if isinstance(value, tuple):
        return ", ".join(map(_text, cast("tuple[object, ...]", value)))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_text(one)}" for name, one in cast("dict[str, object]", value).items())
    return str(value)
