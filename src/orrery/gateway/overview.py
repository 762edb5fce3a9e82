"""The gateway's panels on the owner's page: its service by the last ping, the cloud by its last report."""

from dataclasses import dataclass
from datetime import timedelta

from orrery.gateway.cloud_health import CloudHealth, findings
from orrery.gateway.health import GatewayHealth, ago
from orrery.gateway.records import LastPing
from orrery.gateway.reports import CloudReport, ReportedOutage
from orrery.ports.clock import Clock
from orrery.ports.health import URGENT, Finding
from orrery.ports.panels import Panel, Tone, utc_text

TITLE, CLOUD_TITLE = "Gateway", "Gateway's cloud"

_COLUMNS = ("State", "Since", "Restarts", "Probe", "Last ping")
_ANSWERS = {"": "-", "none": "no answer"}


@dataclass(frozen=True, slots=True)
class GatewayOverview:
    """Reads the store only."""

    health: GatewayHealth
    clock: Clock

    async def panel(self) -> Panel:
        look = await self.health.look()
        last = look.last
        rows = (self._cells(last),) if last and last.at else ()
        columns = _COLUMNS if rows else ()
        return Panel(TITLE, look.finding.why, _tone(look.finding), look.finding.todo, columns, rows)

    def _cells(self, last: LastPing) -> tuple[str, ...]:
        now = self.clock.now()
        at = last.at or now
        state = f"{last.state} ({last.sub_state})" if last.sub_state else last.state
        return state, _since(last), str(last.restarts), _ANSWERS.get(last.probe, last.probe), ago(at, now)


def _tone(finding: Finding) -> Tone:
    if finding.state == "broken":
        return "attention" if finding.early else "bad"
    return "plain" if finding.state == "off" else "good"


def _since(last: LastPing) -> str:
    if last.trouble_since:
        return utc_text(last.trouble_since)
    if last.at is None or last.active_seconds is None:
        return "-"
    return utc_text(last.at - timedelta(seconds=last.active_seconds))


_CLOUD_COLUMNS = (
    "Machine",
    "Health alert",
    "Deallocate alert",
    "Webhook until",
    "Last job",
    "Last outage",
    "Report",
)


@dataclass(frozen=True, slots=True)
class CloudOverview:
    """Reads the store only."""

    health: CloudHealth
    clock: Clock

    async def panel(self) -> Panel:
        report = await self.health.report()
        if report is None:
            return Panel(CLOUD_TITLE, "No report of the cloud has come.")
        found = list(findings(report, self.clock.now()))
        wrong = [one for one in found if one.state == "broken"]
        shown = wrong or found[:1]
        headline, todo = (" ".join(texts) for texts in ([one.why for one in shown], [one.todo for one in wrong]))
        tone: Tone = "bad" if any(one.severity == URGENT for one in wrong) else "attention" if wrong else "good"
        return Panel(CLOUD_TITLE, headline, tone, todo, _CLOUD_COLUMNS, (_cloud_cells(report),))


def _cloud_cells(report: CloudReport) -> tuple[str, ...]:
    expires, job = report.webhook_expires_at, next(iter(report.jobs), None)
    return (
        report.power,
        report.health_alert,
        report.deallocate_alert,
        utc_text(expires) if expires else "-",
        f"{job.status}, {utc_text(job.started_at)}" if job else "-",
        _outage(report.last_outage),
        utc_text(report.at),
    )


def _outage(last: ReportedOutage | None) -> str:
    if last is None:
        return "-"
    began = utc_text(last.began_at)
    if last.ended_at is None:
        return f"{began}, not over"
    minutes = (last.ended_at - last.began_at).total_seconds() / 60
    by = f", ended by {last.ended_by}" if last.ended_by else ""
    return f"{began}, {minutes:.1f} min{by}"
