"""One deployment, as the commands and the server use it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from starlette.types import ASGIApp

from orrery.app.adapters import Adapters
from orrery.edge.auth import AdminBasic, GuessLimiter
from orrery.edge.http import private_app, public_app
from orrery.edge.metrics import Metrics
from orrery.edge.public_reads import PublicReads
from orrery.owner_page.page import OwnerPage
from orrery.ports.store import Store
from orrery.runtime.findings import Findings
from orrery.runtime.module import target_of
from orrery.runtime.parts import Parts, private_routers, public_routers
from orrery.runtime.readiness import Readiness
from orrery.runtime.references import References

S = TypeVar("S")

ADMIN_PASSWORD = "admin_password_hash"  # noqa: S105  the name of a secret
"""The secret whose password opens the owner's page."""


@dataclass(frozen=True, slots=True)
class Orrery:
    """One deployment, composed over its open store."""

    store: Store
    adapters: Adapters
    modules: Sequence[Parts]
    offers: dict[str, object]

    def __getitem__(self, kind: type[S]) -> S:
        """Return a service of a module, or the adapter of a port."""
        found = self.offers.get(target_of(kind))
        return self.adapters.port(kind) if found is None else cast("S", found)

    def apps(self, site: ASGIApp | None = None) -> tuple[ASGIApp, ASGIApp]:
        """Return the public app, with `site` behind its operations, and the private one."""
        metrics, readiness = Metrics(), self[Readiness].last
        for figure in (one for parts in self.modules for one in parts.figures):
            metrics.watch(figure.name, figure.help, figure.label, figure.counts)
        direct = [one for parts in self.modules for one in parts.direct]
        public = public_app(public_routers(self.modules), direct, readiness, metrics, site)
        undelivered = self[Findings].health.undelivered
        routers = [self._page().router(), *private_routers(self.modules)]
        private = private_app(public, readiness, metrics, undelivered, routers)
        app: ASGIApp = public
        for path, reads in (read for parts in self.modules for read in parts.reads.items()):
            app = PublicReads(app, path, reads, metrics.counter_of(path))
        return app, private

    def _page(self) -> OwnerPage:
        password = AdminBasic(self.adapters.secrets.reveal(ADMIN_PASSWORD), self[GuessLimiter])
        panels = sorted((one for parts in self.modules for one in parts.panels), key=lambda one: one.order)
        mode, within = self.adapters.settings.mode, self[References].within
        return OwnerPage(password, self.adapters.clock, panels, mode=mode, within=within)
