"""`orrery notifications`: those that wait, those that were refused, those that are held back (decision 12)."""

import asyncio
import secrets as random
import sys
from collections.abc import Sequence
from datetime import datetime
from email.utils import parseaddr
from heapq import heappop, heappush
from itertools import groupby, islice
from typing import Annotated, get_args

import typer

from orrery.app.adapters import Adapters
from orrery.app.cli.services import Config, configured
from orrery.app.settings.reader import Settings
from orrery.app.store_place import clock_of
from orrery.errors import Invalid, NotFound, RecordUnreadable
from orrery.ports.domain_records import DomainRecords, RecordsNotRead
from orrery.ports.notifier import DeliveryFailed, Notifiers, OutgoingMessage
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import Row, note, of_all, show
from orrery.runtime.outbox import MOST_COUNTED, DeliveryState, Notification, Outbox, Undelivered
from orrery.runtime.outbox_lanes import Channel
from orrery.runtime.references import References
from orrery.runtime.settings import MailSettings
from orrery.syntax.email_address import is_email_address
from orrery.tls import advice

group = typer.Typer(no_args_is_help=True)

Limit = Annotated[
    int,
    typer.Option(
        min=1,
        max=100_000,
        help="How many of each state: of delivered, the newest; of waiting, what is due first; else by id.",
    ),
]
Ids = Annotated[list[str] | None, typer.Argument(help="Ids of notifications; see the list.", metavar="ID...")]
AllHeld = Annotated[bool, typer.Option("--all-held", help="All that is held back.")]
Emails = Annotated[
    int | None, typer.Option(help="How many e-mails to buyers are dropped with it.", show_default=False)
]
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
    limit: Limit = 50,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List what is not delivered: refused, held back or waiting; or what is in one state."""

    async def read(services: Services) -> tuple[list[Row], int, Sequence[RecordUnreadable]]:
        outbox, references = services[Outbox], services[References]
        if state == "delivered":
            newest, total = await _newest_delivered(outbox, limit)
            rows = [_shown(row, outbox, references) for row in newest]
            return rows, total, (await outbox.undelivered(limit)).unreadable
        chosen = (state,) if state else ()
        page = await outbox.undelivered(limit + 1, *chosen)
        shown = [row for _, rows in groupby(page.values(), lambda row: row.state) for row in islice(rows, limit)]
        total = len(shown)
        if total < len(page.records):
            total = sum([await outbox.count(one) for one in chosen or get_args(Undelivered)])
        return [_shown(row, outbox, references) for row in shown], total, page.unreadable

    columns = ("state", "channel", "attempts", "created_at", "id", "why")
    rows, total, unreadable = runner.run(read)
    show(
        rows,
        columns,
        as_json=as_json,
        empty="No such notifications.",
        unreadable=unreadable,
        more=of_all(len(rows), total, 0 if state == "delivered" else MOST_COUNTED),
    )


async def _newest_delivered(outbox: Outbox, limit: int) -> tuple[list[Notification], int]:
    """Return what was delivered last, and how many: without an index a month of it is read, and few are kept."""
    newest, total = list[tuple[datetime, str, Notification]](), 0
    async for row in outbox.rows("delivered"):
        total += 1
        heappush(newest, (row.created_at, row.id, row))
        if len(newest) > limit:
            _ = heappop(newest)
    return [row for _, _, row in sorted(newest, reverse=True)], total


def _shown(row: Notification, outbox: Outbox, references: References) -> Row:
    is_quiet = row.state == "waiting" and row.channel == "push" and row.priority != "urgent"
    until = outbox.quiet_until() if is_quiet else None
    why = row.held_because or row.last_error
    if until:
        why = f"Held until {until:%Y-%m-%d %H:%M} UTC: quiet hours."
    elif row.state == "waiting" and not outbox.sends(row.channel):
        why = f"No {row.channel} service is configured."
    state, row_id = "dropped" if row.dropped else row.state, references.within(row.id)
    return {**row.model_dump(), "state": state, "why": why, "held_until": until, "id": row_id}


@group.command()
def release(ids: Ids = None, all_held: AllHeld = False, *, runner: Handed) -> None:  # noqa: FBT002  a flag
    """Deliver held or dead notifications after all."""

    async def change(services: Services) -> int:
        waiting = await _waiting(services, ids or [], all_held=all_held)
        return sum([await services[Outbox].release(row.id) for row in waiting])

    note(f"{runner.run(change)} released; the running service delivers them.")


@group.command()
def drop(ids: Ids = None, all_held: AllHeld = False, emails: Emails = None, *, runner: Handed) -> None:  # noqa: FBT002  a flag
    """Decide that held or dead notifications are not sent; name the buyers who then get no e-mail."""
    waiting = runner.run(lambda services: _waiting(services, ids or [], all_held=all_held))
    if buyers := sorted(row.to for row in waiting if row.channel == "email"):
        _confirm(buyers, emails)

    async def change(services: Services) -> int:
        return sum([await services[Outbox].drop(row.id) for row in waiting])

    note(f"{runner.run(change)} dropped.")


def _confirm(buyers: Sequence[str], typed: int | None) -> None:
    """Have the number of e-mails typed that are not sent; raise `Invalid` for another number."""
    note("These buyers will get no e-mail about their access:")
    for address in buyers:
        note(f"  {address}")
    if typed is None and sys.stdin.isatty():
        typed = typer.prompt("Type how many e-mails that is, to drop them", type=int, err=True)
    if typed != len(buyers):
        raise Invalid(f"Nothing was dropped. To drop them, add how many e-mails that is: --emails {len(buyers)}.")


@group.command("test")
def try_out(channel: Way, to: To = "", config: Config = None) -> None:
    """Send one message at once, past the outbox, to see whether it arrives; exit 1 when it is not taken."""
    settings, secrets = configured(config, quiet=True)
    if (channel == "email") != bool(to):
        raise Invalid("An e-mail needs --to with the address to write to; a push goes to the topic of [push].")
    if to and not is_email_address(to):
        raise Invalid("--to is no e-mail address.")
    adapters = Adapters(settings, secrets, clock_of(settings))
    notifier = adapters.port(Notifiers).by_channel.get(channel)
    if notifier is None:
        raise Invalid(f"{_NEEDED[channel]}: until then its messages wait.")
    body = "You requested it with `orrery notifications test`. Orrery's notifications of this channel arrive here."
    # A new id each time: a receiver may drop one that it has seen.
    try:
        asyncio.run(notifier.send(OutgoingMessage(f"test-{random.token_hex(8)}", TITLE, body, to)))
    except DeliveryFailed as error:
        raise DeliveryFailed(f"{error} {advice(error, _TODO[channel])}", permanent=error.permanent) from None
    note(f"{_TAKEN[channel]}: look for {TITLE!r}.")
    if channel == "email" and settings.mode != "sandbox":
        for domain in _sender_domains(settings):
            _show_records(domain, adapters.port(DomainRecords))


def _sender_domains(settings: Settings) -> list[str]:
    """Return the domains that e-mails come from: that of the mail server's sender, and those of sites."""
    from orrery.checkout.settings import CheckoutSettings, SitesSettings  # noqa: PLC0415  it loads a list of domains

    checkout, sites = settings[CheckoutSettings], settings[SitesSettings]
    senders = (settings[MailSettings].sender, checkout.sender, *(one.sender for one in sites.root))
    addresses = (parseaddr(one)[1] for one in senders if one)
    return list(dict.fromkeys(one.rpartition("@")[2] for one in addresses))


def _show_records(domain: str, records: DomainRecords) -> None:
    """Print what receivers find about a sender's domain."""
    from orrery.runtime.sender_records import sender_records  # noqa: PLC0415  the same

    note(f"What receivers find about {domain}:")
    try:
        for one in asyncio.run(sender_records(domain, records)):
            note(f"  {one.kind}: {one.found or f'missing. {one.todo}'}")
    except RecordsNotRead as error:
        note(f"  {error}")


async def _waiting(services: Services, ids: list[str], *, all_held: bool) -> list[Notification]:
    """Return the held notifications, or the held and dead ones with these ids; raise `NotFound`.

    Pushes and logs show ids with references in the place of session ids.
    """
    outbox, within = services[Outbox], services[References].within
    if all_held:
        return (await outbox.undelivered(None, "held")).values()
    found = {row.id: row for row in (await outbox.undelivered(None, "held", "dead")).values()}
    found |= {within(row_id): row for row_id, row in found.items()}
    if missing := [one for one in ids if one not in found]:
        raise NotFound(f"There is no held or dead notification {missing[0]}.")
    return list({found[one].id: found[one] for one in ids}.values())
