"""The adapter of each port, by the settings: made when a module first asks for it, and once a process."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from orrery.app.settings.reader import Secrets, Settings
from orrery.ports.clock import Clock
from orrery.runtime.module import load, target_of
from orrery.runtime.settings import TlsSettings
from orrery.trust import Trust

T = TypeVar("T")

ADAPTERS = {
    "orrery.ports.processor:Processor": "orrery.app.adapters.stripe:processor",
    "orrery.ports.processor:ProcessorReads": "orrery.app.adapters.stripe:reads",
    "orrery.ports.processor:ProcessorWrites": "orrery.app.adapters.stripe:writes",
    "orrery.ports.processor:EventReader": "orrery.app.adapters.stripe:event_reader",
    "orrery.ports.analytics:Analytics": "orrery.app.adapters.counting:analytics",
    "orrery.ports.counter:Counter": "orrery.app.adapters.counting:counter",
    "orrery.ports.tracker:Tracker": "orrery.app.adapters.counting:tracker",
    "orrery.ports.notifier:Notifiers": "orrery.app.adapters.owner:notifiers",
    "orrery.ports.domain_records:DomainRecords": "orrery.app.adapters.owner:domain_records",
    "orrery.ports.heartbeat:Heartbeat": "orrery.app.adapters.owner:heartbeat",
    "orrery.ports.signatures:Signatures": "orrery.app.adapters.owner:signatures",
    "orrery.ports.signatures:OwnerKeys": "orrery.app.adapters.owner:owner_keys",
    "orrery.ports.running_service:RunningService": "orrery.app.adapters.owner:running_service",
    "orrery.ports.shop:Shops": "orrery.app.adapters.counting:shops",
    "orrery.ports.web_sites:WebSites": "orrery.app.adapters.counting:web_sites",
    "orrery.ports.comms.mailboxes:Mailboxes": "orrery.app.adapters.comms:mailboxes",
    "orrery.ports.comms.tasks:TaskBooks": "orrery.app.adapters.comms:task_books",
    "orrery.ports.accounts:Accounts": "orrery.app.adapters.tenants:accounts",
    "orrery.ports.identity:IdentityProvider": "orrery.app.adapters.tenants:identity",
    "orrery.ports.identity:SignInFiles": "orrery.app.adapters.tenants:sign_in_files",
    "orrery.ports.delegated:DelegatedApi": "orrery.app.adapters.tenants:delegated_api",
    "orrery.ports.cloud:Cloud": "orrery.app.adapters.cloud:cloud",
    "orrery.ports.cloud:WebhookUri": "orrery.app.adapters.cloud:webhook_uri",
    "orrery.ports.journals:Journals": "orrery.app.adapters.cloud:journals",
    "orrery.ports.site_reports:SiteReports": "orrery.app.adapters.cloud:site_reports",
    "orrery.ports.snapshots:Snapshots": "orrery.app.adapters.owner:snapshots",
    "orrery.ports.tool:ToolProcess": "orrery.app.adapters.tenants:tool_process",
    "orrery.ports.publications:Publications": "orrery.app.adapters.publishing:publications",
}


@dataclass(frozen=True, slots=True)
class Adapters:
    """Makes the adapters of one process."""

    settings: Settings
    secrets: Secrets
    clock: Clock
    _made: dict[Callable[["Adapters"], Any], Any] = field(default_factory=dict[Callable[["Adapters"], Any], Any])

    def port(self, kind: type[T]) -> T:
        """Return the adapter of a port."""
        return cast("T", self.once(load(ADAPTERS[target_of(kind)])))

    def once(self, make: Callable[["Adapters"], T]) -> T:
        """Return what `make` makes, made at the first call."""
        if make not in self._made:
            self._made[make] = make(self)
        return self._made[make]

    @property
    def trust(self) -> Trust:
        """Whose certificates the clients trust; the certificates are read once."""
        return self.once(_trust)


def _trust(adapters: Adapters) -> Trust:
    return Trust(adapters.settings[TlsSettings].ca_file)
