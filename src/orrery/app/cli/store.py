"""`orrery store`: the one command that makes a store (decision 50)."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from orrery.app.cli.services import Config, configured
from orrery.app.store_place import named_place, store_place
from orrery.ports.store import Inspection, StorePlace, StoreRisk
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.progress import progress_bar
from orrery.runtime.console.tables import Row, note, show
from orrery.runtime.module import Role, load

group = typer.Typer(no_args_is_help=True)
PROCESSES, COMMITS = 3, 200
"""The processes of a proof, and how often each commits in a race."""

cockpit_group = typer.Typer(no_args_is_help=True)


@group.callback()
def store() -> None:
    """Make the store."""


@cockpit_group.callback()
def cockpit_store() -> None:
    """Make the cockpit's own store."""


@group.command("create")
def create_store(config: Config = None) -> None:
    """Make an empty store at the path in the settings; refuse when a file is there already."""
    _create(config, "site")


@group.command()
def migrate(config: Config = None) -> None:
    """Bring the store's tables to this release, once every node runs it; the service goes on meanwhile."""
    settings, secrets = configured(config, quiet=True)
    place = store_place(settings, secrets)
    done = place.migrate()
    note(
        f"Migrated the store at {place} to schema {done[-1]}." if done else f"The store at {place} is up to date."
    )


@group.command()
def copy(
    source: Annotated[str, typer.Argument(help="The store: a file, or a database.")],
    target: Annotated[str, typer.Argument(help="Where it goes: a file, or an empty database.")],
    config: Config = None,
    *,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back a copy that has not ended, and open SOURCE again.")
    ] = False,
) -> None:
    """Move a store from a file to a database, or back: SOURCE is closed first, TARGET opened at the end.

    After an interruption, type the same again.
    """
    from orrery.app.store_copy import copied, undone  # noqa: PLC0415  no other command needs it

    settings, secrets = configured(config, quiet=True)
    here, there = named_place(settings, secrets, source), named_place(settings, secrets, target)
    if undo:
        undone(here, there)
        note(f"The store at {here} is open again, and nothing of it is at {there}.")
        return
    with progress_bar("Steps of the copy") as advance:
        for steps in copied(here, there):
            advance(steps)
    note(f"The store is at {there}. Name that in the settings of every node, and start them.")


@group.command()
def prove(
    address: Annotated[str | None, typer.Argument(help="A database; by default that of the settings.")] = None,
    config: Config = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Race three processes against an engine in a scratch store, and report what it may be used for.

    The scratch store is removed, and the store itself is not opened. Exit 1 when the engine breaks a promise.
    """
    from orrery.app.store_races import RACES, raced  # noqa: PLC0415  no other command needs it

    settings, secrets = configured(config, quiet=True)
    place, rows = store_place(settings, secrets, address), list[Row]()
    with place.scratch() as scratch, progress_bar("Races of three processes", len(RACES)) as advance:
        for race, wrong in raced([scratch] * PROCESSES, COMMITS):
            rows.append({"race": race, "wrong": "; ".join(wrong) or None})
            advance()
        risks = asyncio.run(_inspected(scratch)).risks
    show(rows, ("race", "wrong"), as_json=as_json, empty="")
    broken = any(row["wrong"] for row in rows)
    note(verdict(place, risks, broken=broken))
    end_broken(when=broken)


async def _inspected(place: StorePlace) -> Inspection:
    store = await place.open()
    try:
        return await store.inspect()
    finally:
        await store.close()


def verdict(place: object, risks: Sequence[StoreRisk], *, broken: bool) -> str:
    """Return what a place may be used for."""
    if broken:
        return f"Keep no store at {place}: it would lose or double sales."
    if not risks:
        return f"{place} kept every promise: it may hold the sales of a shop."
    todo = "\n".join(f"{one.why} {one.todo}" for one in risks)
    return f"{place} kept every promise: it may hold trials. Before it holds sales:\n{todo}"


@cockpit_group.command("create")
def create_cockpit_store(config: Config = None) -> None:
    """Make the cockpit's empty store at the path in the settings; refuse when a file is there already."""
    _create(config, "cockpit")


def _create(config: Path | None, role: Role) -> None:
    settings, secrets = configured(config, quiet=True, role=role)
    if role == "cockpit":
        load("orrery.app.kept_apart:require_apart")(settings)
    place = store_place(settings, secrets)
    place.create()
    note(f"Made an empty store at {place}.")
