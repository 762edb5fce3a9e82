"""Whether the gateway's machine would be started again, by the last report of the cloud."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from orrery.errors import StoreError
from orrery.gateway.causes import WEBHOOK_WARNED_BEFORE
from orrery.gateway.reports import WEBHOOK_PARTS, CloudReport, Reports
from orrery.ports.clock import Clock
from orrery.ports.health import URGENT, Finding, Severity

PART, WEBHOOK = "gateway cloud", "gateway webhook"
"""The webhook is its own part: a warning of two months must not hide a failure that comes meanwhile."""

STOPPED_AFTER = timedelta(days=2)
"""Reports come each hour: without one for so long they have stopped."""

_FAILED = frozenset({"failed", "suspended", "stopped"})
_COMPLETED = "completed"
_APPLY = "Type `orrery gateway cloud apply`."
_ROTATE = "Type `orrery gateway cloud rotate-webhook`."
_DOCTOR = "Type `orrery gateway cloud doctor` where the cloud layer is set up."


@dataclass(frozen=True, slots=True)
class CloudReason:
    """Something that is wrong, and what to do. What is `early` may pass by itself, and is not pushed."""

    why: str
    todo: str
    severity: Severity = 4
    early: bool = False


@dataclass(frozen=True, slots=True)
class CloudHealth:
    """The check of the cloud layer: no finding before the first report."""

    reports: Reports
    clock: Clock
    expects: bool

    async def check(self) -> list[Finding]:
        """Return the findings; nothing when the store fails, which has its own finding."""
        try:
            report = await self.report()
        except StoreError:
            return []
        return [*findings(report, self.clock.now())] if report else []

    async def report(self) -> CloudReport | None:
        """Return the last report, where any are taken."""
        return await self.reports.find() if self.expects else None


def findings(report: CloudReport, now: datetime) -> Iterator[Finding]:
    """Yield the findings of a report now."""
    yield _finding(PART, list(_reasons(report, now)), _well(report))
    expires, is_known = report.webhook_expires_at, WEBHOOK_PARTS.isdisjoint(gap.part for gap in report.unknown)
    well = f"The webhook expires on {expires:%Y-%m-%d}." if expires else "When the webhook expires is not known."
    yield _finding(WEBHOOK, list(_of_webhook(expires, now)) if expires or is_known else [], well)


def _finding(part: str, reasons: list[CloudReason], well: str) -> Finding:
    if not reasons:
        return Finding(part, "ok", well, essential=False)
    why = " ".join(one.why for one in reasons)
    todo = " ".join(dict.fromkeys(one.todo for one in reasons))
    severity: Severity = URGENT if any(one.severity == URGENT for one in reasons) else 4
    early = all(one.early for one in reasons)
    return Finding(part, "broken", why, todo, essential=False, severity=severity, early=early)


def _well(report: CloudReport) -> str:
    return f"Both alerts are on; the machine was {report.power} on {_clock_time(report.at)}."


def _reasons(report: CloudReport, now: datetime) -> Iterator[CloudReason]:
    # After a clock was put back, `at` may be years ahead: that must not silence anything.
    if abs(now - report.at) > STOPPED_AFTER:
        yield CloudReason(
            f"No report of the cloud since {_clock_time(report.at)}.",
            "See why `orrery gateway cloud report` is not run each hour, or fails.",
        )
    alerts = {"health": report.health_alert, "deallocate": report.deallocate_alert}
    wrong = {name: state for name, state in alerts.items() if state in {"off", "missing"}}
    for name, state in wrong.items():
        yield CloudReason(
            f"The {name} alert is {state}.", _APPLY, severity=URGENT if len(wrong) == len(alerts) else 4
        )
    yield from _of_jobs(report)
    for trouble in report.troubles:
        yield CloudReason(trouble, _DOCTOR)
    for gap in report.unknown:
        why = f"Not known since {_clock_time(gap.since)}: {gap.part} ({gap.state})."
        yield CloudReason(why, _DOCTOR, early=gap.state == "unreadable" and abs(now - gap.since) <= STOPPED_AFTER)


def _of_jobs(report: CloudReport) -> Iterator[CloudReason]:
    over = (job for job in report.jobs if job.status.lower() in {*_FAILED, _COMPLETED})
    last = next(over, None)
    if last and last.status.lower() in _FAILED:
        why = f"The last job of the runbook, of {_clock_time(last.started_at)}, ended as {last.status}."
        yield CloudReason(
            why, "`orrery gateway cloud status` shows why; `orrery gateway start` starts the machine."
        )


def _of_webhook(expires: datetime | None, now: datetime) -> Iterator[CloudReason]:
    if expires is None:
        yield CloudReason(
            "There is no webhook: alerts fire, and the runbook does not run.", _APPLY, severity=URGENT
        )
    elif expires <= now:
        why = f"The webhook expired on {expires:%Y-%m-%d}: alerts fire, and the runbook does not run."
        yield CloudReason(why, _ROTATE, severity=URGENT)
    elif expires - now <= WEBHOOK_WARNED_BEFORE:
        yield CloudReason(
            f"The webhook expires on {expires:%Y-%m-%d}; after that no alert starts the machine.", _ROTATE
        )


def _clock_time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
