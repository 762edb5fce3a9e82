"""`orrery checkout preflight`: the dry run before anything is sold (change rule 1)."""

from dataclasses import asdict
from typing import Annotated

import typer

from orrery.app import Orrery
from orrery.checkout.preflight import Report
from orrery.checkout.selling import Standing
from orrery.cli.services import AsJson, Config, with_services
from orrery.cli.signing import refuse_for_machines, sign_intent
from orrery.cli.tables import note, show, show_json
from orrery.cli.terminal import marked, new_console

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
}


def preflight(
    product: Products = None,
    pending: Pending = False,  # noqa: FBT002  a flag of the command line
    sign: Sign = False,  # noqa: FBT002  a flag of the command line
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    config: Config = None,
) -> None:
    """Send every product's exact parameters to the processor, expire the test sessions, keep the receipts."""
    refuse_for_machines(sign=sign, as_json=as_json)
    names = product or []
    if pending:
        _show_pending(*with_services(config, lambda orrery: _standings(orrery, names)), as_json=as_json)
        return
    report = with_services(config, lambda orrery: _run(orrery, names))
    if report.to_sign and sign:
        sign_intent(config, report.to_sign, goes_on=_GOES_ON)
        report = with_services(config, lambda orrery: _run(orrery, names))
    _show_report(report, as_json=as_json)


async def _run(orrery: Orrery, names: list[str]) -> Report:
    return await orrery.checkout.preflight.run(orrery.checkout.catalogue.named(names))


async def _standings(orrery: Orrery, names: list[str]) -> tuple[list[Standing], bool]:
    standings = await orrery.checkout.preflight.pending(orrery.checkout.catalogue.named(names))
    return standings, orrery.checkout.selling.livemode


def _show_report(report: Report, *, as_json: bool) -> None:
    rows = [asdict(one) for one in [*report.cleaned, *report.outcomes]]
    if as_json:
        show_json(asdict(report))
    elif rows:
        show(rows, _COLUMNS, as_json=False, empty="")
    _explain(report)
    if not report.is_well:
        raise typer.Exit(1)


def _explain(report: Report) -> None:
    if report.to_sign:
        note("Nothing was tried yet: a test session is made only when it may be expired. Approve it with")
        note(f"  orrery approvals sign {report.to_sign}")
        note("and run this command again within 24 hours.")
    for one in [*report.cleaned, *report.outcomes]:
        if one.result == "tried":
            note(f"{one.product} cannot be sold until it names its own price.")
        if one.intent_id:
            note(f"Session {one.session_id} is still open. Expire it with: orrery approvals sign {one.intent_id}")


def _show_pending(standings: list[Standing], livemode: bool, *, as_json: bool) -> None:  # noqa: FBT001  from a pair
    if as_json:
        show_json([_told(one) for one in standings])
    else:
        for standing in standings:
            _show_standing(standing)
        if not standings:
            note("No product is configured: nothing is sold.")
        elif not livemode:
            note("This is not live mode: today's parameters are sold without a receipt.")
    if any(one.state in {"pending", "never"} for one in standings):
        raise typer.Exit(1)


def _show_standing(standing: Standing) -> None:
    console, receipt = new_console(), standing.receipt
    since = f" (last accepted {receipt.accepted_at:%Y-%m-%d %H:%M} UTC)" if receipt else ""
    console.print(f"[bold]{standing.product.name}[/bold]: {_STATES[standing.state]}{since}")
    for change in standing.changes:
        if receipt is None:
            console.print(f"  {marked(change.name)} = {marked(change.becomes or '')}")
            continue
        console.print(f"  {marked(change.name)}")
        if change.was is not None:
            console.print(f"    [red]- {marked(change.was)}[/red]")
        if change.becomes is not None:
            console.print(f"    [green]+ {marked(change.becomes)}[/green]")


def _told(standing: Standing) -> dict[str, object]:
    receipt = standing.receipt
    return {
        "product": standing.product.name,
        "state": standing.state,
        "accepted_at": receipt.accepted_at if receipt else None,
        "api_version": receipt.api_version if receipt else None,
        "changes": [asdict(change) for change in standing.changes],
    }
