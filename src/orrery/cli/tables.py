"""How the commands print: a table for people, JSON for machines."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

import typer
from pydantic import TypeAdapter
from rich.table import Table

from orrery.cli.terminal import marked, new_console, visible, visible_json
from orrery.errors import RecordUnreadable

Row = Mapping[str, object]

_ANYTHING: TypeAdapter[object] = TypeAdapter(object)


def show(
    rows: Iterable[Row],
    columns: Sequence[str],
    *,
    as_json: bool,
    empty: str,
    unreadable: Sequence[RecordUnreadable] = (),
) -> None:
    """Print rows as a table of `columns`, with times in UTC, or as one JSON list with every field.

    `unreadable` are what the list had to leave out: see `left_out`.
    """
    found = list(rows)
    if as_json:
        show_json(found)
    elif found:
        _show_table(found, columns)
    elif not unreadable:
        note(empty)
    left_out(unreadable)


def _show_table(found: Sequence[Row], columns: Sequence[str]) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        # A terminal may fold; a pipe gets each row on one line.
        table.add_column(column.replace("_", " "), overflow="fold", no_wrap=not sys.stdout.isatty())
    for row in found:
        table.add_row(*(marked(_text(row.get(column))) for column in columns))
    new_console(soft_wrap=False, width=None if sys.stdout.isatty() else 400).print(table)


def show_json(value: object) -> None:
    """Print one JSON document, with whatever could steer a terminal escaped."""
    sys.stdout.write(f"{visible_json(_ANYTHING.dump_python(value, mode='json'), indent=2)}\n")


def note(sentence: str) -> None:
    """Print one sentence or more for the person at the terminal, apart from the output."""
    shown = "\n".join(map(visible, sentence.split("\n")))
    new_console(stderr=True).print(shown, markup=False)


def left_out(errors: Sequence[RecordUnreadable]) -> None:
    """Name each record that a listing had to leave out; with any, the command ends with exit code 1."""
    for error in errors:
        new_console(stderr=True).print(visible(str(error)), style="red", markup=False)
    if errors:
        raise typer.Exit(1)


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    if isinstance(value, tuple):
        return ", ".join(map(_text, cast("tuple[object, ...]", value)))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_text(one)}" for name, one in cast("dict[str, object]", value).items())
    return str(value)
