"""The events of the cloud's activity log and of its jobs; pure."""

from collections.abc import Iterable, Iterator
from typing import Final

from orrery.gateway.timeline.events import TimelineEvent
from orrery.ports.cloud import MachineEvent, RunbookJob

_OPERATION: Final = "microsoft.compute/virtualmachines/"
_DONE = frozenset({"succeeded", ""})


def machine_events(found: Iterable[MachineEvent]) -> Iterator[TimelineEvent]:
    """Yield an event for each entry of the activity log about the machine."""
    for entry in found:
        operation, status = entry.operation.lower(), entry.status.lower()
        health = entry.detail
        if operation.startswith("microsoft.resourcehealth/") and health:
            yield _health(entry, health)
        elif not operation.startswith(_OPERATION):
            continue
        elif operation.endswith(("/deallocate/action", "/poweroff/action")) and status in _DONE:
            word = "deallocated" if "deallocate" in operation else "powered off"
            yield TimelineEvent(entry.at, "machine", "down", f"The machine was {word}.")
        elif operation.endswith("/start/action"):
            yield _start(entry, status)


def _health(entry: MachineEvent, health: str) -> TimelineEvent:
    if health == "Available":
        return TimelineEvent(entry.at, "machine", "up", "The machine's health is Available.")
    return TimelineEvent(entry.at, "machine", "down", f"The machine's health is {health}.")


def _start(entry: MachineEvent, status: str) -> TimelineEvent:
    if status == "succeeded":
        return TimelineEvent(entry.at, "machine", "up", "The machine runs.")
    if status == "failed":
        return TimelineEvent(entry.at, "machine", "noted", "A start of the machine failed.")
    return TimelineEvent(entry.at, "machine", "asked", "A start of the machine was asked for.")


def job_events(jobs: Iterable[RunbookJob]) -> Iterator[TimelineEvent]:
    """Yield the begin and the end of each job."""
    for job in jobs:
        began = job.started_at or job.created_at
        yield TimelineEvent(job.created_at, "job", "noted", "The webhook was called.")
        yield TimelineEvent(began, "job", "began", "The runbook runs.")
        if job.ended_at:
            why = f": {job.exception}" if job.exception else "."
            yield TimelineEvent(job.ended_at, "job", "ended", f"The runbook ended as {job.status}{why}")
