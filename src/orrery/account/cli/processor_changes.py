"""`orrery processor set-branding` and the other changes at the processor, which the owner signs."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.account.configurations import ConfigurationPatch
from orrery.runtime.console.options import AsJson, Reason
from orrery.runtime.console.runner import Handed, Runner, Services
from orrery.runtime.console.tables import note, show, show_json

if TYPE_CHECKING:
    from orrery.account.account import AccountDesk, AccountProposal

Text = str | None
On = Annotated[list[str] | None, typer.Option("--on", help="A payment method to switch on; may be repeated.")]
Off = Annotated[list[str] | None, typer.Option("--off", help="A payment method to switch off; may be repeated.")]


def set_branding(  # noqa: PLR0913, PLR0917  a command's options are its function's parameters
    reason: Reason,
    display_name: Annotated[Text, typer.Option(help="The business's name, as buyers see it.")] = None,
    statement_descriptor: Annotated[Text, typer.Option(help="The text on the buyer's statement.")] = None,
    primary_color: Annotated[Text, typer.Option(help="The brand colour, such as #1d4ed8.")] = None,
    secondary_color: Annotated[Text, typer.Option(help="The accent colour, such as #f59e0b.")] = None,
    logo: Annotated[Text, typer.Option(help="The id of an uploaded file.")] = None,
    icon: Annotated[Text, typer.Option(help="The id of an uploaded file.")] = None,
    url: Annotated[Text, typer.Option(help="The business's web address.")] = None,
    support_url: Annotated[Text, typer.Option(help="Where buyers find help.")] = None,
    support_email: Annotated[Text, typer.Option(help="Where buyers write to.")] = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Propose new branding for the account; it is changed once you have signed."""
    wanted = {
        "business_profile.name": display_name,
        "settings.payments.statement_descriptor": statement_descriptor,
        "settings.branding.primary_color": primary_color,
        "settings.branding.secondary_color": secondary_color,
        "settings.branding.logo": logo,
        "settings.branding.icon": icon,
        "business_profile.url": url,
        "business_profile.support_url": support_url,
        "business_profile.support_email": support_email,
    }
    named = {name: value for name, value in wanted.items() if value is not None}
    _propose(runner, lambda services: _desk_of(services).propose_branding(named, reason), as_json=as_json)


def create_configuration(
    name: Annotated[str, typer.Argument(help="The name of the new configuration.")],
    reason: Reason,
    on: On = None,
    off: Off = None,
    parent: Annotated[Text, typer.Option(help="The id of the configuration that it follows.")] = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Propose a new payment method configuration; it is created once you have signed."""
    wanted = ConfigurationPatch(on or (), off or (), name)
    _propose(
        runner,
        lambda services: _desk_of(services).propose_configuration(wanted, parent, reason),
        as_json=as_json,
    )


def update_configuration(  # noqa: PLR0913  a command's options are its function's parameters
    configuration: Annotated[str, typer.Argument(help="The id of the configuration.")],
    reason: Reason,
    on: On = None,
    off: Off = None,
    name: Annotated[Text, typer.Option(help="A new name.")] = None,
    active: Annotated[bool | None, typer.Option("--active/--inactive", help="Whether it is in use.")] = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Propose to change a payment method configuration; it is changed once you have signed."""
    wanted = ConfigurationPatch(on or (), off or (), name, active)
    _propose(
        runner,
        lambda services: _desk_of(services).propose_configuration_change(configuration, wanted, reason),
        as_json=as_json,
    )


def _desk_of(services: Services) -> "AccountDesk":
    from orrery.account.account import AccountDesk  # noqa: PLC0415  it loads what reads the store

    return services[AccountDesk]


def _propose(
    runner: Runner, propose: Callable[[Services], "Awaitable[AccountProposal]"], *, as_json: bool
) -> None:
    proposed = runner.run(propose)
    changes = [asdict(change) for change in proposed.changes]
    if as_json:
        show_json({"intent": proposed.intent.id, "target": proposed.intent.target, "changes": changes})
    else:
        show(changes, ("field", "now", "then"), as_json=False, empty="")
    note(f"Nothing is changed yet. To do it, type: orrery approvals sign {proposed.intent.id}")
