"""`orrery restore`: a snapshot in place of the store, without telling anybody anything twice."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from orrery.adapters.sqlite import restore
from orrery.app import clock_of, opened
from orrery.cli.services import Config, configured
from orrery.cli.tables import note
from orrery.errors import OrreryError
from orrery.owner.restored import Restoration
from orrery.settings import Secrets, Settings


def command(
    file: Annotated[Path, typer.Argument(help="The snapshot.", exists=True, dir_okay=False)], config: Config = None
) -> None:
    """Restore the store; hold back what was not delivered, void approvals, then reconcile."""
    settings, secrets = configured(config, quiet=True)
    restore(file, settings.store.path, clock_of(settings))
    asyncio.run(_after(settings, secrets))


async def _after(settings: Settings, secrets: Secrets) -> None:
    async with opened(settings, secrets) as orrery:
        done = await Restoration(orrery.store, orrery.clock, orrery.outbox).settle()
        note(f"Restored. {done.held} notifications are held back, {done.voided} approvals are void.")
        try:
            report = await orrery.checkout.reconciliation.run()
        except OrreryError as error:
            note(f"Not reconciled: {error} Run `orrery checkout reconcile` when that is mended.")
            return
        note(f"Reconciled: {len(report.granted)} granted, {report.held_notifications} of them held back.")
