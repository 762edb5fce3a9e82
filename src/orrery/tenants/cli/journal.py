"""`orrery tenants journal`: what was done, each entry with its track."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.errors import Invalid
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed
from orrery.runtime.console.tables import of_all, show
from orrery.syntax.track import Track
from orrery.tenants.accounts import resolve
from orrery.tenants.settings import TenantsSettings

if TYPE_CHECKING:
    from orrery.runtime.collection import StoredRecord
    from orrery.runtime.console.runner import Services
    from orrery.tenants.journal import Journal
    from orrery.tenants.records import TrackJournalEntry

_LONGEST_INPUT = 1 << 20
"""Bytes; an entry has its own bound."""

group = typer.Typer(no_args_is_help=True)

_COLUMNS = ("track", "created", "account", "text", "id")


@group.callback()
def journal() -> None:
    """Write what was done into the journal, each entry with its track, and list it."""


@group.command()
def add(
    text: Annotated[str, typer.Argument(help="What was done; - reads it from standard input.")],
    track: Annotated[Track, typer.Option(help="Whose data it is about: A is internal, B public.")],
    account: Annotated[str, typer.Option(help="For which account it was done, of that track.")] = "",
    *,
    runner: Handed,
) -> None:
    """Write one entry; print its id. The label of its track is required.

    Other users of the machine can read a command, and it stays in the shell's history: what they must not
    see comes by standard input.

    \b
    orrery tenants journal add --track B "Sent the figures to the reviewers"
    orrery tenants journal add --track A --account ann - < done.txt
    """
    from orrery.tenants.journal import NewEntry  # noqa: PLC0415  it loads the store's records

    whose = resolve(runner.section(TenantsSettings), account) if account else None
    entry = NewEntry(track, _read() if text == "-" else text, whose)
    typer.echo(runner.run(lambda services: _journal(services).add(entry)))


@group.command("list")
def list_entries(
    track: Annotated[Track | None, typer.Option(help="Of this track only.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many, the newest first.")] = 50,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List the entries, the newest first. Exit 1 when one cannot be read, such as one without its track."""
    found = runner.run(lambda services: _journal(services).read(track))
    rows = [_row(one) for one in found.records[:limit]]
    empty, more = "The journal is empty.", of_all(len(rows), len(found.records))
    show(rows, _COLUMNS, as_json=as_json, empty=empty, unreadable=found.unreadable, more=more)


def _read() -> str:
    try:
        return sys.stdin.buffer.read(_LONGEST_INPUT).decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise Invalid("Standard input is not UTF-8; nothing was written.") from None


def _journal(services: "Services") -> "Journal":
    from orrery.tenants.journal import Journal  # noqa: PLC0415  it loads the store's records

    return services[Journal]


def _row(stored: "StoredRecord[TrackJournalEntry]") -> dict[str, object]:
    entry = stored.record
    return {
        "id": stored.id,
        "track": entry.track,
        "account": entry.account or None,
        "text": entry.text,
        "created": entry.created_at,
    }
