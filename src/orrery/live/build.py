"""The parts of the live counter, from its settings and secrets."""

from datetime import timedelta

from orrery.edge.auth import GuessLimiter
from orrery.live.domain import LiveDomain, LivePlan
from orrery.live.quota import Limits
from orrery.live.secrets import is_service_account
from orrery.live.settings import LiveSettings
from orrery.ports.analytics import Analytics
from orrery.ports.counter import Counter
from orrery.ports.tracker import Tracker
from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime


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
    live, key = runtime.section(LiveSettings), runtime.secret("analytics_service_account_key")
    return LivePlan(
        has_property=live.property_id is not None,
        has_key=key is not None and is_service_account(key),
        refreshes_itself=live.refresh,
        interval=timedelta(seconds=live.refresh_interval),
        poll_interval=live.poll_interval,
        min_visible=live.min_visible,
        window_minutes=live.window_minutes,
        source=live.source(key),
        limits=Limits(live.tokens_per_hour, live.tokens_per_day),
        paths={page.title: page.path for page in live.pages},
        password_hash=runtime.secret("admin_password_hash"),
    )
