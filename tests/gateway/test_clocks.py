"""Which clock each time in the gateway comes from, and what a wall clock that jumps does to a site."""

import ast
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from orrery.adapters.memory import MemoryStore
from orrery.gateway.causes import Ping
from orrery.gateway.health import GatewayHealth
from orrery.gateway.overview import GatewayOverview
from orrery.gateway.ping_log import PingLogs
from orrery.gateway.pings import GatewayPlan, Pings
from orrery.gateway.reports import Reports
from orrery.runtime.outbox import Outbox
from orrery.runtime.watch import EVERY, OVER_AFTER, OutageWatch
from tests.support.clock import WallClock
from tests.support.tables import each_case

GATEWAY = Path(__file__).resolve().parents[2] / "src/orrery/gateway"
SCRIPTS = sorted(file for file in (GATEWAY / "guest/files").iterdir() if file.suffix in {".sh", ".lib"})

OTHER_CLOCKS = {
    "a program that tells the time": r"\b(date|uptime|hwclock|timedatectl|busybox date)\b(?!=)",
    "a variable of the shell": r"\b(EPOCH\w*|SECONDS)\b",
    "a file's time": r"-newer|-[acm](min|time)\b|\bstat -|\btouch -",
    "a wall-clock time of systemd": r"\w+Timestamp\b(?!Monotonic)",
    "a clock read elsewhere": r"/proc/uptime|/proc/self/stat|boot_id",
}
"""What the scripts could read a time from, beside `clock`."""

MAY = {"recover.lib": {"clock", "read_clock", "started"}}
"""The functions of the scripts that read the one clock."""


@each_case("script", SCRIPTS)
def test_the_scripts_have_one_clock(script: Path) -> None:
    """No line of a script takes a time from anything but the function that reads CLOCK_BOOTTIME."""
    function, found = "", list[str]()
    for number, line in enumerate(script.read_text().splitlines(), 1):
        function = match[1] if (match := re.match(r"(\w+)\(\) \{", line)) else function
        code = line.partition("# ")[0]
        for what, pattern in OTHER_CLOCKS.items():
            if re.search(pattern, code) and function not in MAY.get(script.name, ()):
                found.append(f"line {number}: {what}: {line.strip()}")
    assert found == []


WALL_CLOCK = {"now", "wall_clock", "modified_at", "units_read_at"}
"""The methods that read the wall clock, or a time that was taken from it."""

READERS = {
    "cli/cloud.py doctor": "pings from a file, whose times another machine has written",
    "cli/cloud.py report": "how far back the cloud's own log is asked",
    "cli/cloud.py pause": "the runbook reads the end of the pause on another machine",
    "cli/start.py _tried": "beside the end of the pause, which another machine has written",
    "cli/start.py _taken": "beside the end of the pause, which another machine has written",
    "cli/timeline.py command": "how far back the cloud and a journal are asked",
    "cloud/asking.py activity": "the end of what the cloud's own log is asked for",
    "cloud/asking.py survey": "beside the times at which the cloud made its webhooks, and their end",
    "cloud/provision.py _put_webhook": "the webhook ends on a day, at the cloud",
    "cloud_health.py check": "days since the last report, and until the webhook ends",
    "guest/drill.py kept_report": "shown, and names the report's file",
    "guest/examination.py _unread": "two readings of the past, as systemd compares them; names a file",
    "guest/host.py wall_clock": "is the wall clock",
    "health.py look": "beside the last ping's times, which are moved along when it jumps",
    "overview.py _cells": "beside the last ping's times, which are moved along when it jumps",
    "overview.py panel": "days since the last report, and until the webhook ends",
    "ping_log.py read": "the store's times, as another process has kept them",
    "pings.py _first": "kept over a restart",
    "pings.py attempt": "kept over a restart",
    "pings.py jump": "measures its jumps by the monotonic clock",
    "routes.py _report": "shown; counted in days",
}
"""Each place that reads the wall clock, and why it may."""


def _readers() -> Iterator[str]:
    for file in GATEWAY.rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text())):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and function.name != "receive":
                calls = [one.func for one in ast.walk(function) if isinstance(one, ast.Call)]
                if any(isinstance(one, ast.Attribute) and one.attr in WALL_CLOCK for one in calls):
                    yield f"{file.relative_to(GATEWAY)} {function.name}"


