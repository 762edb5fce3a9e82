"""`orrery cockpit ledger`: what needs doing, from whom, until when (decision 35)."""

import sys
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.errors import Invalid
from orrery.ports.comms.messages import Priority
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed
from orrery.runtime.console.tables import note, show
from orrery.syntax.track import Track

if TYPE_CHECKING:
    from orrery.cockpit.ledger import Ledger
    from orrery.cockpit.records import LedgerItem
    from orrery.cockpit.set_aside import SetAsideRows
    from orrery.runtime.collection import RecordPage, StoredRecord
    from orrery.runtime.console.runner import Services

group = typer.Typer(no_args_is_help=True)

ItemId = Annotated[str, typer.Argument(help="An item's id; see the list.")]

_COLUMNS = ("id", "track", "priority", "title", "from", "until", "source", "created", "dismissed")


@group.callback()
def ledger() -> None:
    """Add to the action ledger, list it, dismiss from it."""


@group.command()
def add(
    title: Annotated[str, typer.Argument(help="What needs doing, on one line.")],
    track: Annotated[Track, typer.Option(help="Whose data it is: A is internal, B public.")],
    person: Annotated[str, typer.Option("--from", help="From whom it comes.")] = "",
    until: Annotated[str, typer.Option(metavar="YYYY-MM-DD", help="Until when.")] = "",
    priority: Annotated[Priority, typer.Option(help="How urgent it is.")] = "normal",
    *,
    runner: Handed,
) -> None:
    """Add one item; print its id.

    \b
    orrery cockpit ledger add "Answer the reviewers" --track B --from cy@lab.example --until 2026-12-01
    """
    from orrery.cockpit.ledger import NewItem  # noqa: PLC0415  it loads the store's records

    item = NewItem(track, title, person, _day(until), priority)
    typer.echo(runner.run(lambda services: _ledger(services).note(item)))


@group.command("import")
def import_items(
    file: Annotated[str, typer.Argument(help="A file of JSON lines, or - for standard input.")],
    *,
    runner: Handed,
) -> None:
    """Add one item for each line of a file, such as {"track": "B", "title": "Call Bo", "until": "2026-12-01"}.

    `track` and `title` are needed; `person`, `until` and `priority` may be there. Nothing is added when a line is
    wrong. An item that is there already, dismissed or not, is not added again.

    \b
    orrery cockpit ledger import actions.jsonl
    orrery cockpit ledger import - < actions.jsonl
    """
    from orrery.cockpit.cli.import_file import read_items  # noqa: PLC0415  it loads the store's records

    found = read_items(sys.stdin.buffer.read() if file == "-" else _content(Path(file)))
    added, there = runner.run(lambda services: _ledger(services).import_items(found))
    note(f"Added {added}; {there} were there already.")


@group.command("list")
def list_items(
    every: Annotated[bool, typer.Option("--all", help="The dismissed ones, too.")] = False,  # noqa: FBT002  a flag of the command line
    as_json: AsJson = False,  # noqa: FBT002  the same
    *,
    runner: Handed,
) -> None:
    """List the items that wait, the soonest first, and how many do not. Exit 1 when one cannot be read."""
    from orrery.cockpit.cli.listed import sorted_out  # noqa: PLC0415  it loads the store's records

    found, asides, now = runner.run(_known)
    waiting, not_listed = sorted_out(found.records, asides, now)
    chosen = found.records if every else waiting
    rows = [
        _row(one) for one in sorted(chosen, key=lambda one: (one.record.until or date.max, one.record.created_at))
    ]
    if not every and str(not_listed):
        note(str(not_listed))
    show(rows, _COLUMNS, as_json=as_json, empty="Nothing waits.", unreadable=found.unreadable)


async def _known(services: "Services") -> "tuple[RecordPage[LedgerItem], SetAsideRows, datetime]":
    from orrery.cockpit.set_aside import SetAsides  # noqa: PLC0415  it loads the store's records

    asides = services[SetAsides]
    return await _ledger(services).all(), await asides.known(), asides.now()


@group.command()
def dismiss(item_id: ItemId, *, runner: Handed) -> None:
    """Dismiss an item; it is kept for 90 days, and can be undone."""
    changed = runner.run(lambda services: _ledger(services).act(item_id, "dismiss"))
    note("Dismissed." if changed else "It was dismissed already.")


@group.command()
def undo(item_id: ItemId, *, runner: Handed) -> None:
    """Bring a dismissed item back."""
    changed = runner.run(lambda services: _ledger(services).act(item_id, "undo"))
    note("It is back in the list." if changed else "It was not dismissed.")


def _ledger(services: "Services") -> "Ledger":
    from orrery.cockpit.ledger import Ledger  # noqa: PLC0415  it loads the store's records

    return services[Ledger]


def _row(stored: "StoredRecord[LedgerItem]") -> dict[str, object]:
    item = stored.record
    return {
        "id": stored.id,
        "track": item.track,
        "priority": item.priority,
        "title": item.title,
        "from": item.person or None,
        "until": item.until.isoformat() if item.until else None,
        "source": item.source,
        "created": item.created_at,
        "dismissed": item.dismissed_at,
    }


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise Invalid("--until takes a day such as 2026-12-01.") from None


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise Invalid(f"{file} cannot be read: {error.strerror}.") from None
