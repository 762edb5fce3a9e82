"""`orrery privacy`: a person's data, shown and erased."""

from pathlib import Path
from typing import Annotated

import typer

from orrery.app.store_place import remains_of
from orrery.errors import NotFound
from orrery.ports.store import StorePlace
from orrery.runtime.console.ending import BROKEN
from orrery.runtime.console.options import Reason
from orrery.runtime.console.runner import Handed, Runner, Services
from orrery.runtime.console.tables import note, show_json
from orrery.runtime.console.terminal import visible
from orrery.runtime.module import load
from orrery.runtime.privacy import Privacy, search_address
from orrery.syntax.session_id import CHARGES, PAYMENTS

group = typer.Typer(no_args_is_help=True)

_OF_BUYERS = ("ref_", "cs_", *CHARGES, PAYMENTS)
"""How the names of a buyer's payment begin."""

Person = Annotated[
    str,
    typer.Argument(
        help="An e-mail address; or, of a buyer, a number, reference, session, charge or payment.",
        metavar="EMAIL|SESSION",
    ),
]


@group.command()
def export(person: Person, *, runner: Handed) -> None:
    """Print everything that is kept about an address, as JSON."""
    address = _address(person, runner)
    show_json(runner.run(lambda services: services[Privacy].export(address)))


@group.command()
def erase(person: Person, reason: Reason, *, runner: Handed) -> None:
    """Erase an address everywhere; sales stay, without their buyer. Exit 1 when an intent must still be kept."""
    address = _address(person, runner)
    erasure = runner.run(lambda services: services[Privacy].erase(address, reason))
    counts = {name: len(found) - len(erasure.kept.get(name, ())) for name, found in erasure.data.items()}
    counted = ", ".join(f"{count} {name}" for name, count in counts.items())
    note(f"Erased: {counted}.")
    for sentence in erasure.elsewhere:
        note(sentence)
    _unreached(runner.store_place, runner.store_file, is_scrubbed=erasure.is_scrubbed)
    kept = [one for found in erasure.kept.values() for one in found]
    for one in kept:
        note(f"Not erased: {one.name}. {one.why}")
    if kept:
        also = f", and its former addresses: {', '.join(map(visible, erasure.former))}" if erasure.former else ""
        for todo in dict.fromkeys(one.todo for one in kept):
            note(f"{todo}, then erase again{also}.")
        raise typer.Exit(BROKEN)


def _address(person: str, runner: Runner) -> str:
    """Return the address that was typed, or that of the buyer whose payment was named; raise `NotFound`."""
    named = person.strip()
    if "@" in named or not named.startswith(_OF_BUYERS):
        return search_address(named)

    async def find(services: Services) -> str:
        lookup = services[load("orrery.checkout.build:CheckoutDomain")].lookup
        record = await lookup.record(await lookup.named(named))
        if record is None or not record.email:
            raise NotFound("No address is kept with this payment: name the person by the address.")
        return record.email

    return runner.run(find)


def _unreached(place: StorePlace, store_file: Path, *, is_scrubbed: bool) -> None:
    """Print where the address may still be."""
    note("Not reached: older backups, and the processor's own records. Erase there, too.")
    for copy in remains_of(place, store_file):
        note(f"Not reached: {copy}, left by a restore, by `orrery store copy` or by a killed command. Delete it.")
    for one in place.beyond_scrub(is_scrubbed=is_scrubbed):
        note(f"Not reached: {one}")
