"""The history of pings: stretches, the silences between them, and what a command lists."""

from datetime import timedelta

from orrery.adapters.memory import MemoryStore
from orrery.gateway.causes import Ping
from orrery.gateway.health import GatewayHealth
from orrery.gateway.ping_log import PingLog, PingLogs
from orrery.gateway.pings import GatewayPlan, Pings
from orrery.gateway.reports import Reports
from orrery.gateway.stretches import KEPT, MOST_A_DAY, PingStretch
from orrery.ports.store import Put
from orrery.runtime.outbox import OutboxDraft, enqueue
from orrery.runtime.watch import EVERY, OutageWatch
from tests.support.clock import START, ManualClock

MINUTE = timedelta(minutes=1)
GOOD, BAD = Ping("active", "200", active_seconds=60), Ping("failed", "502", "failed", "exit-code", 1)


class Site:
    """A site that is pinged."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(self.clock)
        plan = GatewayPlan(expects=True, has_token=True, grace=10 * MINUTE)
        self.pings = Pings(self.store, self.clock, plan)
        self.logs = PingLogs(self.pings, Reports(self.store, self.clock), self.clock)
        self.watch = OutageWatch(self.store, self.clock, GatewayHealth(self.pings, self.clock, plan).check)

    async def pinged(self, ping: Ping, times: int = 1) -> None:
        """Ping so often, and let a minute pass after each."""
        for _ in range(times):
            await self.pings.receive(ping)
            self.clock.advance(60)

    async def stretches(self) -> list[PingStretch]:
        return (await self.pings.stretches.all()).values()

    async def log(self, back: timedelta = timedelta(days=7)) -> PingLog:
        return await self.logs.read(back)


async def test_pings_that_say_the_same_are_one_record() -> None:
    """With the first and the last time, and how many; what another says begins the next."""
    site = Site()
    await site.pinged(GOOD, 3)
    await site.pinged(BAD, 2)
    await site.pinged(GOOD)
    found = await site.stretches()
    assert [(one.kind, one.state, one.probe, one.count) for one in found] == [
        ("good", "active", "200", 3),
        ("failed", "failed", "502", 2),
        ("good", "active", "200", 1),
    ]
    assert (found[0].first_at, found[0].last_at) == (START, START + 2 * MINUTE)
    assert [one.silence for one in found] == [None, None, None]


async def test_another_judgement_begins_a_stretch() -> None:
    """A service that starts, hangs, and answers late: systemd and the probe say the same of the first two."""
    site = Site()
    for probe, judgement in (("none", "starting"), ("none", "hanging"), ("200", "slow"), ("200", "good")):
        await site.pinged(Ping("active", probe, judgement=judgement), 2)
    found = await site.stretches()
    assert [(one.kind, one.count) for one in found] == [("starting", 2), ("hanging", 2), ("slow", 2), ("good", 2)]


async def test_a_silence_stands_between_two_stretches() -> None:
    """A shutdown of five minutes is shorter than the grace: it is no finding, and seen here."""
    site = Site()
    await site.pinged(GOOD, 2)
    site.clock.advance(240)
    await site.pinged(GOOD)
    assert [(one.count, one.silence) for one in await site.stretches()] == [(2, None), (1, 300.0)]
    (silence,) = (await site.log()).silences
    assert (silence.since, silence.until, silence.seconds) == (START + MINUTE, START + 6 * MINUTE, 300.0)


async def test_a_silence_that_lasts_has_no_end() -> None:
    """It begins with the last ping."""
    site = Site()
    await site.pinged(GOOD)
    site.clock.advance(600)
    (silence,) = (await site.log()).silences
    assert (silence.since, silence.until) == (START, None)


async def test_a_stretch_is_kept_for_three_months_after_its_last_ping() -> None:
    """One that goes on does not end while it does."""
    site = Site()
    await site.pinged(GOOD)
    entry = await site.store.get(site.pings.stretches.key("20260301T120000.000000Z"))
    assert entry
    assert entry.expires_at == START + KEPT
    site.clock.advance(30)
    await site.pinged(GOOD)
    entry = await site.store.get(entry.key)
    assert entry
    assert entry.expires_at == START + KEPT + timedelta(seconds=90)


async def test_a_gateway_that_changes_all_the_time_fills_no_store() -> None:
    """Beyond the most of a day the last stretch takes what comes, and says so; the next day has its own."""
    site = Site()
    for _ in range(MOST_A_DAY // 2 + 5):
        await site.pinged(GOOD)
        await site.pinged(BAD)
    found = await site.stretches()
    assert len(found) == MOST_A_DAY
    assert (found[-1].mixed, found[-1].count, found[-1].state) == (True, 11, "failed")
    site.clock.advance(timedelta(days=1).total_seconds())
    await site.pinged(GOOD)
    assert len(await site.stretches()) == MOST_A_DAY + 1


async def test_a_damaged_stretch_costs_itself_only() -> None:
    """The next ping begins another, and the list names the one that cannot be read."""
    site = Site()
    await site.pinged(GOOD)
    await site.store.commit([Put(site.pings.stretches.key("20260301T120000.000000Z"), b"{")])
    await site.pinged(GOOD, 2)
    log = await site.log()
    assert ([one.count for one in log.stretches], len(log.unreadable)) == ([2], 1)


async def test_the_log_reaches_back_as_far_as_asked() -> None:
    """A stretch that reaches into the time is whole."""
    site = Site()
    await site.pinged(BAD, 3)
    await site.pinged(GOOD, 3)
    assert [one.kind for one in (await site.log(3 * MINUTE)).stretches] == ["good"]
    assert [one.count for one in (await site.log(4 * MINUTE)).stretches] == [3, 3]


async def test_the_log_has_the_sites_pushes_about_the_gateway() -> None:
    """Those of other parts are none of them; one about several parts is."""
    site = Site()
    await site.pinged(GOOD)
    for _ in range(120):
        site.clock.advance(EVERY.total_seconds())
        await site.watch.notify()
    now = site.clock.now()
    both = "mail: x\ngateway cloud: y"
    others = [
        ("Broken: mail", "x"),
        ("Broken: 2 parts", both),
        ("Broken: mail and 1 more", both),
        ("Sold", "gateway"),
    ]
    drafts = [
        OutboxDraft(id=f"{title.partition(':')[0].lower()}-{n}", channel="push", title=title, body=body)
        for n, (title, body) in enumerate(others)
    ]
    await site.store.commit(enqueue(drafts, now))
    pushes = (await site.log()).pushes
    assert [one.title for one in pushes] == ["Broken: gateway", "Broken: 2 parts", "Broken: mail and 1 more"]
    assert (pushes[0].priority, pushes[0].state) == ("urgent", "waiting")
