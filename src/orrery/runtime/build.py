"""The parts of the modules that every deployment has beside its domains."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from orrery.ports.health import Finding
from orrery.ports.heartbeat import Heartbeat
from orrery.ports.notifier import Notifier, Notifiers
from orrery.ports.panels import PanelSource
from orrery.ports.snapshots import Snapshots
from orrery.runtime.backups import backup_finding
from orrery.runtime.fence import current_fence
from orrery.runtime.findings import Findings
from orrery.runtime.health import NOTIFICATIONS, REFUSED, UNREADABLE, OwnerHealth
from orrery.runtime.heartbeat_job import HeartbeatJob
from orrery.runtime.jobs import Job, Workers
from orrery.runtime.node_findings import CLOCK, DATABASE_CLOCK, NODES, named
from orrery.runtime.nodes import EVERY as PULSE_EVERY
from orrery.runtime.nodes import NodeIdentity, Nodes
from orrery.runtime.outbox import Outbox
from orrery.runtime.outbox_lanes import CHANNELS, Channel
from orrery.runtime.outbox_privacy import notifications_source
from orrery.runtime.overview import NotificationOverview
from orrery.runtime.parts import Parts
from orrery.runtime.planned_pause import TITLE, PlannedPauses
from orrery.runtime.problems import Problems
from orrery.runtime.quiet_summary import QuietSummary
from orrery.runtime.readiness import Readiness
from orrery.runtime.references import References, ReferringNotifier
from orrery.runtime.runtime import Runtime
from orrery.runtime.settings import BackupSettings, HeartbeatSettings, PushSettings, StoreSettings
from orrery.runtime.store_probe import MIB, StoreProbe
from orrery.runtime.watch import EVERY, OutageWatch


def notifications(runtime: Runtime) -> Parts:
    """Return the outbox, and the checks that all modules need."""
    store, clock, references = runtime.store, runtime.clock, runtime.need(References)
    found = runtime.port(Notifiers).by_channel
    notifiers: dict[Channel, Notifier] = {
        channel: ReferringNotifier(found[channel], references) for channel in CHANNELS if channel in found
    }
    hours = runtime.section(PushSettings).quiet_hours
    outbox, quiet = Outbox(store, clock, notifiers, hours), QuietSummary(store, clock, hours)
    probe = StoreProbe(store, clock, runtime.section(StoreSettings).least_free_mib * MIB)
    workers, nodes = runtime.need(Workers), runtime.need(Nodes)
    workers.gives_way = nodes.gives_way
    findings = Findings(OwnerHealth(probe, outbox, workers.failing, notifiers), references, nodes)
    overview = NotificationOverview(outbox, findings.health)
    return Parts(
        module="notifications",
        jobs=[_delivery(outbox, quiet, one) for one in CHANNELS],
        panels=[
            PanelSource("Notifications", overview.panel, 90, (NOTIFICATIONS, REFUSED, UNREADABLE)),
        ],
        personal_data=[notifications_source(store, clock)],
        offers={
            Outbox: outbox,
            Findings: findings,
            Readiness: Readiness(findings.all, clock, lambda: probe.unusable),
        },
        once_composed=[findings.modules.extend],
    )


def nodes(runtime: Runtime) -> Parts:
    """Return what is known of the nodes."""
    known = Nodes(runtime.store, runtime.clock, runtime.need(NodeIdentity))
    parts = (NODES, f"{NODES}: ", "node ", CLOCK, DATABASE_CLOCK)
    return Parts(module="nodes", panels=[PanelSource("Nodes", known.panel, 45, parts)], offers={Nodes: known})


def _delivery(outbox: Outbox, quiet: QuietSummary, channel: Channel) -> Job:
    async def deliver() -> None:
        if channel == "push":
            await quiet.sum_up()
        fence = current_fence()
        _ = await outbox.deliver_due(channel, since=fence.token if fence else 0)

    return Job(f"deliver by {channel}", timedelta(seconds=1), deliver)


def watch(runtime: Runtime) -> Parts:
    """Return the health round with its pushes, and the heartbeat if one is configured."""
    push = runtime.port(Notifiers).by_channel.get("push")
    readiness, nodes = runtime.need(Readiness), runtime.need(Nodes)

    async def checked() -> Sequence[Finding]:
        return await problems.note_round(named(await readiness.run_round(), nodes))

    async def pulse() -> None:
        await nodes.pulse(readiness.last())

    outages = OutageWatch(runtime.store, runtime.clock, checked, push, nodes.presence, nodes.gives_way)
    problems = Problems(runtime.store, runtime.clock, runtime.need(Findings).all, outages.of_store)
    # Each process checks its own failing jobs.
    jobs = [
        Job(OutageWatch.JOB, EVERY, outages.notify, everywhere=True),
        Job(Nodes.JOB, PULSE_EVERY, pulse, everywhere=True),
    ]
    if runtime.section(HeartbeatSettings).url:
        failing, stuck = runtime.need(Workers).failing, runtime.need(Outbox).stuck
        beat = HeartbeatJob(runtime.port(Heartbeat), failing, stuck)
        jobs.append(Job(HeartbeatJob.JOB, timedelta(minutes=1), beat.run))
    pauses = PlannedPauses(runtime.store, runtime.clock)
    return Parts(
        module="watch",
        jobs=jobs,
        checks=[pauses.check],
        panels=[PanelSource(TITLE, pauses.panel, 15, leads=True)],
        offers={OutageWatch: outages, Problems: problems, PlannedPauses: pauses},
    )


def backups(runtime: Runtime) -> Parts:
    """Return the check of the snapshots."""
    snapshots = runtime.port(Snapshots) if runtime.section(BackupSettings).directory else None

    async def check() -> list[Finding]:
        newest = await asyncio.to_thread(snapshots.newest) if snapshots else None
        return [backup_finding(newest, runtime.clock.now(), configured=snapshots is not None)]

    return Parts(module="backups", checks=[check])
