"""The live counter as one piece: its services over the ports that it is given, its routes and its jobs."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from orrery.edge.auth import AdminBearer, GuessLimiter
from orrery.live import monitor
from orrery.live.admin_reads import AdminReads
from orrery.live.answers import cosmos, site
from orrery.live.budget import StoredBudget
from orrery.live.health import LiveHealth
from orrery.live.metrics import metrics
from orrery.live.monitor import CounterMonitor
from orrery.live.password_probe import PasswordProbe
from orrery.live.quota import TOTAL, TokenLimits
from orrery.live.reads import FirstLevelCache, PublicRead
from orrery.live.refresh import Refresh
from orrery.live.secrets import is_service_account
from orrery.live.settings import LiveSettings
from orrery.live.widgets import widgets
from orrery.ports.analytics import Analytics
from orrery.ports.clock import Clock
from orrery.ports.counter import Counter
from orrery.ports.panels import PanelSource
from orrery.ports.store import Store
from orrery.ports.tracker import Tracker
from orrery.runtime.jobs import Job
from orrery.runtime.module import load
from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime
from orrery.runtime.secret_probe import SecretProbe
from orrery.runtime.tasks import Tasks

if TYPE_CHECKING:
    from orrery.edge.routes import Routes
    from orrery.live.routes import LiveRoutes


@dataclass(frozen=True, slots=True)
class LivePlan:
    """The settings of a deployment's counter. A missing secret is empty here (decision 41).

    `has_key`: there is a key with the form of a service account's key file; with another form no query is sent.
    `source` is a digest of the provider's address, the property and the account.
    """

    settings: LiveSettings
    has_key: bool
    source: str
    password_hash: str | None = field(repr=False)


class LiveDomain:
    """Every service of the counter, wired."""

    def __init__(  # noqa: PLR0913  the wiring of a domain names each of its ports
        self,
        store: Store,
        clock: Clock,
        analytics: Analytics,
        counter: Counter,
        tracker: Tracker,
        plan: LivePlan,
        tasks: Tasks,
        *,
        holder: str,
        wrong_passwords: GuessLimiter,
    ) -> None:
        self._settings = settings = plan.settings
        has_property = settings.property_id is not None
        self._can_ask = has_property and plan.has_key
        self._interval = interval = timedelta(seconds=settings.refresh_interval)
        cache = FirstLevelCache(store, clock)
        self._site, self._cosmos = PublicRead(cache, clock, site), PublicRead(cache, clock, cosmos)
        limits = TokenLimits(settings.tokens_per_hour, settings.tokens_per_day)
        self._budget = budget = StoredBudget(store, clock, analytics, limits, interval, source=plan.source)
        counted = metrics({page.title: page.path for page in settings.pages}, settings.window_minutes)
        self.refresh = Refresh(store, clock, budget, cache, counted, tasks, interval=interval, holder=holder)
        self.monitor = CounterMonitor(store, clock, counter, tracker)
        self._bearer = bearer = AdminBearer(plan.password_hash, wrong_passwords)
        self._password = PasswordProbe(bearer.is_password)
        self.health = LiveHealth(store, clock, analytics, budget, has_property, plan.has_key, bearer.usable)
        self._admin_reads = AdminReads(store, clock, budget, tasks, settings.window_minutes)

    async def report(self) -> int:
        """Ask the provider once how many visitors there are; the count is not stored, its cost is.

        Raises `AnalyticsFailed` or `NotConfigured`.
        """
        await self._budget.charge([TOTAL])
        return (await self._budget.ask(TOTAL, None, None)).total

    def routes(self) -> "Routes":
        """What is asked over HTTP."""
        make: type[LiveRoutes] = load("orrery.live.routes:LiveRoutes")
        return make(
            site=self._site,
            cosmos=self._cosmos,
            refresh=self.refresh if self._can_ask else None,
            admin_reads=self._admin_reads if self._can_ask else None,
            bearer=self._bearer,
            widgets=widgets(min_visible=self._settings.min_visible, interval=self._settings.poll_interval),
        ).all()

    def parts(self) -> Parts:
        """Return what the counter brings."""
        return Parts(
            module="live",
            routes=self.routes,
            jobs=self._jobs(),
            checks=[self.health.local],
            remote_checks=self.health.remote(),
            panels=[PanelSource("Live counter", self.health.panel, 80, ("live counter", "analytics key"))],
            secret_probes=[SecretProbe("admin_password_hash", self._password.remarks, compares_password=True)],
            migrations=[self._budget.forget_earlier],
            offers={LiveDomain: self},
        )

    def _jobs(self) -> list[Job]:
        if self._settings.property_id is None:
            return []
        jobs = [Job("monitor the live count", monitor.EVERY, self.monitor.check_patiently, aligned=True)]
        if self._settings.refresh and self._can_ask:
            job = Job("refresh the live count", self._interval, self.refresh.run, aligned=True, everywhere=True)
            jobs.append(job)
        return jobs


def build(runtime: Runtime) -> Parts:
    """Return the counter over its ports."""
    live = LiveDomain(
        runtime.store,
        runtime.clock,
        runtime.port(Analytics),
        runtime.port(Counter),
        runtime.port(Tracker),
        plan(runtime),
        runtime.tasks,
        holder=runtime.holder,
        wrong_passwords=runtime.need(GuessLimiter),
    )
    return live.parts()


def plan(runtime: Runtime) -> LivePlan:
    """Return the plan of the counter."""
    settings, key = runtime.section(LiveSettings), runtime.secret("analytics_service_account_key")
    has_key, password = key is not None and is_service_account(key), runtime.secret("admin_password_hash")
    return LivePlan(settings, has_key, settings.source(key), password)
