"""`orrery checkout`: preflight, before anything is sold (change rule 1), verify after it, and what was sold."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.approvals.cli.signing import refuse_for_machines, sign_intent
from orrery.checkout.cli import checkout_of
from orrery.errors import Invalid, NotConfigured, RecordUnreadable
from orrery.ports.processor import ItemUnreadable, split_unreadable
from orrery.ports.shop import Shops
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.options import AsJson, Since
from orrery.runtime.console.progress import progress_bar
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import left_out, note, show, show_json
from orrery.runtime.console.terminal import marked, new_console, visible
from orrery.runtime.console.windows import parse_window
from orrery.runtime.references import References
from orrery.syntax.base_url import checked_base_url

if TYPE_CHECKING:
    from orrery.checkout.access.events import KnownEvent, ReceivedResult
    from orrery.checkout.access.fulfilment import Replay
    from orrery.checkout.access.numbering import Numbers
    from orrery.checkout.access.report import ReconciliationReport
    from orrery.checkout.records import StoredDiscrepancy
    from orrery.checkout.selling.preflight import PreflightReport
    from orrery.checkout.selling.products import ProductStatus
    from orrery.checkout.selling.receipts import SessionCondition
    from orrery.checkout.selling.verification import VerificationReport

group = typer.Typer(no_args_is_help=True)


@group.callback()
def checkout() -> None:
    """Look after the paid checkout."""


Products = Annotated[
    list[str] | None, typer.Option("--product", help="Only this one, as vendor/cert; may be repeated.")
]
Sign = Annotated[bool, typer.Option("--sign", help="Sign what the run needs at once, and go on.")]
Pending = Annotated[bool, typer.Option("--pending", help="Only show what waits, without a request.")]

_GOES_ON = (
    "With your yes, one test session for each product is made at the processor, with exactly what would be sold, "
    "and expired."
)

_TRIED = ("product", "result", "session_id", "note")


@group.command()
def preflight(
    product: Products = None,
    pending: Pending = False,  # noqa: FBT002  a flag of the command line
    sign: Sign = False,  # noqa: FBT002  a flag of the command line
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Send every product's exact parameters to the processor, expire the test sessions, keep the receipts."""
    refuse_for_machines(sign=sign, as_json=as_json)
    names = product or []
    if pending:
        _show_pending(*runner.run(lambda services: _statuses(services, names)), as_json=as_json)
        return
    report = runner.run(lambda services: _preflighted(services, names))
    if report.to_sign and sign:
        sign_intent(runner, report.to_sign, goes_on=_GOES_ON)
        report = runner.run(lambda services: _preflighted(services, names))
    _show_tried(report, as_json=as_json)


async def _preflighted(services: Services, names: list[str]) -> "PreflightReport":
    return await checkout_of(services).preflight.run(checkout_of(services).catalogue.named(names))


async def _statuses(services: Services, names: list[str]) -> "tuple[list[ProductStatus], bool]":
    selling = checkout_of(services).selling
    return await selling.statuses(selling.catalogue.named(names)), selling.livemode


def _show_tried(report: "PreflightReport", *, as_json: bool) -> None:
    rows = [asdict(one) for one in [*report.cleaned, *report.outcomes]]
    if as_json:
        show_json(asdict(report))
    elif rows:
        show(rows, _TRIED, as_json=False, empty="")
    _explain(report)
    end_broken(when=not report.is_well)


def _explain(report: "PreflightReport") -> None:
    if report.to_sign:
        note("Nothing was tried yet: a test session is made only when it may be expired. Approve it with")
        note(f"  orrery approvals sign {report.to_sign}")
        note("and run this command again within 24 hours.")
    for one in [*report.cleaned, *report.outcomes]:
        if one.result == "tried":
            note(f"{one.product} cannot be sold until it names its own price.")
        if one.intent_id:
            note(f"Session {one.session_id} is still open. Expire it with: orrery approvals sign {one.intent_id}")


def _show_pending(statuses: "list[ProductStatus]", livemode: bool, *, as_json: bool) -> None:  # noqa: FBT001  one of the two that were read
    if as_json:
        show_json([_status_json(one) for one in statuses])
    else:
        for status in statuses:
            _show_status(status)
        if not statuses:
            note("No product is configured: nothing is sold.")
        elif not livemode and any(one.sold for one in statuses):
            note("This is not live mode: today's parameters are sold without a receipt.")
    end_broken(when=any(one.state != "accepted" for one in statuses))


