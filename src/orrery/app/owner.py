"""What the owner's own services bring: notifications, the watch over outages, approvals, secrets, backups."""

import asyncio
from datetime import timedelta
from functools import partial

from orrery.adapters.snapshot_folder import SnapshotFolder
from orrery.app.findings import Findings
from orrery.edge.owner_page import PanelSource
from orrery.module import Parts
from orrery.owner.approvals import Approvals
from orrery.owner.backups import backup_finding
from orrery.owner.baseline import EVERY
from orrery.owner.heartbeat_job import HeartbeatJob
from orrery.owner.outbox import CHANNELS, Outbox
from orrery.owner.overview import Overview
from orrery.owner.readiness import Readiness
from orrery.owner.secrets_check import SecretsCheck
from orrery.owner.watch import EVERY as WATCH_EVERY
from orrery.owner.watch import OutageWatch
from orrery.owner.workers import Job
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
from orrery.ports.store import Store


def notifications_parts(outbox: Outbox, findings: Findings) -> Parts:
    """Return the outbox and the checks that all modules need."""
    deliveries = [
        Job(f"deliver by {one}", timedelta(seconds=1), partial(outbox.deliver_due, one)) for one in CHANNELS
    ]
    overview = Overview(outbox, findings.without_panels)
    return Parts(
        module="notifications",
        jobs=deliveries,
        checks=[findings.health.local],
        panels=[
            PanelSource("Notifications", overview.notifications, 90),
            PanelSource("Parts", overview.parts, 100),
        ],
    )


def watch_parts(store: Store, clock: Clock, readiness: Readiness, heartbeat: HeartbeatJob | None) -> Parts:
    """Return the health round with its pushes, and the heartbeat if one is configured."""
    watch = OutageWatch(store, clock, readiness.run_round)
    # Each process checks its own failing jobs.
    checks = [Job(OutageWatch.JOB, WATCH_EVERY, watch.notify, everywhere=True)]
    beat = [Job(HeartbeatJob.JOB, timedelta(minutes=1), heartbeat.run)] if heartbeat else []
    return Parts(module="watch", jobs=[*checks, *beat])


def approvals_parts(approvals: Approvals) -> Parts:
    """Return the approvals and their log."""
    return Parts(
        module="approvals",
        remote_checks=[("approval log", approvals.finding)],
        panels=[PanelSource("Approvals", approvals.panel, 30)],
    )


def secrets_parts(check: SecretsCheck) -> Parts:
    """Return the secrets check."""
    return Parts(
        module="secrets",
        # Each process checks its secrets: another process's secrets may still be there.
        jobs=[Job(SecretsCheck.JOB, EVERY, check.check, everywhere=True)],
        own_checks=[check.findings],
        panels=[PanelSource("Secrets", check.panel, 40)],
    )


def backups_parts(snapshots: SnapshotFolder | None, clock: Clock) -> Parts:
    """Return the check of the snapshots."""

    async def check() -> list[Finding]:
        newest = await asyncio.to_thread(snapshots.newest) if snapshots else None
        return [backup_finding(newest, clock.now(), configured=snapshots is not None)]

    return Parts(module="backups", checks=[check])
