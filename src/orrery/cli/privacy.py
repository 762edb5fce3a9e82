"""`orrery privacy`: a person's data, shown and erased."""

from dataclasses import asdict
from typing import Annotated

import typer

from orrery.checkout.privacy import sought_address
from orrery.cli.services import Config, Reason, with_services
from orrery.cli.tables import note, show_json

group = typer.Typer(no_args_is_help=True)

Email = Annotated[str, typer.Argument(help="The person's e-mail address.")]


@group.command()
def export(email: Email, config: Config = None) -> None:
    """Print everything that is kept about an address, as JSON."""
    address = sought_address(email)
    show_json(asdict(with_services(config, lambda orrery: orrery.checkout.privacy.export(address))))


@group.command()
def erase(email: Email, reason: Reason, config: Config = None) -> None:
    """Erase an address everywhere; sales stay, without their buyer. Exit 1 when an intent must still be kept."""
    address = sought_address(email)
    erasure = with_services(config, lambda orrery: orrery.checkout.privacy.erase(address, reason))
    counts = {name: len(found) for name, found in asdict(erasure.data).items()}
    counts["intents"] -= len(erasure.kept)
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    note(f"Erased: {told}.")
    if erasure.data.intents:
        note("The processor's fraud lists are not changed by this: see `orrery fraud lists`.")
    for intent_id, why in erasure.kept.items():
        note(f"Not erased: intent {intent_id}. {why}")
    if erasure.kept:
        note("Sign, withdraw, settle or close it with `orrery approvals`, then erase again.")
        raise typer.Exit(1)
