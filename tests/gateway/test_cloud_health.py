"""What the last report of the cloud means: findings, pushes and the panel."""

from datetime import datetime, timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.gateway.causes import WEBHOOK_WARNED_BEFORE
from orrery.gateway.cloud_health import STOPPED_AFTER, CloudHealth
from orrery.gateway.overview import CloudOverview
from orrery.gateway.reports import KEPT, CloudReport, GapState, ReportedGap, ReportedJob, Reports
from orrery.ports.health import Finding
from orrery.runtime.outbox import Outbox
from orrery.runtime.watch import EVERY, OutageWatch
from tests.support.clock import START, ManualClock
from tests.support.tables import each_case

DAY = timedelta(days=1)
WELL = CloudReport(
    at=START,
    power="running",
    health="Available",
    webhook_expires_at=START + 300 * DAY,
    health_alert="on",
    deallocate_alert="on",
    jobs=(ReportedJob(id="1", status="Completed", started_at=START, ended_at=START),),
)


class Site:
    """A site that takes reports."""

    def __init__(self, *, expects: bool = True) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(self.clock)
        self.reports = Reports(self.store, self.clock)
        self.health = CloudHealth(self.reports, self.clock, expects=expects)
        self.watch = OutageWatch(self.store, self.clock, self.health.check)

    async def reported(self, **changes: object) -> None:
        await self.reports.receive(WELL.change(at=self.clock.now(), **changes))

    async def findings(self) -> dict[str, Finding]:
        return {one.part: one for one in await self.health.check()}

    async def looks(self) -> None:
        """Let the watch look for two minutes."""
        for _ in range(12):
            await self.watch.notify()
            self.clock.advance(EVERY.total_seconds())

    async def pushes(self) -> list[tuple[str, str]]:
        rows = [row async for row in Outbox(self.store, self.clock, {}).rows()]
        return [(row.title, row.priority) for row in sorted(rows, key=lambda row: row.created_at)]


async def found(part: str = "gateway cloud", **changes: object) -> Finding:
    """Return the finding about a report that differs from a good one."""
    site = Site()
    await site.reported(**changes)
    return (await site.findings())[part]


async def test_without_a_report_there_is_no_finding() -> None:
    """Most sites have no cloud layer; the panel says so."""
    site = Site()
    assert await site.findings() == {}
    assert (await CloudOverview(site.health, site.clock).panel()).tone == "plain"


async def test_a_good_report_is_ok() -> None:
    """Both parts, and the panel with its figures."""
    site = Site()
    await site.reported()
    assert {one.part: one.state for one in (await site.findings()).values()} == {
        "gateway cloud": "ok",
        "gateway webhook": "ok",
    }
    panel = await CloudOverview(site.health, site.clock).panel()
    assert (panel.tone, panel.rows[0][:3]) == ("good", ("running", "on", "on"))


async def test_an_expected_report_that_stops_is_broken() -> None:
    """After two days; what it said last is still judged."""
    site = Site()
    await site.reported()
    site.clock.advance(STOPPED_AFTER.total_seconds())
    assert (await site.findings())["gateway cloud"].state == "ok"
    site.clock.advance(60)
    finding = (await site.findings())["gateway cloud"]
    assert (finding.state, finding.severity) == ("broken", 4)
    assert finding.why == "No report of the cloud since 2026-03-01 12:00 UTC."


async def test_a_removed_layer_is_forgotten() -> None:
    """A month after the last report there is none."""
    site = Site()
    await site.reported()
    site.clock.advance(KEPT.total_seconds())
    assert await site.findings() == {}


async def test_an_alert_that_is_off_is_broken() -> None:
    """It names which one; without any the gateway is in danger."""
    one = await found(deallocate_alert="missing")
    assert (one.state, one.severity, one.why) == ("broken", 4, "The deallocate alert is missing.")
    assert (await found(health_alert="off", deallocate_alert="off")).severity == 5


@each_case(
    ("statuses", "state"),
    [
        (["Failed"], "broken"),
        (["Running", "Failed", "Completed"], "broken"),
        (["Running", "Completed", "Failed"], "ok"),
        (["Suspended"], "broken"),
        ([], "ok"),
    ],
)
async def test_the_last_job_that_ended_counts(statuses: list[str], state: str) -> None:
    """One that runs is neither good nor bad."""
    jobs = tuple(ReportedJob(id=str(n), status=one, started_at=START) for n, one in enumerate(statuses))
    assert (await found(jobs=jobs)).state == state


async def test_troubles_are_told() -> None:
    """What the cloud layer found by itself is passed on."""
    one = await found(troubles=("role: The identity has no role on the machine.",))
    assert (one.state, one.why) == ("broken", "role: The identity has no role on the machine.")