def test_each_reader_of_the_wall_clock_has_its_reason() -> None:
    """A new place that reads it is a decision: a length of time is measured by another clock."""
    assert set(_readers()) == set(READERS)


MINUTE = timedelta(minutes=1)
GRACE = 10 * MINUTE
GOOD, BAD = Ping("active", "200", active_seconds=60), Ping("failed", "", "failed", "exit-code", 1)
JUMPS = [timedelta(hours=5), timedelta(hours=-5), timedelta(days=-4000), timedelta(days=60), -8 * MINUTE]


class Site:
    """A site that is pinged, and whose wall clock may jump."""

    def __init__(self) -> None:
        self.clock = WallClock()
        self.store = MemoryStore(self.clock)
        self.plan = GatewayPlan(expects=True, has_token=True, grace=GRACE)
        self.start()

    def start(self) -> None:
        self.pings = Pings(self.store, self.clock, self.plan)
        self.health = GatewayHealth(self.pings, self.clock, self.plan)
        self.watch = OutageWatch(self.store, self.clock, self.health.check)

    async def passes(self, time: timedelta, ping: Ping | None = None) -> list[str]:
        """Let time pass under the watch, with a ping each minute or in silence; return what was found."""
        found: list[str] = []
        for second in range(0, int(time.total_seconds()), int(EVERY.total_seconds())):
            if ping and second % 60 == 0:
                await self.pings.receive(ping)
            await self.watch.notify()
            found += [one.state for one in await self.health.check()]
            self.clock.advance(EVERY.total_seconds())
        return found

    async def told(self) -> list[str]:
        """Return the titles of the pushes."""
        rows = [row async for row in Outbox(self.store, self.clock, {}).rows()]
        return [row.title.partition(":")[0] for row in rows]


@each_case("jump", JUMPS)
async def test_a_jump_of_the_wall_clock_is_no_silence(jump: timedelta) -> None:
    """No finding, no push, no silence in the list, and the right age of the ping; nor when it jumps back."""
    site = Site()
    await site.passes(5 * MINUTE, GOOD)
    for by in (jump, -jump):
        site.clock.put(by)
        panel = await GatewayOverview(site.health, site.clock).panel()
        assert (panel.tone, panel.rows[0][-1]) == ("good", "60 s ago")
        assert set(await site.passes(5 * MINUTE, GOOD)) == {"ok"}
        log = await PingLogs(site.pings, Reports(site.store, site.clock), site.clock).read(timedelta(days=1))
        assert [one.silence for one in log.stretches] == [None]
        assert log.silences == []
    assert await site.told() == []


@each_case("jump", JUMPS)
async def test_a_silence_is_told_after_its_grace_whatever_the_wall_clock_says(jump: timedelta) -> None:
    """Neither sooner nor later."""
    site = Site()
    await site.passes(5 * MINUTE, GOOD)
    await site.passes(GRACE / 2)
    site.clock.put(jump)
    await site.passes(GRACE / 2 - 2 * MINUTE)
    assert await site.told() == []
    await site.passes(4 * MINUTE)
    assert await site.told() == ["Broken"]


@each_case("jump", JUMPS)
async def test_a_bad_ping_is_told_after_the_grace_whatever_the_wall_clock_says(jump: timedelta) -> None:
    """The guest has as long to repair it as without the jump."""
    site = Site()
    await site.passes(5 * MINUTE, GOOD)
    await site.passes(GRACE / 2, BAD)
    site.clock.put(jump)
    await site.passes(GRACE / 2 - 2 * MINUTE, BAD)
    assert await site.told() == []
    await site.passes(4 * MINUTE, BAD)
    assert await site.told() == ["Broken"]


@each_case("jump", JUMPS)
async def test_a_site_that_starts_with_a_wrong_clock_listens_first(jump: timedelta) -> None:
    """What it finds in its store is of another time; its first ping comes within a minute."""
    site = Site()
    await site.passes(5 * MINUTE, GOOD)
    site.clock.put(jump)
    site.start()
    await site.passes(MINUTE)
    site.clock.put(-jump)
    await site.passes(OVER_AFTER, GOOD)
    assert await site.told() == []
