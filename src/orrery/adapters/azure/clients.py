"""The vendor's clients over one connection, with their deadlines, and the names of the resources."""

import json
import logging
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from importlib import import_module
from io import BytesIO
from typing import Any

import requests
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.policies import RetryPolicy
from azure.core.pipeline.transport import RequestsTransport
from azure.identity import DefaultAzureCredential

from orrery.adapters.azure.answers import LONGEST_MESSAGE, NO_PROVIDER, refused
from orrery.errors import Invalid
from orrery.outside import session
from orrery.ports.cloud import AlertKind
from orrery.syntax.lines import one_line
from orrery.trust import Trust

JOBS_VERSION = "2023-11-01"
"""The version of the listing of jobs (spec 3, Versioning): the library's own is a later one."""

POLL_SECONDS = 2
"""Between two looks at an operation that the cloud goes on with by itself."""

OPERATION_SECONDS = 240
"""How long such an operation is waited for: starting a machine takes 60 to 120 s (spec 3, States)."""

LONGEST_WAIT = 30.0
"""Seconds that are waited before a call is repeated, when the cloud asks for it (429, Retry-After)."""


MACHINES = "Microsoft.Compute/virtualMachines"
IDENTITIES = "Microsoft.ManagedIdentity/userAssignedIdentities"
ACCOUNTS = "Microsoft.Automation/automationAccounts"
GROUPS = "Microsoft.Insights/actionGroups"
ALERTS = "Microsoft.Insights/activityLogAlerts"
"""What the vendor calls the kinds of resources."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long one answer may take, in seconds, and how often a call is repeated that was not answered.

    One that was sent, and whose answer did not come or cannot be read, is repeated once at most.
    """

    connect: float = 10.0
    read: float = 30.0
    retries: int = 3


@dataclass(frozen=True, slots=True)
class Names:
    """What the resources are called, and where they are."""

    subscription: str
    group: str
    machine_group: str
    machine: str
    location: str
    identity: str
    account: str
    runbook: str
    action_group: str
    alerts: dict[AlertKind, str]
    email: str

    @property
    def subscription_id(self) -> str:
        return f"/subscriptions/{self.subscription}"

    @property
    def machine_id(self) -> str:
        return f"{self.subscription_id}/resourceGroups/{self.machine_group}/providers/{MACHINES}/{self.machine}"

    @property
    def action_group_id(self) -> str:
        return self.id(GROUPS, self.action_group)

    @property
    def account_id(self) -> str:
        return self.id(ACCOUNTS, self.account)

    def id(self, kind: str, name: str) -> str:
        """Return the id of a resource of the layer."""
        return f"{self.subscription_id}/resourceGroups/{self.group}/providers/{kind}/{name}"


class _Repeated(RetryPolicy[Any, Any]):
    """Repeats a call, but not after a wait of any length that the cloud asks for: the caller reports it."""

    def is_retry(self, settings: dict[str, Any], response: Any) -> bool:  # noqa: ANN401  as the library has it
        answer = response.http_response
        if answer.status_code == HTTPStatus.CONFLICT:
            # Else the libraries register it by themselves, also while a plan is made, and wait without an end.
            error = HttpResponseError(response=answer)
            if error.error and error.error.code == NO_PROVIDER:
                raise refused("use this part of the cloud", error, answer.status_code)
        if (self.get_retry_after(response) or 0) > LONGEST_WAIT:
            return False
        return super().is_retry(settings, response)


class Clients:
    """Each client, imported and made when it is first used: importing them all takes a second."""

    # They are typed as anything: what the older ones of these libraries have is made while they run.

    def __init__(self, names: Names, management_url: str, trust: Trust, deadlines: Deadlines) -> None:
        self._subscription = names.subscription
        self._url = management_url.rstrip("/")
        self._deadlines = deadlines
        # They warn of an unexpected answer with its address, and that of a webhook is a credential; and of
        # each credential that gave no token.
        for library in ("urllib3", "azure"):
            logging.getLogger(library).setLevel(logging.ERROR)
        self._session = session(trust)
        self._credential = self._signed_in()

    def _signed_in(self) -> DefaultAzureCredential:
        try:
            return DefaultAzureCredential(
                exclude_visual_studio_code_credential=True,
                exclude_shared_token_cache_credential=True,
                exclude_powershell_credential=True,
                exclude_developer_cli_credential=True,
                exclude_broker_credential=True,
                transport=self._transport(),  # else a token is waited for 300 s, four times
                retry_total=self._deadlines.retries,
            )
        except (OSError, ValueError) as error:
            # Of the variables AZURE_…: the libraries check them here.
            raise Invalid(
                f"The variables AZURE_… of the sign-in cannot be used: {one_line(str(error), LONGEST_MESSAGE)}"
            ) from None

    def _transport(self) -> RequestsTransport:
        """Return a way over the one connection; it alone looks at the deadlines."""
        return RequestsTransport(
            session=self._session,
            session_owner=False,
            connection_timeout=self._deadlines.connect,
            read_timeout=self._deadlines.read,
        )

    def _made(self, name: str, **more: str) -> Any:  # noqa: ANN401  see above
        library, _, kind = name.partition(".")
        client: Any = getattr(import_module(f"azure.mgmt.{library}"), kind)
        return client(
            self._credential,
            self._subscription,
            base_url=self._url,
            credential_scopes=[f"{self._url}/.default"],
            transport=self._transport(),
            polling_interval=POLL_SECONDS,
            retry_policy=_Repeated(
                retry_total=self._deadlines.retries, retry_read=1, retry_backoff_max=self._deadlines.read
            ),
            **more,
        )

    @cached_property
    def automation(self) -> Any:  # noqa: ANN401  see above
        return self._made("automation.AutomationClient")

    @cached_property
    def jobs(self) -> Any:  # noqa: ANN401  see above
        return self._made("automation.AutomationClient", api_version=JOBS_VERSION).job

    @cached_property
    def monitor(self) -> Any:  # noqa: ANN401  see above
        return self._made("monitor.MonitorManagementClient")

    @cached_property
    def machines(self) -> Any:  # noqa: ANN401  see above
        return self._made("compute.ComputeManagementClient").virtual_machines

    @cached_property
    def roles(self) -> Any:  # noqa: ANN401  see above
        return self._made("authorization.AuthorizationManagementClient").role_assignments

    @cached_property
    def identities(self) -> Any:  # noqa: ANN401  see above
        return self._made("msi.ManagedServiceIdentityClient").user_assigned_identities

    @cached_property
    def health(self) -> Any:  # noqa: ANN401  see above
        return self._made("resourcehealth.ResourceHealthMgmtClient").availability_statuses

    def sign_in(self) -> None:
        """Ask for a token; raise the libraries' errors."""
        _ = self._credential.get_token(f"{self._url}/.default")

    def close(self) -> None:
        """Close the connections."""
        self._credential.close()
        self._session.close()

    def post(self, address: str, body: str) -> requests.Response:
        """Post JSON to an address that is its own credential; raise `requests.RequestException`."""
        return self._session.post(
            address,
            data=body.encode(),
            headers={"Content-Type": "application/json"},
            timeout=(self._deadlines.connect, self._deadlines.read),
            allow_redirects=False,
        )


def body_of(document: object) -> BytesIO:
    """Return a body as all of these libraries take it: as the vendor's reference writes it."""
    return BytesIO(json.dumps(document).encode())
