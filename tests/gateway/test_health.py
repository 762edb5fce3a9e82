"""What silence and bad pings are: findings, and one push with one all-clear (docs/decisions/0060)."""

from collections.abc import Sequence
from datetime import timedelta

from orrery.adapters.memory import MemoryStore
from orrery.gateway.causes import Ping
from orrery.gateway.health import AFTER_START, GatewayHealth
from orrery.gateway.overview import GatewayOverview
from orrery.gateway.pings import GatewayPlan, Pings
from orrery.ports.health import Finding
from orrery.ports.store import Put
from orrery.runtime.outbox import Notification, Outbox
from orrery.runtime.watch import EVERY, OVER_AFTER, PUSHED_AFTER, OutageWatch
from tests.support.clock import ManualClock

MINUTE = timedelta(minutes=1)
GRACE = 10 * MINUTE
GOOD, BAD = Ping("active", "200", active_seconds=60), Ping("failed", "502", "failed", "exit-code", 1)
NO_CREDENTIALS = Ping("failed", "502", "failed", "exit-code", 243)
BROKEN, WORKS = "Broken: gateway", "Works again: gateway"


class Site:
    """A site that expects pings: its watch looks while time passes."""

    def __init__(self, *, expects: bool = True, has_token: bool = True) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(self.clock)
        self.plan = GatewayPlan(expects, has_token, GRACE, "/opt/fetch")
        self.restart()

    def restart(self) -> None:
        """Begin anew over the same store."""
        self.pings = Pings(self.store, self.clock, self.plan)
        self.health = GatewayHealth(self.pings, self.clock, self.plan)
        self.watch = OutageWatch(self.store, self.clock, self.health.check)

    async def passes(self, time: timedelta, ping: Ping | None = None) -> None:
        """Let time pass under the watch, with a ping each minute or in silence."""
        for second in range(0, int(time.total_seconds()), int(EVERY.total_seconds())):
            if ping and second % 60 == 0:
                await self.pings.receive(ping)
            await self.watch.notify()
            self.clock.advance(EVERY.total_seconds())

    async def finding(self) -> Finding:
        """Return what doctor shows."""
        (one,) = await self.health.check()
        return one

    async def rows(self) -> Sequence[Notification]:
        """Return the pushes, in order."""
        rows = [row async for row in Outbox(self.store, self.clock, {}).rows()]
        return sorted(rows, key=lambda row: row.created_at)

    async def told(self) -> list[str]:
        """Return the titles of the pushes."""
        return [row.title for row in await self.rows()]


async def pinged_site() -> Site:
    """Return a site that has been pinged for a while."""
    site = Site()
    await site.pings.expect()
    await site.passes(5 * MINUTE, GOOD)
    return site


async def test_a_slow_gateway_works_and_is_shown_as_slow() -> None:
    """What the guest makes of it is kept with the ping: one that starts is no hang."""
    site = Site()
    await site.pings.receive(Ping("active", "200", judgement="slow"))
    assert (await site.finding()).why.startswith("The gateway is active and slow; the last ping came")
    await site.pings.receive(Ping("active", "none", judgement="starting"))
    assert "is starting" in (await site.finding()).why


async def test_silence_is_one_urgent_push_and_one_end() -> None:
    """Past the grace the gateway is in danger: one urgent push, and one all-clear."""
    site = await pinged_site()
    await site.passes(GRACE - MINUTE)
    assert (await site.told(), (await site.finding()).state) == ([], "ok")
    await site.passes(2 * GRACE)
    (push,) = await site.rows()
    assert (push.title, push.priority) == (BROKEN, "urgent")
    assert "No ping since 2026-03-01 12:04 UTC" in push.body
    await site.passes(OVER_AFTER + MINUTE, GOOD)
    assert await site.told() == [BROKEN, WORKS]


async def test_a_restart_repeats_no_push_and_forgets_none() -> None:
    """A site that is started anew amid silence neither says it again nor loses the end."""
    site = await pinged_site()
    await site.passes(GRACE + MINUTE)
    site.restart()
    await site.passes(2 * AFTER_START)
    assert await site.told() == [BROKEN]
    site.restart()
    await site.passes(OVER_AFTER + MINUTE, GOOD)
    assert await site.told() == [BROKEN, WORKS]


