"""What is in the cloud now: read once, then judged."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from orrery.ports.cloud import (
    Account,
    ActionGroup,
    Alert,
    AlertKind,
    CloudReads,
    Grant,
    Identity,
    Job,
    MachineFound,
    Runbook,
    Webhook,
)

ALERTS: tuple[AlertKind, ...] = ("health", "deallocate")


@dataclass(frozen=True, slots=True)
class Survey:
    """The resources as they were found, None where there is none. `uri` is the webhook's URI that is kept here."""

    at: datetime
    machine_id: str
    action_group_id: str
    machine: MachineFound | None
    identity: Identity | None
    grants: tuple[Grant, ...]
    account: Account | None
    runbook: Runbook | None
    webhooks: tuple[Webhook, ...]
    action_group: ActionGroup | None
    alerts: Mapping[AlertKind, Alert | None]
    uri: str = field(repr=False)


def survey(cloud: CloudReads, uri: str, now: datetime) -> Survey:
    """Read every resource; raise `CloudError`."""
    identity = cloud.identity()
    account = cloud.account()
    return Survey(
        now,
        cloud.machine_id,
        cloud.action_group_id,
        cloud.machine(),
        identity,
        tuple(cloud.grants(identity.principal_id)) if identity else (),
        account,
        cloud.runbook() if account else None,
        tuple(cloud.webhooks()) if account else (),
        cloud.action_group(),
        {kind: cloud.alert(kind) for kind in ALERTS},
        uri,
    )


def last_jobs(cloud: CloudReads, most: int) -> list[Job]:
    """Return the last jobs, newest first, with the reasons of those that failed, which a listing leaves out."""
    return with_reasons(cloud, cloud.jobs(most))


def with_reasons(cloud: CloudReads, jobs: Iterable[Job]) -> list[Job]:
    """Return jobs of a listing, with the reasons of those that failed."""
    return [cloud.job(job.id) if job.status == "Failed" else job for job in jobs]
