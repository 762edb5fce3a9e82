"""`orrery waitlist`: its entries."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services, service_of
from orrery.runtime.console.tables import note, show

if TYPE_CHECKING:
    from orrery.waitlist.service import Waitlist

group = typer.Typer(no_args_is_help=True)
waitlist_of: "Callable[[Services], Waitlist]" = service_of("orrery.waitlist.service:Waitlist")


@group.command("list")
def everything(as_json: AsJson = False, *, runner: Handed) -> None:  # noqa: FBT002  a flag of the command line
    """List the entries."""
    found = runner.run(lambda services: waitlist_of(services).entries())
    show([one.model_dump() for one in found], ("email", "since"), as_json=as_json, empty="There is no entry.")


@group.command()
def add(email: Annotated[str, typer.Argument(help="The person's e-mail address.")], *, runner: Handed) -> None:
    """Add an entry."""
    runner.run(lambda services: waitlist_of(services).add(email))
    note("The entry is there.")
