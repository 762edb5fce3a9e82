"""The section `[cloud]` of `orrery.toml`: the names of a deployment's resources (decision 30)."""

from typing import Annotated

from pydantic import Field

from orrery.errors import Invalid
from orrery.runtime.section import Address, Section

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{2,48}[A-Za-z0-9]$")]
"""A name that each kind of resource may have."""

_GUID = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"

_NEEDED = ("email", "location", "machine", "resource_group", "subscription")


class CloudSettings(Section):
    """Where the gateway's machine is, and what the resources are called that start it again.

    `management_url` is another one for the sandbox: the runbook signs in to the public cloud. `site_url` is the
    public address of the site that takes the reports. `machine_resource_group` is for a machine in another group
    than the resources.
    """

    subscription: str | None = Field(None, pattern=_GUID)
    resource_group: str | None = Field(None, pattern=r"^[\w().-]{1,89}[\w()-]$")
    machine_resource_group: str | None = Field(None, pattern=r"^[\w().-]{1,89}[\w()-]$")
    machine: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
    location: str | None = Field(None, pattern=r"^[a-z0-9]{2,40}$")
    email: str | None = Field(None, pattern=r"^[^@\s]+@[^@\s]+$")
    identity: Name = "gateway-restarter"
    account: Name = "gateway-automation"
    runbook: Name = "restart-gateway"
    webhook: Name = "restart-gateway"
    action_group: Name = "gateway-alerts"
    health_alert: Name = "gateway-unavailable"
    deallocate_alert: Name = "gateway-deallocated"
    management_url: Address = "https://management.azure.com"
    site_url: Address | None = None

    def require(self) -> None:
        """Raise `Invalid` when the section does not name the machine."""
        if missing := [name for name in _NEEDED if not getattr(self, name)]:
            raise Invalid(f"The section [cloud] of the settings needs {', '.join(missing)}.")