def _show_status(status: "ProductStatus") -> None:
    console, receipt = new_console(), status.receipt
    since = f" (last accepted {receipt.accepted_at:%Y-%m-%d %H:%M} UTC)" if receipt else ""
    color = "green" if status.state == "accepted" else "yellow" if status.sold else "red"
    why = f": {marked(status.mistake)}" if status.mistake else ""
    console.print(f"[bold]{marked(status.product.name)}[/bold]: [{color}]{status.words}[/{color}]{since}{why}")
    for change in status.changes:
        if receipt is None:
            console.print(f"  {marked(change.name)} = {marked(change.becomes or '')}")
            continue
        console.print(f"  {marked(change.name)}")
        if change.was is not None:
            console.print(f"    [red]- {marked(change.was)}[/red]")
        if change.becomes is not None:
            console.print(f"    [green]+ {marked(change.becomes)}[/green]")


def _status_json(status: "ProductStatus") -> dict[str, object]:
    receipt = status.receipt
    return {
        "product": status.product.name,
        "state": status.state,
        "mistake": status.mistake,
        "accepted_at": receipt.accepted_at if receipt else None,
        "api_version": receipt.api_version if receipt else None,
        "changes": [asdict(change) for change in status.changes],
    }


SignNow = Annotated[bool, typer.Option("--sign", help="Sign at once, and expire the session.")]
BaseUrl = Annotated[
    str | None, typer.Option(help="Where the service is; by default this deployment's own address.")
]
OneProduct = Annotated[
    str | None, typer.Option(help="Which one, as vendor/cert; by default the first with a price.")
]


