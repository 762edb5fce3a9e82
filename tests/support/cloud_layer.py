"""A cloud layer in which everything is as it should be, as a survey finds it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from orrery.gateway.cloud.survey import Activity, Survey
from orrery.gateway.cloud.wanted import CONDITIONS, WantedResources, webhook_name
from orrery.ports.cloud import (
    CONTRIBUTOR,
    RUNTIME,
    TIER,
    ActionGroup,
    Alert,
    AlertKind,
    AutomationAccount,
    Grant,
    Identity,
    MachineFound,
    Runbook,
    RunbookJob,
    Webhook,
)

NOW = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
GROUP = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/cosmos"
MACHINE = f"{GROUP}/providers/Microsoft.Compute/virtualMachines/gateway"
ACTION_GROUP = f"{GROUP}/providers/Microsoft.Insights/actionGroups/gateway-alerts"
URI = "https://webhooks.example/webhooks?token=not-a-real-one"
IDENTITY = Identity(f"{GROUP}/identities/gateway-restarter", "the-client", "the-principal")
GRANT = Grant(f"{MACHINE}/roleAssignments/1", MACHINE, CONTRIBUTOR)

WANTED = WantedResources(
    "gateway-restarter",
    "gateway-automation",
    "restart-gateway",
    "restart-gateway",
    "gateway-alerts",
    {"health": "gateway-unavailable", "deallocate": "gateway-deallocated"},
    "owner@cosmos.example",
)
WEBHOOK = Webhook(
    name=webhook_name("restart-gateway", URI),
    runbook="restart-gateway",
    enabled=True,
    expires_at=NOW + timedelta(days=300),
    created_at=NOW - timedelta(days=65),
)


def text(client_id: str) -> str:
    """Return a runbook's text."""
    return f"# starts the machine as {client_id}\n"


def alert(kind: AlertKind) -> Alert:
    return Alert(
        enabled=True, scopes=(MACHINE,), conditions=frozenset(CONDITIONS[kind]), action_groups=(ACTION_GROUP,)
    )


COMPLETE = Survey(
    NOW,
    MACHINE,
    ACTION_GROUP,
    MachineFound(MACHINE, "running"),
    IDENTITY,
    (GRANT,),
    AutomationAccount(TIER, (IDENTITY.id,)),
    Runbook(RUNTIME, text(IDENTITY.client_id)),
    (WEBHOOK,),
    ActionGroup(enabled=True, uris=(URI,), emails=(WANTED.email,)),
    {"health": alert("health"), "deallocate": alert("deallocate")},
    URI,
)

QUIET = Activity("Available", [], 12.0)
"""Nothing has happened lately."""

EMPTY = replace(
    COMPLETE,
    identity=None,
    grants=(),
    account=None,
    runbook=None,
    webhooks=(),
    action_group=None,
    alerts={"health": None, "deallocate": None},
    uri="",
)
"""The same machine, before anything is made."""


def job(status: str = "Completed", exception: str = "") -> RunbookJob:
    began = NOW - timedelta(hours=1)
    return RunbookJob("job-1", status, began, began, began + timedelta(minutes=2), exception)
