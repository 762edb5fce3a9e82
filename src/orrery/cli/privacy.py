"""`orrery privacy`: a person's data, shown and erased."""

from dataclasses import asdict
from typing import Annotated

import typer

from orrery.checkout.desk import checked_email
from orrery.cli.services import Config, Reason, with_services
from orrery.cli.tables import note, show_json

group = typer.Typer(no_args_is_help=True)

Email = Annotated[str, typer.Argument(help="The person's e-mail address.")]


@group.command()
def export(email: Email, config: Config = None) -> None:
    """Print everything that is kept about an address, as JSON."""
    address = checked_email(email)
    show_json(asdict(with_services(config, lambda orrery: orrery.checkout.privacy.export(address))))


@group.command()
def erase(email: Email, reason: Reason, config: Config = None) -> None:
    """Erase an address everywhere; sales stay, without their buyer."""
    address = checked_email(email)
    data = with_services(config, lambda orrery: orrery.checkout.privacy.erase(address, reason))
    counts = {name: len(found) for name, found in asdict(data).items()}
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    note(f"Erased: {told}.")
