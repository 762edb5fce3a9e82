"""The gateway's layer in the cloud (spec 3, Cloud resources): what is found there, and what can be changed.

Reading and changing are two protocols, so that a plan cannot write. Every call raises `CloudRefused` or
`CloudUnreachable`; a missing resource is None.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from orrery.ports.cloud.machine import Power

AlertKind = Literal["health", "deallocate"]

Kind = Literal["identity", "account", "role", "runbook", "webhook", "action-group", "health", "deallocate"]
"""The resources, in the order in which they are made."""

Health = Literal["Available", "Unavailable", "Degraded", "Unknown"]

TIER = "Basic"
"""The tier of the automation account (spec 3, Cloud resources)."""

RUNTIME = "PowerShell72"
"""The runbook's runtime, PowerShell 7.2 (spec 3, Versioning)."""

CONTRIBUTOR = "9980e02c-c2be-4d73-94e8-173b1dc7cf3c"
"""The role Virtual Machine Contributor."""

PAUSE_TAG = "orrery-paused-until"
"""The tag of the machine that pauses its restart, until the time in it."""

NO_TOKEN = "NoToken"  # noqa: S105  a code
"""The `code` of a sign-in that failed without a refusal: who asks has not signed in, or the network failed."""

FINAL: frozenset[str] = frozenset({"Completed", "Failed", "Stopped", "Suspended"})
"""The states in which a job stays."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The user-assigned identity of the runbook."""

    id: str
    client_id: str
    principal_id: str


@dataclass(frozen=True, slots=True)
class Grant:
    """One role assignment of a principal; `role` is the role's GUID, `scope` the id of its resource."""

    id: str
    scope: str
    role: str


@dataclass(frozen=True, slots=True)
class AutomationAccount:
    """The automation account, and the ids of the identities that its runbooks may use.

    `clients` are the client ids of those identities, as they were when the account was given them.
    """

    tier: str
    identities: tuple[str, ...]
    clients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Runbook:
    """The runbook. `text` is None until one is published; `edited`: there is an unpublished edit, too."""

    runtime: str
    text: str | None
    edited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A webhook of the account, without its URI, which the cloud shows once."""

    name: str
    runbook: str
    enabled: bool
    expires_at: datetime
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionGroup:
    """The action group: what its webhook receivers call, and which of them get the common alert schema."""

    enabled: bool
    uris: tuple[str, ...] = field(repr=False)
    common_uris: tuple[str, ...] = field(default=(), repr=False)
    emails: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An activity-log alert: all `conditions` (field, value) must hold for an event in one of the `scopes`."""

    enabled: bool
    scopes: tuple[str, ...]
    conditions: frozenset[tuple[str, str]]
    action_groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MachineFound:
    """The machine; `pause` is the text of the tag by which an operator pauses its restart."""

    id: str
    power: Power
    pause: str = ""


@dataclass(frozen=True, slots=True)
class RunbookJob:
    """A run of the runbook. A listing has neither `exception`, why it failed, nor `started_by`."""

    id: str
    status: str
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    exception: str = ""
    started_by: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether the job stays as it is."""
        return self.status in FINAL


@dataclass(frozen=True, slots=True)
class MachineEvent:
    """An entry of the activity log about the machine."""

    at: datetime
    operation: str
    status: str
    detail: str = ""


class CloudReads(Protocol):
    """What can be asked. All resources have the names in the settings."""

    @property
    def machine_id(self) -> str:
        """The id of the one machine that the settings name."""
        ...

    @property
    def action_group_id(self) -> str:
        """The id that the action group has, or will have."""
        ...

    def sign_in(self) -> None:
        """See that the cloud can be asked at all."""
        ...

    def machine(self) -> MachineFound | None: ...

    def health(self) -> Health | None:
        """Return the health of the machine, which another service reports."""
        ...

    def identity(self) -> Identity | None: ...

    def grants(self, principal_id: str) -> list[Grant]:
        """Return the role assignments of a principal and of its groups in the subscription, at any scope."""
        ...

    def account(self) -> AutomationAccount | None: ...

    def runbook(self) -> Runbook | None: ...

    def other_runbooks(self) -> list[str]:
        """Return the names of the account's runbooks that are not ours."""
        ...

    def webhooks(self) -> list[Webhook]: ...

    def action_group(self) -> ActionGroup | None: ...

    def alert(self, kind: AlertKind) -> Alert | None: ...

    def jobs(self, most: int) -> list[RunbookJob]:
        """Return the last jobs, newest first; none without an account."""
        ...

    def job(self, job_id: str) -> RunbookJob: ...

    def output(self, job_id: str) -> str: ...

    def minutes_used(self) -> float | None:
        """Return this month's job-minutes of the account, or None when the cloud does not report them."""
        ...

    def events(self, since: datetime, until: datetime) -> list[MachineEvent]:
        """Return what the activity log has about the machine, oldest first."""
        ...


class Cloud(CloudReads, Protocol):
    """What can be changed; each call is idempotent but `new_webhook_uri` and `call_webhook`."""

    def put_identity(self) -> Identity: ...

    def put_account(self, identity: Identity) -> None:
        """Make the account, or let it use the identity; what else it has stays."""
        ...

    def put_grant(self, principal_id: str) -> None:
        """Give a principal the contributor role on the machine, and on nothing else."""
        ...

    def put_runbook(self, text: str) -> None:
        """Make the runbook if it is missing, upload its text and publish it."""
        ...

    def new_webhook_uri(self) -> str:
        """Return a new URI, which the cloud never shows again."""
        ...

    def put_webhook(self, name: str, uri: str, expires_at: datetime) -> None: ...

    def delete_webhook(self, name: str) -> None: ...

    def put_action_group(self, uri: str) -> None:
        """Let the action group call this URI and write to the owner; receivers that others added stay."""
        ...

    def put_alert(self, kind: AlertKind, conditions: Sequence[tuple[str, str]]) -> None: ...

    def call_webhook(self, uri: str, body: str) -> list[str]:
        """Call a webhook as the action group does; return the ids of the jobs that it started."""
        ...

    def tag_pause(self, text: str) -> None:
        """Set the tag that pauses the restart, or remove it when `text` is empty; other tags stay."""
        ...

    def start(self) -> None:
        """Ask the cloud to start the machine."""
        ...

    def delete(self, kind: Kind) -> bool:
        """Delete a resource (for `webhook`: each one of the runbook); return whether there was one."""
        ...


class WebhookUri(Protocol):
    """The webhook's URI: a secret of this machine, and the only copy."""

    def read(self) -> str:
        """Return the URI, or an empty text without one."""
        ...

    def held(self) -> AbstractContextManager[None]:
        """Lock it against other commands on this machine, and read it again; raise `Invalid`."""
        ...

    def require_writable(self) -> None:
        """Raise `Invalid` when a new URI could not be kept."""
        ...

    def write(self, value: str) -> None:
        """Keep a new URI so that it survives a crash, and read it back; raise `Invalid`."""
        ...

    def remove(self) -> None:
        """Forget the URI; raise `Invalid`."""
        ...
