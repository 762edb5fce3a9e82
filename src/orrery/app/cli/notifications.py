"""`orrery notifications`: those that wait, those that were refused, those that are held back (decision 12)."""

import asyncio
import secrets as random
from typing import Annotated

import typer

from orrery.app.adapters import Adapters
from orrery.app.cli.services import Config, configured
from orrery.app.composition import clock_of
from orrery.errors import DeliveryFailed, Invalid, NotFound, RecordUnreadable
from orrery.ports.notifier import Message, Notifiers
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import Row, note, show
from orrery.runtime.outbox import Channel, DeliveryState, Outbox
from orrery.runtime.references import PREFIX, References
from orrery.syntax.email_address import is_email_address
from orrery.tls import advice

group = typer.Typer(no_args_is_help=True)

Ids = Annotated[list[str] | None, typer.Argument(help="Ids of notifications; see the list.", metavar="ID...")]
AllHeld = Annotated[bool, typer.Option("--all-held", help="All that a restore held back.")]
Way = Annotated[Channel, typer.Argument(help="What to try: push or email.", metavar="CHANNEL")]
To = Annotated[
    str, typer.Option(help="With email: the address to write to, such as your own.", show_default=False)
]

TITLE = "A test from Orrery"
"""The beginning of a test message's id."""

_NEEDED = {"push": "Set url and topic in [push]", "email": "Set host and sender in [mail]"}
_TODO = {
    "push": "Check url and topic in [push]; after a 401 or 403, the secret push_token and what it may publish.",
    "email": "Check [mail]: port 465 goes with tls, 587 with starttls; after a 535, username and the secret "
    "mail_password; after a 5xx of another kind, whether the server lets you send from sender.",
}
_TAKEN = {"push": "The push server took it", "email": "The mail server took it; look among the spam, too"}


@group.command("list")
def list_notifications(
    state: Annotated[
        DeliveryState | None,
        typer.Option(help="Only these: waiting, held, delivered or dead.", show_default=False),
    ] = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List notifications and their states."""

    async def read(services: Services) -> tuple[list[Row], list[RecordUnreadable]]:
        within, outbox = services[References].within, services[Outbox]
        found: list[Row] = [row.model_dump() | {"id": within(row.id)} async for row in outbox.rows(state)]
        return found, await outbox.unreadable()

    columns = ("state", "channel", "attempts", "created_at", "id", "last_error")
    rows, unreadable = runner.run(read)
    show(rows, columns, as_json=as_json, empty="There are none.", unreadable=unreadable)


@group.command()
def release(ids: Ids = None, all_held: AllHeld = False, *, runner: Handed) -> None:  # noqa: FBT002  a flag
    """Deliver held or dead notifications after all."""
    count = runner.run(lambda services: _each(services, ids or [], "release", all_held=all_held))
    note(f"{count} released; the running service delivers them.")


@group.command()
def drop(ids: Ids = None, all_held: AllHeld = False, *, runner: Handed) -> None:  # noqa: FBT002  a flag
    """Remove held or dead notifications permanently."""
    count = runner.run(lambda services: _each(services, ids or [], "drop", all_held=all_held))
    note(f"{count} dropped.")


@group.command("test")
def try_out(channel: Way, to: To = "", config: Config = None) -> None:
    """Send one message at once, past the outbox, to see whether it arrives; exit 1 when it is not taken."""
    settings, secrets = configured(config, quiet=True)
    if (channel == "email") != bool(to):
        raise Invalid("An e-mail needs --to with the address to write to; a push goes to the topic of [push].")
    if to and not is_email_address(to):
        raise Invalid("--to is no e-mail address.")
    notifier = Adapters(settings, secrets, clock_of(settings)).port(Notifiers).by_channel.get(channel)
    if notifier is None:
        raise Invalid(f"{_NEEDED[channel]}: until then its messages wait.")
    body = "You requested it with `orrery notifications test`. Orrery's notifications of this channel arrive here."
    # A new id each time: a receiver may drop one that it has seen.
    try:
        asyncio.run(notifier.send(Message(f"test-{random.token_hex(8)}", TITLE, body, to)))
    except DeliveryFailed as error:
        raise DeliveryFailed(f"{error} {advice(error, _TODO[channel])}", permanent=error.permanent) from None
    note(f"{_TAKEN[channel]}: look for {TITLE!r}.")


async def _named(services: Services, ids: list[str]) -> list[str]:
    """Return the ids of notifications, which pushes and logs show with references in the place of session ids."""
    if not any(PREFIX in one for one in ids):
        return ids
    within = services[References].within
    referred = {within(row.id): row.id async for row in services[Outbox].rows()}
    return [referred.get(one, one) for one in ids]


async def _each(services: Services, ids: list[str], verb: str, *, all_held: bool) -> int:
    outbox = services[Outbox]
    wanted = [row.id async for row in outbox.rows("held")] if all_held else await _named(services, ids)
    change = outbox.release if verb == "release" else outbox.drop
    for row_id in wanted:
        if not await change(row_id):
            raise NotFound(f"There is no held or dead notification {row_id}.")
    return len(wanted)
