"""What `status` shows of the layer: each value, or the error why it is not known; pure."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from orrery.gateway.cloud.findings import FREE_CALLS, FREE_MINUTES
from orrery.gateway.cloud.plan import current_webhook
from orrery.gateway.cloud.report import alert_state
from orrery.gateway.cloud.survey import Activity, Survey, known
from orrery.gateway.cloud.wanted import WantedResources
from orrery.ports.cloud.errors import CloudError

LABELS = {
    "power": "power",
    "health": "health",
    "paused_until": "restart paused until",
    "health_alert": "health alert",
    "deallocate_alert": "deallocate alert",
    "webhook_expires_at": "webhook expires",
    "job_minutes": "job-minutes this month",
    "webhook_calls": "webhook calls this month",
}
"""What each value is called in the table."""

_OF = {"job_minutes": f" of {FREE_MINUTES} free ones", "webhook_calls": f" of {FREE_CALLS:,} free ones"}


def status(found: Survey, wanted: WantedResources, seen: Activity) -> dict[str, object]:
    """Return the values by their names; None is one that there is not."""

    def expires() -> datetime | None:
        webhook = current_webhook(found, wanted)
        return webhook.expires_at if webhook else None

    def power() -> str:
        machine = known(found.machine)
        return machine.power if machine else "there is no such machine"

    def paused_until() -> str | None:
        machine = known(found.machine)
        return machine.pause or None if machine else None

    return {
        "power": _of(power),
        "health": seen.health or "",
        "paused_until": _of(paused_until),
        "health_alert": alert_state(found.alerts["health"]),
        "deallocate_alert": alert_state(found.alerts["deallocate"]),
        "webhook_expires_at": _of(expires),
        "job_minutes": seen.minutes,
        "free_job_minutes": FREE_MINUTES,
        "webhook_calls": _of(lambda: sum(job.created_at >= _month(found.at) for job in known(seen.jobs))),
        "free_webhook_calls": FREE_CALLS,
    }


def _of(read: Callable[[], object]) -> object:
    try:
        return read()
    except CloudError as error:
        return error


def rows(values: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the values as a table for a person has them."""
    return [{"what": label, "now": _shown(name, values[name])} for name, label in LABELS.items()]


def _shown(name: str, value: object) -> object:
    if isinstance(value, CloudError) or (value is None and name in _OF):
        value = "unknown"
    if isinstance(value, float):
        value = f"{value:.0f}"
    return f"{value}{_OF[name]}" if name in _OF else value


def _month(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
