"""`orrery desk`: what is on the desk."""

from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import note


async def _sentence(services: Services) -> str:
    from orrery.desk.service import Desk  # noqa: PLC0415  the help of a command needs no services

    return services[Desk].sentence


def show(runner: Handed) -> None:
    """Show the desk."""
    note(runner.run(_sentence))