@group.command()
def verify(
    base_url: BaseUrl = None,
    product: OneProduct = None,
    sign: SignNow = False,  # noqa: FBT002  a flag of the command line
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Make a session as a visitor does, and see whether it shows what every session must, and the catalogue's.

    Every session must name card and link, ask for 3-D Secure automatically, and show a text above the Pay button.
    """
    refuse_for_machines(sign=sign, as_json=as_json)
    address = None if base_url is None else checked_base_url(base_url)
    verified = runner.run(lambda services: _verified(services, product, address))
    if as_json:
        show_json(asdict(verified))
    else:
        show_verified(verified)
    if verified.intent_id and sign:
        sign_intent(runner, verified.intent_id)
    elif verified.intent_id:
        note(f"The session is open. Expire it with: orrery approvals sign {verified.intent_id}")
    end_broken(when=not verified.is_well)


async def _verified(services: Services, name: str | None, address: str | None) -> "VerificationReport":
    catalogue = checkout_of(services).catalogue
    named = list(catalogue) if name is None else catalogue.named([name])
    chosen = next((one for one in named if one.price_id or name), None)
    if chosen is None:
        raise NotConfigured("No product with a price is configured.")
    return await checkout_of(services).verification.run(chosen, services[Shops].at(address))


def show_verified(verified: "VerificationReport") -> None:
    """Print the result of a verification."""
    console = new_console()
    if verified.session_id:
        console.print(f"[bold]{verified.product}[/bold]: session {verified.session_id}")
    _show_conditions("What every session must show", verified.rule)
    _show_conditions("The catalogue", verified.catalogue)
    if verified.why:
        console.print(f"[red]{marked(verified.why)}[/red]")


def _show_conditions(title: str, conditions: "Sequence[SessionCondition]") -> None:
    console = new_console()
    if conditions:
        console.print(title)
    for one in conditions:
        sign = "[green]ok  [/green]" if one.holds else "[red]FAIL[/red]"
        console.print(f"  {sign} {one.name} = {marked(one.found or 'nothing')}")
        if not one.holds:
            console.print(f"       wanted: {marked(one.wanted)}. {marked(one.note)}".rstrip())


_COLUMNS = ("created", "type", "pending", "stored", "became", "why", "id", "session_id")

_SENTENCES: "dict[ReceivedResult, str]" = {
    "granted": "Access is granted; Orrery notifies you and the buyer.",
    "already": "Access had been granted before; nothing changed.",
    "waiting": "No access yet: it is not paid, or what was offered is not known. See `orrery checkout reconcile`.",
    "refused": "No access: what was paid is not what was offered. See `orrery checkout reconcile`.",
    "foreign": "It is not ours: its session names none of our products.",
    "ignored": "It is stored; its type asks for nothing.",
    "duplicate": "It had come in before, and its type asks for nothing; nothing changed.",
    "unreadable": "It is stored, but cannot be read: it is not as documented. A newer release may read it.",
    "conflict": "Another event came in under this id before, and is kept; nothing changed.",
}


@group.command()
def reconcile(
    since: Annotated[
        str | None,
        typer.Option(help="How far back, such as 60d or 12h. Without it: to the last success, at least 30d."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report; change nothing.")] = False,  # noqa: FBT002  a flag of the command line
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Grant what is paid without access, and list what does not add up."""
    window = parse_window(since) if since else None

    async def run(services: Services) -> "tuple[ReconciliationReport, References]":
        with progress_bar("sessions") as seen:
            report = await checkout_of(services).reconciliation.run(window, dry_run=dry_run, progress=seen)
        return report, services[References]

    report, references = runner.run(run)
    if as_json:
        show_json(asdict(report))
    else:
        _show(report, references.within)
    records = [RecordUnreadable(references.within(name)) for name in report.unreadable]
    left_out([*records, *(one.error() for one in report.unread)])


@group.command()
def numbers(
    last: Annotated[
        list[str] | None,
        typer.Option(help="After a restore: the last number of a series that you know of; may be repeated."),
    ] = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List the series that number sales: the last number, and how many sales wait for one."""

    async def read(services: Services) -> "list[Numbers]":
        numbering = checkout_of(services).numbering
        if last:
            await numbering.confirm(last)
        return await numbering.listed()

    found = runner.run(read)
    rows = [asdict(one) | {"last": one.last_number} for one in found]
    columns = ("series", "year", "last", "waiting", "known")
    show(rows, columns, as_json=as_json, empty="No series numbers sales: see number_series in the settings.")
    for one in (one for one in found if not one.known):
        note(f"Nothing is numbered before you name the last number: add --last {one.last_number}, or a later one.")


@group.command()
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
        _show_replay(runner.run(lambda services: checkout_of(services).webhook.replay(replay)), as_json=as_json)
        return

    async def read(services: Services) -> "list[KnownEvent | ItemUnreadable]":
        return [event async for event in checkout_of(services).events.list_events(window, failed=failed)]

    found, unread = split_unreadable(runner.run(read))
    empty = "Nothing failed to come through." if failed else "The processor lists no event."
    show(map(asdict, found), _COLUMNS, as_json=as_json, empty=empty, unreadable=unread)
    end_broken(when=failed and (found or unread))


def _show(report: "ReconciliationReport", within: Callable[[str], str]) -> None:
    """Print the report, with references: a timer's output is a log."""
    console, would = new_console(), "would be granted" if report.dry_run else "granted"
    console.print(f"{report.examined} completed sessions: {report.with_access} have access, ", end="")
    console.print(f"{len(report.granted)} {would}, {report.foreign} are not ours.")
    kinds: tuple[tuple[str, str, Sequence[str | StoredDiscrepancy]], ...] = (
        ("green", would, report.granted),
        ("yellow", "not paid yet", report.unpaid),
        ("dim", "payment failed", report.payment_failed),
        ("red", "paid without access", report.paid_without_access),
        ("red", "access without payment", report.access_without_payment),
        ("dim", "refunded in part", report.partly_refunded),
    )
    for style, kind, found in kinds:
        for one in found:
            session = one if isinstance(one, str) else f"{one.session_id}: {one.reason}"
            console.print(f"  [{style}]{kind}[/{style}]  {marked(within(session))}")
    if report.held_notifications:
        console.print(
            f"{report.held_notifications} were sold before the restore: their notifications are held back; "
            + visible("see `orrery notifications list --state held`.")
        )


def _show_replay(replayed: "Replay", *, as_json: bool) -> None:
    if as_json:
        show_json(asdict(replayed))
    else:
        subject = f"{replayed.id}, session {replayed.session_id}" if replayed.session_id else replayed.id
        note(f"{subject}: {_SENTENCES[replayed.result]}")
    end_broken(when=replayed.result in ("unreadable", "conflict"))
