"""`orrery processor`: the objects at the payment processor, and approved changes to the account."""

import re
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, TypeVar

import typer

from orrery.account.cli import processor_rows as rows
from orrery.account.cli.processor_changes import create_configuration, set_branding, update_configuration
from orrery.account.configurations import oddities
from orrery.account.session import SessionLookup
from orrery.errors import Invalid
from orrery.ports.clock import Clock
from orrery.ports.processor import Configuration, ItemUnreadable, ProcessorReads, split_unreadable
from orrery.runtime.console.options import AsJson, Since
from orrery.runtime.console.runner import Handed, Runner, Services
from orrery.runtime.console.tables import Row, left_out, note, of_all, show, show_json
from orrery.runtime.console.terminal import new_console
from orrery.runtime.console.windows import parse_window
from orrery.runtime.references import as_reference
from orrery.syntax.email_address import is_email_address

group = typer.Typer(no_args_is_help=True)
_ = group.command("set-branding")(set_branding)
_ = group.command("create-configuration")(create_configuration)
_ = group.command("update-configuration")(update_configuration)

SinceIfAny = Annotated[
    str | None,
    typer.Option("--since", help="How far back, such as 30d, 12h or 90m; without it, all.", show_default=False),
]
_NAMES_SESSION = re.compile(r"(?:cs|ch|py|pi)_[A-Za-z0-9_]{1,250}")
Limit = Annotated[int | None, typer.Option(min=1, help="How many at most; without it, all.", show_default=False)]
T = TypeVar("T")

_RULES = """\
The processor has no interface for the rules of its fraud screening: it answers GET /v1/radar/rules with 404,
"Unrecognized request URL". Rules are read and changed in its dashboard only, under Radar > Rules.
The lists that rules look into can be read here: orrery processor value-lists
"""
_WHY = (
    "Which one the processor applies is not documented. That is why the service names the payment methods of each "
    "session, and no configuration."
)


@group.callback()
def processor() -> None:
    """Look at the payment processor; change its account with your signature."""


