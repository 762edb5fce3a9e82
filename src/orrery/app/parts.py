"""How every part of a deployment is, without asking anybody outside."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from orrery.adapters.snapshot_folder import SnapshotFolder
from orrery.checkout.domain import CheckoutDomain
from orrery.live.domain import LiveDomain
from orrery.owner.backups import backup_finding
from orrery.owner.health import OwnerHealth
from orrery.owner.references import References
from orrery.owner.secrets_check import SecretsCheck
from orrery.ports.clock import Clock
from orrery.ports.health import Finding


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that can be looked at."""

    health: OwnerHealth
    checkout: CheckoutDomain
    live: LiveDomain
    secrets_check: SecretsCheck
    references: References
    snapshots: SnapshotFolder | None
    clock: Clock

    async def all(self) -> Sequence[Finding]:
        """Return how every part is; writes to the store to see whether it can."""
        await self.health.write()
        receipts, secrets = await self.checkout.receipts.local(), await self.secrets_check.findings()
        return [*await self.without_panels(), *receipts, *secrets]

    async def without_panels(self) -> Sequence[Finding]:
        """Return the same without receipts and secrets, which have panels of their own on the owner's page.

        What it tells of writing to the store is as old as the last `all`.
        """
        found = [*await self.health.local(), *await self.checkout.health.local(), *self.live.health.local()]
        found.append(await self._backup())
        # A job's error may name a record, and with it a session.
        return [replace(one, why=self.references.within(one.why)) for one in found]

    async def _backup(self) -> Finding:
        newest = await asyncio.to_thread(self.snapshots.newest) if self.snapshots else None
        return backup_finding(newest, self.clock.now(), configured=self.snapshots is not None)
