"""`orrery checkout events`: the processor's events, those that Orrery received, and the replay of one."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.checkout.cli import checkout_of
from orrery.errors import Invalid, ItemUnreadable
from orrery.ports.processor import split_unreadable
from orrery.runtime.console.options import AsJson, Since
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import note, show, show_json
from orrery.runtime.console.windows import parse_window

if TYPE_CHECKING:
    from orrery.checkout.access.events import KnownEvent, Replay, ReplayResult

_COLUMNS = ("created", "type", "pending", "stored", "became", "why", "id", "session_id")

_SAYS: "dict[ReplayResult, str]" = {
    "granted": "Access is granted; Orrery notifies you and the buyer.",
    "already": "Access had been granted before; nothing changed.",
    "waiting": "No access yet: it is not paid, or what was offered is not known. See `orrery checkout reconcile`.",
    "refused": "No access: what was paid is not what was offered. See `orrery checkout reconcile`.",
    "foreign": "It is not ours: its session names none of our products.",
    "ignored": "It is stored; its type asks for nothing.",
    "duplicate": "It had come in before, and its type asks for nothing; nothing changed.",
    "unreadable": "It is stored, but cannot be read: it is not as documented. A newer release may read it.",
    "conflict": "Another event came in under this id before, and stands; nothing changed.",
}


def events(
    failed: Annotated[bool, typer.Option("--failed", help="Only what did not come through.")] = False,  # noqa: FBT002  a flag of the command line
    replay: Annotated[
        str | None, typer.Option(help="Receive this event as its webhook would.", metavar="ID", show_default=False)
    ] = None,
    since: Since = "7d",
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List the processor's events about sessions and what became of them here, or receive one once more.

    Exit 1 when --failed finds something.
    """
    window = parse_window(since)
    if replay is not None and failed:
        raise Invalid("--replay receives one event; --failed only lists.")
    if replay is not None:
        _show(runner.run(lambda services: checkout_of(services).events.replay(replay)), as_json=as_json)
        return

    async def read(services: Services) -> "list[KnownEvent | ItemUnreadable]":
        return [event async for event in checkout_of(services).events.list_events(window, failed=failed)]

    found, unread = split_unreadable(runner.run(read))
    empty = "Nothing failed to come through." if failed else "The processor tells of none."
    show(map(asdict, found), _COLUMNS, as_json=as_json, empty=empty, unreadable=unread)
    if failed and (found or unread):
        raise typer.Exit(1)


def _show(replayed: "Replay", *, as_json: bool) -> None:
    if as_json:
        show_json(asdict(replayed))
    else:
        subject = f"{replayed.id}, session {replayed.session_id}" if replayed.session_id else replayed.id
        note(f"{subject}: {_SAYS[replayed.result]}")
    if replayed.result in ("unreadable", "conflict"):
        raise typer.Exit(1)
