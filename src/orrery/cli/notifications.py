"""`orrery notifications`: what is to be told, what could not be, what is held back (decision 12)."""

from typing import Annotated

import typer

from orrery.app import Orrery
from orrery.cli.services import AsJson, Config, with_services
from orrery.cli.tables import Row, note, show
from orrery.errors import NotFound, RecordUnreadable
from orrery.owner.outbox import State
from orrery.owner.references import PREFIX

group = typer.Typer(no_args_is_help=True)

Ids = Annotated[list[str] | None, typer.Argument(help="Ids of notifications; see the list.", metavar="ID...")]
AllHeld = Annotated[bool, typer.Option("--all-held", help="All that a restore held back.")]


@group.command("list")
def list_notifications(
    state: Annotated[
        State | None, typer.Option(help="Only these: waiting, held, delivered or dead.", show_default=False)
    ] = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    config: Config = None,
) -> None:
    """List notifications and what became of them."""

    async def read(orrery: Orrery) -> tuple[list[Row], list[RecordUnreadable]]:
        within = orrery.references.within
        found: list[Row] = [row.model_dump() | {"id": within(row.id)} async for row in orrery.outbox.rows(state)]
        return found, await orrery.outbox.unreadable()

    columns = ("state", "channel", "attempts", "created_at", "id", "last_error")
    rows, unreadable = with_services(config, read)
    show(rows, columns, as_json=as_json, empty="There are none.", unreadable=unreadable)


@group.command()
def release(ids: Ids = None, all_held: AllHeld = False, config: Config = None) -> None:  # noqa: FBT002  a flag
    """Deliver held or dead notifications after all."""
    count = with_services(config, lambda orrery: _each(orrery, ids or [], "release", all_held=all_held))
    note(f"{count} released; the running service delivers them.")


@group.command()
def drop(ids: Ids = None, all_held: AllHeld = False, config: Config = None) -> None:  # noqa: FBT002  a flag
    """Remove held or dead notifications for good."""
    count = with_services(config, lambda orrery: _each(orrery, ids or [], "drop", all_held=all_held))
    note(f"{count} dropped.")


async def _named(orrery: Orrery, ids: list[str]) -> list[str]:
    """Return the ids of notifications, which pushes and logs show with references in the place of session ids."""
    if not any(PREFIX in one for one in ids):
        return ids
    within = orrery.references.within
    referred = {within(row.id): row.id async for row in orrery.outbox.rows()}
    return [referred.get(one, one) for one in ids]


async def _each(orrery: Orrery, ids: list[str], verb: str, *, all_held: bool) -> int:
    wanted = [row.id async for row in orrery.outbox.rows("held")] if all_held else await _named(orrery, ids)
    change = orrery.outbox.release if verb == "release" else orrery.outbox.drop
    for row_id in wanted:
        if not await change(row_id):
            raise NotFound(f"There is no held or dead notification {row_id}.")
    return len(wanted)
