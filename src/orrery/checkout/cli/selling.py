"""`orrery checkout preflight`, before anything is sold (change rule 1), and `verify`, after it (change rule 2)."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.approvals.cli.signing import refuse_for_machines, sign_intent
from orrery.checkout.cli import checkout_of
from orrery.errors import NotConfigured
from orrery.ports.shop import Shops
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import note, show, show_json
from orrery.runtime.console.terminal import marked, new_console
from orrery.syntax.base_url import checked_base_url

if TYPE_CHECKING:
    from orrery.checkout.selling.preflight import PreflightReport
    from orrery.checkout.selling.products import ProductStatus, Selling
    from orrery.checkout.selling.receipts import SessionCondition
    from orrery.checkout.selling.verification import VerificationReport

Products = Annotated[
    list[str] | None, typer.Option("--product", help="Only this one, as vendor/cert; may be repeated.")
]
Sign = Annotated[bool, typer.Option("--sign", help="Sign what the run needs at once, and go on.")]
Pending = Annotated[bool, typer.Option("--pending", help="Only show what waits, without a request.")]

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
    end_broken(when=any(one.state != "accepted" for one in statuses))


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


SignNow = Annotated[bool, typer.Option("--sign", help="Sign at once, and expire the session.")]
BaseUrl = Annotated[
    str | None, typer.Option(help="Where the service is; by default this deployment's own address.")
]
OneProduct = Annotated[
    str | None, typer.Option(help="Which one, as vendor/cert; by default the first with a price.")
]


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
