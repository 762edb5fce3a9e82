"""`orrery fraud`: clusters of declined payments, the processor's fraud lists, and the changes to them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.fraud.cli import fraud_of
from orrery.fraud.cli.pages import (
    cluster_row,
    incident_row,
    print_log,
    print_pictures,
    print_proposed,
    write_svg,
)
from orrery.fraud.clusters import Trait
from orrery.fraud.entries import BlocklistValue
from orrery.ports.processor import split_unreadable
from orrery.runtime.console.ending import BROKEN
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Runner, Services
from orrery.runtime.console.tables import left_out, note, show, show_json
from orrery.runtime.console.windows import parse_window

if TYPE_CHECKING:
    from orrery.runtime.operations import Intent

group = typer.Typer(no_args_is_help=True)

Since = Annotated[str, typer.Option(help="How far back, such as 24h, 90m or 7d.")]
Reason = Annotated[
    str, typer.Option("--reason", "-r", help="Why; it is kept in the incident log.", show_default=False)
]
Addresses = Annotated[list[str] | None, typer.Option("--ip", help="A client address.")]
Emails = Annotated[list[str] | None, typer.Option("--email", help="An e-mail address.")]
Cards = Annotated[list[str] | None, typer.Option("--card", help="A card fingerprint.")]


@group.command()
def clusters(
    since: Since = "24h",
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    svg: Annotated[Path | None, typer.Option(help="Write the picture into this file; it must not exist.")] = None,
    *,
    runner: Handed,
) -> None:
    """Show clusters: 3 or more declines within 5 minutes that share an address, a card or an e-mail address."""
    back = parse_window(since)
    look = runner.run(lambda services: fraud_of(services).reading.search(back))
    if svg:
        write_svg(svg, look.clusters)
    if as_json:
        show_json([cluster_row(one, full=True) for one in look.clusters])
    else:
        columns = ("id", "share_one", "value", "declines", "stopped", "first")
        rows = [cluster_row(one, full=False) for one in look.clusters]
        show(rows, columns, as_json=False, empty="No cluster.")
        print_pictures(look.clusters)
    note(f"{look.charges} charges of the last {since}, {look.declines} of them declined.")
    if look.unasked:
        note(f"Of {look.unasked} declines the client address was not asked for: look at less at a time.")
    left_out(look.unreadable)


@group.command()
def propose(
    cluster_id: Annotated[str, typer.Argument(metavar="CLUSTER_ID", help="A cluster's id; see the list.")],
    reason: Reason,
    ip: Annotated[bool, typer.Option("--ip", help="Its client address (the default).")] = False,  # noqa: FBT002  a flag
    card: Annotated[bool, typer.Option("--card", help="Its card.")] = False,  # noqa: FBT002  a flag
    email: Annotated[bool, typer.Option("--email", help="Its e-mail address.")] = False,  # noqa: FBT002  a flag
    since: Since = "24h",
    *,
    runner: Handed,
) -> None:
    """Propose to block what the declines of a cluster share; nothing is changed before you sign."""
    back = parse_window(since)
    flags: tuple[tuple[bool, Trait], ...] = ((ip, "address"), (card, "card"), (email, "email"))
    traits: list[Trait] = [trait for chosen, trait in flags if chosen]
    _proposed(runner, lambda services: fraud_of(services).screening.propose(cluster_id, back, traits, reason))


@group.command()
def block(
    reason: Reason, ip: Addresses = None, email: Emails = None, card: Cards = None, *, runner: Handed
) -> None:
    """Propose to block one or two addresses, e-mail addresses or cards; nothing is changed before you sign."""
    wanted = _wanted(ip, email, card)
    _proposed(runner, lambda services: fraud_of(services).screening.block(wanted, reason))


@group.command()
def unblock(
    reason: Reason, ip: Addresses = None, email: Emails = None, card: Cards = None, *, runner: Handed
) -> None:
    """Propose to take one or two entries off the lists; nothing is changed before you sign."""
    wanted = _wanted(ip, email, card)
    _proposed(runner, lambda services: fraud_of(services).screening.unblock(wanted, reason))


@group.command()
def lists(
    alias: Annotated[
        str | None, typer.Option("--list", metavar="ALIAS", help="Show what is on this list.", show_default=False)
    ] = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Show the processor's fraud lists, or the entries of one."""
    if alias is None:
        found, unread = split_unreadable(runner.run(lambda services: fraud_of(services).screening.lists()))
        columns, empty = ("alias", "item_type", "name"), "The account has no list."
        show(map(asdict, found), columns, as_json=as_json, empty=empty, unreadable=unread)
        return
    entries, unread = split_unreadable(runner.run(lambda services: fraud_of(services).screening.entries(alias)))
    columns = ("value", "created", "created_by", "id")
    show(map(asdict, entries), columns, as_json=as_json, empty="The list is empty.", unreadable=unread)


@group.command("log")
def incident_log(
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Show the incident log: when, what, why, and what became of it. It is read from the approval log."""
    found = runner.run(lambda services: fraud_of(services).incident_log())
    if as_json:
        show_json([incident_row(one) for one in found.incidents])
    elif found.incidents or found.broken_at is None:
        print_log(found.incidents)
    if found.broken_at is not None:
        note(f"The approval log does not hold from entry {found.broken_at} on: see `orrery approvals verify`.")
        raise typer.Exit(BROKEN)


def _wanted(
    ip: Sequence[str] | None, email: Sequence[str] | None, card: Sequence[str] | None
) -> list[BlocklistValue]:
    named: tuple[tuple[Trait, Sequence[str] | None], ...] = (("address", ip), ("email", email), ("card", card))
    return [BlocklistValue(trait, value) for trait, values in named for value in values or ()]


def _proposed(runner: Runner, action: Callable[[Services], "Awaitable[Intent]"]) -> None:
    print_proposed(runner.run(action))