async def test_a_site_that_was_away_listens_first() -> None:
    """After an outage of the site itself the guest has two minutes to ping; doctor shows the silence meanwhile."""
    site = await pinged_site()
    site.clock.advance(10 * GRACE.total_seconds())
    site.restart()
    await site.passes(MINUTE)
    assert (await site.finding()).state == "broken"
    await site.passes(GRACE, GOOD)
    assert await site.told() == []


async def test_a_bad_ping_is_shown_at_once_and_pushed_after_the_grace() -> None:
    """The guest pushes by itself: the site waits the grace since the last good ping, and then pushes once."""
    site = await pinged_site()
    await site.passes(MINUTE, BAD)
    found = await site.finding()
    assert (found.state, found.essential) == ("broken", False)
    assert "status 1" in found.why
    await site.passes(GRACE - 3 * MINUTE, BAD)
    assert await site.told() == []
    await site.passes(2 * GRACE, BAD)
    assert await site.told() == [BROKEN]
    assert (await site.rows())[0].priority == "urgent"
    await site.passes(OVER_AFTER + MINUTE, GOOD)
    assert await site.told() == [BROKEN, WORKS]


async def test_what_recovers_within_the_grace_is_not_pushed() -> None:
    """A gateway that fails now and then, and is well in between, is the guest's to report."""
    site = await pinged_site()
    for _ in range(5):
        await site.passes(5 * MINUTE, BAD)
        await site.passes(2 * MINUTE, GOOD)
    assert await site.told() == []


async def test_credentials_that_stay_away_name_the_fetch_script() -> None:
    """The chain counts as broken once the same trouble lasted 30 minutes without a gap, attempts included.

    Another trouble before does not count.
    """
    site = await pinged_site()
    await site.passes(5 * MINUTE, BAD)
    starting = Ping("activating", "502", "start-pre")
    for turn in range(8):
        await site.passes(3 * MINUTE, NO_CREDENTIALS)
        if turn == 6:
            assert "not ready" in (await site.finding()).why
        await site.passes(MINUTE, starting)
    await site.passes(MINUTE, NO_CREDENTIALS)
    assert "/opt/fetch" in (await site.finding()).todo
    site.clock.advance(10 * GRACE.total_seconds())
    await site.passes(MINUTE, NO_CREDENTIALS)
    assert "not ready" in (await site.finding()).why


async def test_pings_that_never_come() -> None:
    """From the start of expecting on, over restarts, the grace passes; then it says what to install."""
    site = Site()
    await site.pings.expect()
    assert ((await site.finding()).state, (await site.finding()).why[:11]) == ("ok", "No ping yet")
    await site.passes(GRACE / 2)
    site.restart()
    await site.pings.expect()
    await site.passes(GRACE / 2 + PUSHED_AFTER + MINUTE)
    assert await site.told() == [BROKEN]
    assert (await site.rows())[0].priority == "high"


async def test_a_site_without_pings_is_off() -> None:
    """It says so, and forgets the last one."""
    site = await pinged_site()
    site.plan = GatewayPlan(expects=False, has_token=True, grace=GRACE)
    site.restart()
    await site.pings.expect()
    assert (await site.finding()).state == "off"
    assert await site.pings.last.get() is None


async def test_a_missing_secret_is_the_cause() -> None:
    """Without the token no ping is taken: that is said, and pushed as the secret's."""
    found = await Site(has_token=False).finding()
    assert (found.state, found.cause) == ("broken", "secret gateway_ping_token")


async def test_a_record_of_a_newer_release_is_made_anew() -> None:
    """The next ping is kept after a roll-back, too."""
    site = Site()
    await site.store.commit([Put("gateway:ping", b'{"v": 2}')])
    await site.pings.receive(GOOD)
    assert (await site.finding()).state == "ok"


async def test_the_panel_shows_the_last_ping() -> None:
    """State, since when, restarts, probe and age, with cause and fix; good, then of concern at once."""
    site = await pinged_site()
    overview = GatewayOverview(site.health, site.clock)
    panel = await overview.panel()
    assert (panel.tone, panel.rows) == ("good", (("active", "2026-03-01T12:03:00Z", "0", "200", "60 s ago"),))
    await site.pings.receive(Ping("active", "none", "running", restarts=3))
    panel = await overview.panel()
    assert (panel.tone, panel.rows[0][2:]) == ("attention", ("3", "no answer", "0 s ago"))
    assert "it hangs" in panel.headline
