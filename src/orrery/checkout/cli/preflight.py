"""`orrery checkout preflight`: the dry run before anything is sold (change rule 1)."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.approvals.cli.signing import refuse_for_machines, sign_intent
from orrery.checkout.cli import checkout_of
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import note, show, show_json
from orrery.runtime.console.terminal import marked, new_console

if TYPE_CHECKING:
    from orrery.checkout.selling.preflight import PreflightReport
    from orrery.checkout.selling.products import ProductStatus, Selling

Products = Annotated[
    list[str] | None, typer.Option("--product", help="Only this one, as vendor/cert; may be repeated.")
]
Sign = Annotated[bool, typer.Option("--sign", help="Sign what the run needs at once, and go on.")]
Pending = Annotated[bool, typer.Option("--pending", help="Only show what waits; ask nobody.")]

_GOES_ON = (
    "With your yes, one test session for each product is made at the processor, with exactly what would be sold, "
    "and expired."
)

_COLUMNS = ("product", "result", "session_id", "note")
_STATES = {
    "accepted": "[green]accepted[/green], and sold as the settings say",
    "pending": "[yellow]newer parameters wait for a preflight[/yellow]",
    "never": "[red]never accepted[/red]",
    "no price": "[red]names no price: it cannot be sold[/red]",
    "mistake": "[red]not sold[/red]",
}
_KEPT = "[yellow]the settings cannot be used, and what was accepted last is sold[/yellow]"


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
    report = runner.run(lambda services: _run(services, names))
    if report.to_sign and sign:
        sign_intent(runner, report.to_sign, goes_on=_GOES_ON)
        report = runner.run(lambda services: _run(services, names))
    _show_report(report, as_json=as_json)


async def _run(services: Services, names: list[str]) -> "PreflightReport":
    return await checkout_of(services).preflight.run(checkout_of(services).catalogue.named(names))


async def _statuses(services: Services, names: list[str]) -> "tuple[list[ProductStatus], Selling]":
    statuses = await checkout_of(services).preflight.pending(checkout_of(services).catalogue.named(names))
    return statuses, checkout_of(services).selling


def _show_report(report: "PreflightReport", *, as_json: bool) -> None:
    rows = [asdict(one) for one in [*report.cleaned, *report.outcomes]]
    if as_json:
        show_json(asdict(report))
    elif rows:
        show(rows, _COLUMNS, as_json=False, empty="")
    _explain(report)
    if not report.is_well:
        raise typer.Exit(1)


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


def _show_pending(statuses: "list[ProductStatus]", selling: "Selling", *, as_json: bool) -> None:
    if as_json:
        show_json([_status_json(one) for one in statuses])
    else:
        for status in statuses:
            _show_status(status, sold=selling.sells(status))
        if not statuses:
            note("No product is configured: nothing is sold.")
        elif not selling.livemode and any(map(selling.sells, statuses)):
            note("This is not live mode: today's parameters are sold without a receipt.")
    if any(one.state != "accepted" for one in statuses):
        raise typer.Exit(1)


def _show_status(status: "ProductStatus", *, sold: bool) -> None:
    console, receipt = new_console(), status.receipt
    since = f" (last accepted {receipt.accepted_at:%Y-%m-%d %H:%M} UTC)" if receipt else ""
    state = _KEPT if sold and status.state == "mistake" else _STATES[status.state]
    why = f": {marked(status.mistake)}" if status.mistake else ""
    console.print(f"[bold]{marked(status.product.name)}[/bold]: {state}{since}{why}")
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
