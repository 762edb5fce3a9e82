"""`orrery checkout verify`: a session as a visitor gets it, held against change rule 2."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.approvals.cli.signing import refuse_for_machines, sign_intent
from orrery.checkout.cli import checkout_of
from orrery.errors import NotConfigured
from orrery.ports.shop import Shops
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import note, show_json
from orrery.runtime.console.terminal import marked, new_console
from orrery.syntax.base_url import checked_base_url

if TYPE_CHECKING:
    from orrery.checkout.selling.receipts import Condition
    from orrery.checkout.selling.verification import VerificationReport

BaseUrl = Annotated[
    str | None, typer.Option(help="Where the service is; by default this deployment's own address.")
]
Product = Annotated[str | None, typer.Option(help="Which one, as vendor/cert; by default the first with a price.")]
Sign = Annotated[bool, typer.Option("--sign", help="Sign at once, and expire the session.")]


def verify(
    base_url: BaseUrl = None,
    product: Product = None,
    sign: Sign = False,  # noqa: FBT002  a flag of the command line
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Make a session as a visitor does, and see whether it shows what every session must, and the catalogue's.

    Every session must name card and link, ask for 3-D Secure automatically, and show a text above the Pay button.
    """
    refuse_for_machines(sign=sign, as_json=as_json)
    address = None if base_url is None else checked_base_url(base_url)
    verified = runner.run(lambda services: _run(services, product, address))
    if as_json:
        show_json(asdict(verified))
    else:
        show_verified(verified)
    if verified.intent_id and sign:
        sign_intent(runner, verified.intent_id)
    elif verified.intent_id:
        note(f"The session is open. Expire it with: orrery approvals sign {verified.intent_id}")
    if not verified.is_well:
        raise typer.Exit(1)


async def _run(services: Services, name: str | None, address: str | None) -> "VerificationReport":
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


def _show_conditions(title: str, conditions: "Sequence[Condition]") -> None:
    console = new_console()
    if conditions:
        console.print(title)
    for one in conditions:
        sign = "[green]ok  [/green]" if one.holds else "[red]FAIL[/red]"
        console.print(f"  {sign} {one.name} = {marked(one.found or 'nothing')}")
        if not one.holds:
            console.print(f"       wanted: {marked(one.wanted)}. {marked(one.note)}".rstrip())