@group.command()
def sessions(
    since: Since = "30d",
    limit: Limit = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List payment sessions in any state, the newest first."""
    start = _start(since)
    _list(runner, rows.SESSIONS, lambda of: of[ProcessorReads].list_sessions(start(of)), limit, as_json=as_json)


@group.command()
def session(
    who: Annotated[
        str,
        typer.Argument(
            help="A number, reference, session, charge, payment or e-mail address.", metavar="SESSION|EMAIL"
        ),
    ],
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Show one payment session with everything that is known of it."""

    if not (as_reference(who) or _NAMES_SESSION.fullmatch(who) or is_email_address(who)):
        raise Invalid(
            "Name a session by its reference (ref_…), its id (cs_…), a charge (ch_…) or an e-mail address."
        )
    found = rows.session(runner.run(lambda services: services[SessionLookup].find(who)))
    if as_json:
        show_json(found)
    else:
        _show_fields(found)


@group.command()
def charges(
    since: Since = "30d",
    limit: Limit = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List charges, the newest first: why they were declined, by which wallet, and the result of 3-D Secure."""
    start = _start(since)
    _list(runner, rows.CHARGES, lambda of: of[ProcessorReads].list_charges(start(of)), limit, as_json=as_json)


@group.command()
def customers(
    email: Annotated[str | None, typer.Option(help="Only those of exactly this address.")] = None,
    since: SinceIfAny = None,
    limit: Limit = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List the processor's buyer records, the newest first."""
    if email is not None and not is_email_address(email):
        raise Invalid("That is not an e-mail address.")
    start = _start_if_any(since)
    _list(
        runner,
        rows.CUSTOMERS,
        lambda of: of[ProcessorReads].list_customers(email, since=start(of)),
        limit,
        as_json=as_json,
    )


@group.command()
def reviews(
    since: SinceIfAny = None,
    limit: Limit = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List the payments that wait for a review; you approve or refund them in the dashboard."""
    start = _start_if_any(since)
    _list(runner, rows.REVIEWS, lambda of: of[ProcessorReads].list_reviews(start(of)), limit, as_json=as_json)


@group.command()
def balance(as_json: AsJson = False, *, runner: Handed) -> None:  # noqa: FBT002  a flag of the command line
    """Show the account's balance, by currency."""
    found = runner.run(lambda services: services[ProcessorReads].get_balance())
    shown = rows.balance(found) if as_json else list(map(rows.in_words, rows.balance(found)))
    show(shown, rows.BALANCE, as_json=as_json, empty="The account holds no currency.")


@group.command()
def account(as_json: AsJson = False, *, runner: Handed) -> None:  # noqa: FBT002  a flag of the command line
    """Show the account with its branding, business profile and statement descriptor."""
    found = runner.run(lambda services: services[ProcessorReads].get_account())
    if as_json:
        show_json(asdict(found))
    else:
        _show_fields(rows.account(found))


@group.command("payment-method-configurations")
def configurations(
    limit: Limit = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List the payment method configurations, and mark those that cannot be distinguished."""
    _list(
        runner,
        rows.CONFIGURATIONS,
        lambda of: of[ProcessorReads].list_configurations(),
        limit,
        as_json=as_json,
        remark=_point_out,
    )


@group.command()
def prices(
    active: Annotated[bool, typer.Option("--active", help="Only those that can be sold.")] = False,  # noqa: FBT002  a flag of the command line
    since: SinceIfAny = None,
    limit: Limit = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List the prices, active or not."""
    start = _start_if_any(since)
    _list(
        runner,
        rows.PRICES,
        lambda of: of[ProcessorReads].list_prices(active=active or None, since=start(of)),
        limit,
        as_json=as_json,
    )


@group.command("value-lists")
def value_lists(
    alias: Annotated[
        str | None, typer.Option("--list", help="Show the entries of the list with this alias.")
    ] = None,
    since: SinceIfAny = None,
    limit: Limit = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List the lists of the fraud screening, or the entries of one."""
    start = _start_if_any(since)
    if alias is None:
        _list(
            runner,
            rows.VALUE_LISTS,
            lambda of: of[ProcessorReads].list_value_lists(start(of)),
            limit,
            as_json=as_json,
        )
    else:
        _list(
            runner,
            rows.entries_of(alias),
            lambda of: rows.entries(of[ProcessorReads], alias, since=start(of)),
            limit,
            as_json=as_json,
        )


@group.command()
def events(
    since: Since = "30d",
    undelivered: Annotated[bool, typer.Option("--undelivered", help="Only those not yet accepted.")] = False,  # noqa: FBT002  a flag of the command line
    limit: Limit = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List events, the newest first; the processor shows those of the last 30 days."""
    start = _start(since)
    _list(
        runner,
        rows.EVENTS,
        lambda of: of[ProcessorReads].list_events(start(of), undelivered=undelivered),
        limit,
        as_json=as_json,
    )


@group.command("rules")
def screening_rules() -> None:
    """Show where the rules of the fraud screening are, without a request."""
    _ = sys.stdout.write(_RULES)


def _start(since: str) -> Callable[[Services], datetime]:
    window = parse_window(since)
    return lambda services: services[Clock].now() - window


def _start_if_any(since: str | None) -> Callable[[Services], datetime | None]:
    return (lambda _: None) if since is None else _start(since)


def _list(
    runner: Runner,
    kind: rows.ObjectList[T],
    items: Callable[[Services], AsyncIterator[T | ItemUnreadable]],
    limit: int | None,
    *,
    as_json: bool,
    remark: Callable[[Sequence[T]], None] = lambda _: None,
) -> None:
    """Show what `items` yields, the `remark` about it, and what could not be read."""
    gathered = runner.run(lambda services: _gathered(items(services), kind.what, limit))
    found, unread = split_unreadable(gathered[:limit])
    if found or not unread:
        show(map(kind.row, found), kind.columns, as_json=as_json, empty=kind.empty)
    if len(gathered) > len(gathered[:limit]):
        note(of_all(len(found), None))
    remark(found)
    left_out(unread)


async def _gathered(items: AsyncIterator[T], what: str, limit: int | None) -> list[T]:
    """Return everything, or the first `limit` and one more; in a terminal count on standard error meanwhile."""
    found: list[T] = []
    with new_console(stderr=True, soft_wrap=False).status(f"0 {what}") as status:
        async for item in items:
            found.append(item)
            status.update(f"{len(found)} {what}")
            if limit is not None and len(found) > limit:
                break
    return found


def _show_fields(fields: Row) -> None:
    cells = [{"field": name, "value": value} for name, value in fields.items()]
    show(cells, ("field", "value"), as_json=False, empty="")


def _point_out(found: Sequence[Configuration]) -> None:
    if odd := oddities(found):
        note("\n".join([*odd, _WHY]))
