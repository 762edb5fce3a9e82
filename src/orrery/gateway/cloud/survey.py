"""What is in the cloud now: each part is its value, or the error why it is not known; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Literal, TypeVar

from orrery.ports.cloud import (
    NO_TOKEN,
    ActionGroup,
    Alert,
    AlertKind,
    AutomationAccount,
    Grant,
    Health,
    Identity,
    MachineEvent,
    MachineFound,
    Runbook,
    RunbookJob,
    Webhook,
)
from orrery.ports.cloud.errors import CloudError, CloudRefused

T = TypeVar("T")

ALERTS: tuple[AlertKind, ...] = ("health", "deallocate")

_NO_RIGHT = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


@dataclass(frozen=True, slots=True)
class UnknownPart:
    """A part that is not known."""

    part: str
    error: CloudError

    @property
    def state(self) -> Literal["not allowed", "unreadable"]:
        """Whether a right is missing, or the answer."""
        error = self.error
        is_refused = isinstance(error, CloudRefused) and error.status in _NO_RIGHT and error.code != NO_TOKEN
        return "not allowed" if is_refused else "unreadable"

    @property
    def document(self) -> dict[str, str]:
        """The gap for a machine."""
        return {"part": self.part, "state": self.state, "why": self.error.why, "todo": self.error.todo}


def known(part: T | CloudError) -> T:
    """Return the value of a part; raise the error why it is not known."""
    if isinstance(part, CloudError):
        raise part
    return part


@dataclass(frozen=True, slots=True)
class Survey:
    """The resources as they were found, None for a missing one. `uri` is the webhook's URI that is kept here."""

    at: datetime
    machine_id: str
    action_group_id: str
    machine: MachineFound | CloudError | None
    identity: Identity | CloudError | None
    grants: Sequence[Grant] | CloudError
    account: AutomationAccount | CloudError | None
    runbook: Runbook | CloudError | None
    webhooks: Sequence[Webhook] | CloudError
    action_group: ActionGroup | CloudError | None
    alerts: Mapping[AlertKind, Alert | CloudError | None]
    uri: str = field(repr=False)

    @property
    def gaps(self) -> list[UnknownPart]:
        """The parts that are not known."""
        parts = {
            "machine": self.machine,
            "identity": self.identity,
            "role": self.grants,
            "account": self.account,
            "runbook": self.runbook,
            "webhook": self.webhooks,
            "action group": self.action_group,
            **{f"{kind} alert": alert for kind, alert in self.alerts.items()},
        }
        return gaps_of(parts)


@dataclass(frozen=True, slots=True)
class Activity:
    """What has happened lately. `reasons` is why the reasons of failed jobs are missing, if they are."""

    health: Health | CloudError | None
    jobs: list[RunbookJob] | CloudError
    minutes: float | CloudError | None
    reasons: CloudError | None = None
    events: Sequence[MachineEvent] | CloudError = ()

    @property
    def gaps(self) -> list[UnknownPart]:
        """The parts that are not known."""
        parts = {
            "health": self.health,
            "jobs": self.jobs,
            "reasons of jobs": self.reasons,
            "job-minutes": self.minutes,
            "activity log": self.events,
        }
        return gaps_of(parts)


def gaps_of(parts: Mapping[str, object]) -> list[UnknownPart]:
    """Return those of named parts that are not known."""
    return [UnknownPart(name, found) for name, found in parts.items() if isinstance(found, CloudError)]
