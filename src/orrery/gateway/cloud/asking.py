"""Asks the cloud for each part, so that one that cannot be had does not cost the others."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TypeVar

from orrery.gateway.cloud.survey import ALERTS, Activity, Survey, known
from orrery.ports.clock import Clock
from orrery.ports.cloud import CloudReads, RunbookJob
from orrery.ports.cloud.errors import CloudError, CloudUnreachable

T = TypeVar("T")

PATIENCE = timedelta(minutes=5)
"""For how long parts are asked for: a cloud that hangs takes a minute for each."""


class Asking:
    """Asks for parts, one after the other: none without a sign-in, and none after it has taken too long."""

    def __init__(self, cloud: CloudReads, clock: Clock) -> None:
        self.cloud = cloud
        self.clock = clock
        self._until = clock.monotonic() + PATIENCE.total_seconds()
        self._in_vain: CloudError | None = None
        signed_in = self.part(cloud.sign_in)
        self._in_vain = signed_in if isinstance(signed_in, CloudError) else None

    def part(self, ask: Callable[[], T]) -> T | CloudError:
        """Return what is answered, or why it is not known."""
        if self._in_vain is None and self.clock.monotonic() > self._until:
            self._in_vain = CloudUnreachable("It was not asked for: the cloud took too long for the other parts.")
        if self._in_vain:
            return self._in_vain
        try:
            return ask()
        except CloudError as error:
            return error


def survey(asking: Asking, uri: str) -> Survey:
    """Read every resource."""
    cloud, part = asking.cloud, asking.part
    identity, account = part(cloud.identity), part(cloud.account)
    return Survey(
        asking.clock.now(),
        cloud.machine_id,
        cloud.action_group_id,
        part(cloud.machine),
        identity,
        part(lambda: cloud.grants(found.principal_id) if (found := known(identity)) else ()),
        account,
        part(cloud.runbook) if account else None,
        part(cloud.webhooks) if account else (),
        part(cloud.action_group),
        {kind: part(lambda kind=kind: cloud.alert(kind)) for kind in ALERTS},
        uri,
    )


def activity(asking: Asking, most: int, explained: int, since: datetime | None = None) -> Activity:
    """Read the health, the last jobs with the reasons of failed ones, the month's minutes, and the log `since`."""
    cloud, part = asking.cloud, asking.part
    jobs = listed = part(lambda: cloud.jobs(most))
    reasons = None
    if not isinstance(listed, CloudError):
        explained_jobs = part(lambda: with_reasons(cloud, listed[:explained]))
        jobs, reasons = (
            (listed, explained_jobs)
            if isinstance(explained_jobs, CloudError)
            else ([*explained_jobs, *listed[explained:]], None)
        )
    return Activity(
        part(cloud.health),
        jobs,
        part(cloud.minutes_used),
        reasons,
        part(lambda: cloud.events(since, asking.clock.now())) if since else (),
    )


def with_reasons(cloud: CloudReads, jobs: Iterable[RunbookJob]) -> list[RunbookJob]:
    """Return jobs of a listing, with the reasons of those that failed, which it leaves out."""
    return [cloud.job(job.id) if job.status == "Failed" else job for job in jobs]
