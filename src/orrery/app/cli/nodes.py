"""`orrery nodes`: the services that share the store."""

from typing import Annotated

import typer

from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import note, show
from orrery.runtime.nodes import COLUMNS, Node, Nodes

group = typer.Typer(invoke_without_command=True, add_completion=False)

Name = Annotated[str, typer.Argument(help="The node, as the list names it.", metavar="NAME", show_default=False)]


@group.callback()
def list_nodes(context: typer.Context, as_json: AsJson = False, *, runner: Handed) -> None:  # noqa: FBT002  a flag
    """List the services that share the store, with those of the last day that have stopped."""
    if context.invoked_subcommand:
        return

    async def read(services: Services) -> list[dict[str, object]]:
        nodes = await _looked(services)
        return [one.row(nodes.now()) for one in nodes.all()]

    show(runner.run(read), COLUMNS, as_json=as_json, empty="No service has run for a day.")


@group.command()
def forget(name: Name, *, runner: Handed) -> None:
    """Forget a node that was retired: it is missed no more, and what was found on its machine is over."""

    async def act(services: Services) -> Node:
        return await (await _looked(services)).forget(name)

    note(f"{runner.run(act).name} is forgotten.")


async def _looked(services: Services) -> Nodes:
    nodes = services[Nodes]
    await nodes.read()
    return nodes
