"""The cloud's official libraries, pointed at the sandbox, and the resources that they put there."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from orrery.ports.cloud.machine import Restart
from orrery.sandbox.cloud.access import MACHINE_CONTRIBUTOR
from tests.support.cloud import SCOPE, CloudBox, running_cloud
from tests.support.provisioning import runbook

if TYPE_CHECKING:
    from azure.core.exceptions import HttpResponseError

OWNER = "owner@northwind.example"
IDENTITY, ACCOUNT, RUNBOOK, WEBHOOK = "restarter", "automation", "restart-gateway", "from-the-alert"
GROUP, ALERT, SECOND_ALERT = "gateway-down", "gateway-unavailable", "gateway-deallocated"


def code_of(error: "pytest.ExceptionInfo[HttpResponseError]") -> tuple[int | None, str | None]:
    """Return the status and the code of a refusal."""
    return error.value.status_code, error.value.error.code if error.value.error else None


@dataclass(frozen=True)
class Exchange:
    """One request of a library, and its answer."""

    method: str
    url: str
    request: str | None
    status: int
    answer: str


@dataclass
class Official:
    """The official libraries as their users have them. Their types are many: `Any` here."""

    box: CloudBox
    exchanges: list[Exchange] = field(default_factory=list[Exchange])

    def __post_init__(self) -> None:
        self.credential: Any = import_module("azure.identity").ManagedIdentityCredential()
        self._clients: list[Any] = [self.credential]
        self.group = self.box.config.resource_group
        self.identities: Any = self.client("msi.ManagedServiceIdentityClient").user_assigned_identities
        self.roles: Any = self.client("authorization.AuthorizationManagementClient").role_assignments
        self.automation: Any = self.client("automation.AutomationClient")
        self.monitor: Any = self.client("monitor.MonitorManagementClient")
        self.machines: Any = self.client("compute.ComputeManagementClient").virtual_machines
        self.health: Any = self.client("resourcehealth.ResourceHealthMgmtClient").availability_statuses

    def client(self, name: str, **more: Any) -> Any:  # noqa: ANN401  each library has its own class
        """Return a library's client that asks the sandbox.

        The libraries are imported here: it takes seconds, and each process of a test run imports this module.
        """
        library, _, kind = name.partition(".")
        policies = import_module("azure.core.pipeline.policies")
        options: dict[str, Any] = {
            "base_url": self.box.config.url,
            "credential_scopes": [SCOPE],
            "connection_verify": str(self.box.ca_file),
            "polling_interval": 0,
            "retry_total": 0,
            "custom_hook_policy": policies.CustomHookPolicy(raw_response_hook=self._keep),
        }
        made = getattr(import_module(f"azure.mgmt.{library}"), kind)(
            self.credential, self.box.config.subscription, **options | more
        )
        self._clients.append(made)
        return made

    def close(self) -> None:
        """Close the connections."""
        for one in self._clients:
            one.close()

    def _keep(self, response: Any) -> None:  # noqa: ANN401  a PipelineResponse
        asked, answered = response.http_request, response.http_response
        body = asked.body.decode() if isinstance(asked.body, bytes) else asked.body
        if hasattr(answered, "read"):  # a stream, of the newer libraries
            answered.read()
        self.exchanges.append(Exchange(asked.method, asked.url, body, answered.status_code, answered.text()))

    def now(self) -> datetime:
        """Return the sandbox's time."""
        return self.box.clock.now()

    def provision(self) -> str:
        """Put every resource that the chain needs; return the webhook's URI."""
        identity = self.put_identity()
        self.put_role(identity.principal_id)
        self.put_account(identity.id)
        self.put_runbook(f"Connect-AzAccount -Identity -AccountId {identity.client_id}")
        uri = self.automation.webhook.generate_uri(self.group, ACCOUNT)
        self.put_webhook(uri)
        group = self.put_group(uri)
        health = [("category", "ResourceHealth"), ("properties.currentHealthStatus", "Unavailable")]
        deallocated = [
            ("category", "Administrative"),
            ("operationName", "Microsoft.Compute/virtualMachines/deallocate/action"),
            ("status", "Succeeded"),
        ]
        self.put_alert(ALERT, group.id, health)
        self.put_alert(SECOND_ALERT, group.id, deallocated)
        return uri

    def put_identity(self, name: str = IDENTITY) -> Any:  # noqa: ANN401  the library's model
        return self.identities.create_or_update(self.group, name, {"location": "westeurope"})

    def put_role(self, principal: str, name: str = "", kind: str | None = "ServicePrincipal") -> Any:  # noqa: ANN401  the same
        """Assign the role for the one machine; without a name, under the one that follows from both."""
        role = f"/subscriptions/{self.box.config.subscription}/providers/Microsoft.Authorization/roleDefinitions"
        wanted = {
            "role_definition_id": f"{role}/{MACHINE_CONTRIBUTOR}",
            "principal_id": principal,
            "principal_type": kind,
        }
        named = name or str(uuid5(NAMESPACE_URL, self.box.config.machine_id + principal))
        return self.roles.create(self.box.config.machine_id, named, wanted)

    def put_account(self, identity_id: str) -> Any:  # noqa: ANN401  the same
        identity = {"type": "UserAssigned", "userAssignedIdentities": {identity_id: dict[str, str]()}}
        wanted = {"location": "westeurope", "identity": identity, "properties": {"sku": {"name": "Basic"}}}
        return self.automation.automation_account.create_or_update(self.group, ACCOUNT, wanted)

    def put_runbook(self, text: str, name: str = RUNBOOK, account: str = ACCOUNT) -> None:
        """Publish a runbook."""
        place = (self.group, account, name)
        wanted = {"location": "westeurope", "properties": {"runbookType": "PowerShell72"}}
        self.automation.runbook.create_or_update(*place, wanted)
        self.automation.runbook_draft.begin_replace_content(*place, text).result()
        self.automation.runbook.begin_publish(*place).result()

    def put_webhook(
        self,
        uri: str | None,
        name: str = WEBHOOK,
        days: int = 365,
        runbook: str = RUNBOOK,
        account: str = ACCOUNT,
    ) -> Any:  # noqa: ANN401  the same
        properties = {
            "isEnabled": True,
            "uri": uri,
            "expiryTime": (self.now() + timedelta(days=days)).isoformat(),
            "runbook": {"name": runbook},
        }
        wanted = {"name": name, "properties": {key: value for key, value in properties.items() if value}}
        return self.automation.webhook.create_or_update(self.group, account, name, wanted)

    def put_group(self, uri: str, *, common: bool = False) -> Any:  # noqa: ANN401  the same
        webhook = {"name": "runbook", "serviceUri": uri, "useCommonAlertSchema": common}
        mail = {"name": "owner", "emailAddress": OWNER, "useCommonAlertSchema": False}
        receivers = {"webhookReceivers": [webhook], "emailReceivers": [mail]}
        wanted = {"location": "Global", "properties": {"groupShortName": "gateway", "enabled": True, **receivers}}
        return self.monitor.action_groups.create_or_update(self.group, GROUP, wanted)

    def put_alert(self, name: str, group_id: str, leaves: list[tuple[str, str]], **more: object) -> Any:  # noqa: ANN401  the same
        """Put an alert for what all the leaves (a field, and what it equals) are true of."""
        condition = {"allOf": [{"field": where, "equals": what} for where, what in leaves]}
        properties = {
            "scopes": [self.box.config.machine_id],
            "condition": condition,
            "actions": {"actionGroups": [{"actionGroupId": group_id}]},
            "enabled": True,
        }
        wanted = {"location": "Global", "properties": properties | more}
        return self.monitor.activity_log_alerts.create_or_update(self.group, name, wanted)

    def last_job(self) -> Any:  # noqa: ANN401  the same
        jobs = list(self.automation.job.list_by_automation_account(self.group, ACCOUNT))
        return self.automation.job.get(self.group, ACCOUNT, jobs[0].name)


@contextmanager
def operating(folder: Path, restart: Restart | None = runbook, **config: Any) -> Generator[Official]:  # noqa: ANN401  fields of CloudConfig
    """Run a sandbox with a cloud, and the official libraries over it."""
    with running_cloud(folder, restart, **config) as box, pytest.MonkeyPatch.context() as environment:
        for name, value in box.identity_env.items():
            environment.setenv(name, value)
        with closing(Official(box)) as official:
            yield official
