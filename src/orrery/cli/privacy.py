"""`orrery privacy`: a person's data, shown and erased."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from orrery.adapters.sqlite import copies_beside
from orrery.checkout.privacy import search_address
from orrery.cli.services import Config, Reason, configured, with_services
from orrery.cli.tables import note, show_json
from orrery.cli.terminal import visible

group = typer.Typer(no_args_is_help=True)

Email = Annotated[str, typer.Argument(help="The person's e-mail address.")]


@group.command()
def export(email: Email, config: Config = None) -> None:
    """Print everything that is kept about an address, as JSON."""
    address = search_address(email)
    show_json(asdict(with_services(config, lambda orrery: orrery.checkout.privacy.export(address))))


@group.command()
def erase(email: Email, reason: Reason, config: Config = None) -> None:
    """Erase an address everywhere; sales stay, without their buyer. Exit 1 when an intent must still be kept."""
    address, store = search_address(email), configured(config, quiet=True)[0].store.path
    erasure = with_services(config, lambda orrery: orrery.checkout.privacy.erase(address, reason))
    counts = {name: len(found) for name, found in asdict(erasure.data).items()}
    counts["intents"] -= len(erasure.kept)
    counted = ", ".join(f"{count} {name}" for name, count in counts.items())
    note(f"Erased: {counted}.")
    if erasure.data.intents:
        note("The processor's fraud lists are not changed by this: see `orrery fraud lists`.")
    _unreached(store, is_scrubbed=erasure.is_scrubbed)
    for intent_id, why in erasure.kept.items():
        note(f"Not erased: intent {intent_id}. {why}")
    if erasure.kept:
        also = f", and its former addresses: {', '.join(map(visible, erasure.former))}" if erasure.former else ""
        note(f"Sign, withdraw, settle or close it with `orrery approvals`, then erase again{also}.")
        raise typer.Exit(1)


def _unreached(store: Path, *, is_scrubbed: bool) -> None:
    """Say where the address may still be."""
    note("Not reached: older backups, and the processor's own records. Erase there, too.")
    for copy in copies_beside(store):
        note(f"Not reached: {copy}, which a restore has left. Delete it.")
    if not is_scrubbed:
        note(f"Not reached: {store.name}-wal, which something else reads just now. Erase again when that is over.")