@pytest.mark.parametrize(
    ("left", "state", "urgent"),
    [
        (WEBHOOK_WARNED_BEFORE + DAY, "ok", False),
        (WEBHOOK_WARNED_BEFORE, "broken", False),
        (timedelta(0), "broken", True),
        (None, "broken", True),
    ],
)
async def test_the_end_of_the_webhook(left: timedelta | None, state: str, urgent: bool) -> None:  # noqa: FBT001  a parameter
    """It is warned of 60 days before; an expired or missing one is a gateway in danger."""
    expires = None if left is None else START + left
    one = await found("gateway webhook", webhook_expires_at=expires)
    assert (one.state, one.severity == 5) == (state, urgent)


async def test_the_webhook_is_warned_of_once_and_hides_nothing() -> None:
    """One push for the two months, another when it has expired; a job that fails meanwhile has its own."""
    site = Site()
    await site.reported(webhook_expires_at=START + 30 * DAY)
    await site.looks()
    await site.reported(webhook_expires_at=START + 30 * DAY)
    await site.looks()
    assert await site.pushes() == [("Broken: gateway webhook", "high")]
    failed = (ReportedJob(id="2", status="Failed", started_at=START),)
    await site.reported(webhook_expires_at=START + 30 * DAY, jobs=failed)
    await site.looks()
    assert await site.pushes() == [("Broken: gateway webhook", "high"), ("Broken: gateway cloud", "high")]
    site.clock.advance((30 * DAY).total_seconds())
    await site.reported(webhook_expires_at=START + 30 * DAY, jobs=failed)
    await site.looks()
    assert (await site.pushes())[2:] == [("Broken: gateway webhook", "urgent")]


def gap(part: str, state: GapState = "unreadable", since: datetime = START) -> ReportedGap:
    return ReportedGap(part=part, state=state, since=since)


@pytest.mark.parametrize(
    ("state", "days", "early"),
    [("unreadable", 0, True), ("unreadable", 3, False), ("not allowed", 0, False)],
)
async def test_what_is_not_known_is_said(state: GapState, days: int, early: bool) -> None:  # noqa: FBT001  a column
    """At once on the page; a push about an answer that could not be read comes after two days of it only."""
    site = Site()
    for _ in range(days + 1):
        await site.reported(unknown=(gap("action group", state, site.clock.now()),))
        site.clock.advance(DAY.total_seconds())
    finding = (await site.findings())["gateway cloud"]
    assert (finding.state, finding.early) == ("broken", early)
    assert f"Not known since 2026-03-01 12:00 UTC: action group ({state})." in finding.why
    panel = await CloudOverview(site.health, site.clock).panel()
    assert f"action group ({state})" in panel.headline


async def test_a_gap_of_a_future_that_was_undone_is_told() -> None:
    """After a clock was put back, a time that lies ahead silences nothing."""
    assert not (await found(unknown=(gap("machine", since=START + 400 * DAY),))).early


async def test_what_was_known_before_is_kept() -> None:
    """One bad minute at the cloud takes away neither the end of the webhook nor the state of an alert."""
    site = Site()
    await site.reported(deallocate_alert="off", webhook_expires_at=START - DAY)
    parts = ("webhook", "deallocate alert", "jobs")
    lost = {"webhook_expires_at": None, "deallocate_alert": "unknown", "jobs": ()}
    await site.reported(**lost, unknown=tuple(map(gap, parts)))
    found = await site.findings()
    assert "expired on 2026-02-28" in found["gateway webhook"].why
    assert "The deallocate alert is off." in found["gateway cloud"].why
    report = await site.health.report()
    assert report
    assert report.jobs == WELL.jobs
    await site.reported(webhook_expires_at=START + DAY, unknown=(gap("action group"),))
    assert "expires on 2026-03-02" in (await site.findings())["gateway webhook"].why  # it was known all the same


@pytest.mark.parametrize("part", ["webhook", "action group"])
async def test_a_webhook_that_was_never_known_is_not_missing(part: str) -> None:
    """No urgent push says that there is none; that it is not known stands beside it."""
    one = await found("gateway webhook", webhook_expires_at=None, unknown=(gap(part),))
    assert (one.state, one.why) == ("ok", "When the webhook expires is not known.")


async def test_a_site_that_takes_no_reports_says_nothing() -> None:
    """Also when one came before."""
    site = Site(expects=False)
    await site.reported()
    assert await site.findings() == {}


async def test_the_panel_shows_what_is_wrong() -> None:
    """Cause and fix, of both parts."""
    site = Site()
    await site.reported(health_alert="off", webhook_expires_at=START - DAY)
    panel = await CloudOverview(site.health, site.clock).panel()
    assert (panel.tone, panel.rows[0][1]) == ("bad", "off")
    assert "The health alert is off." in panel.headline
    assert "expired on 2026-02-28" in panel.headline
    assert "rotate-webhook" in panel.todo
