"""The report of a drill, and how it compares with the last one. Pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import TypeAdapter, ValidationError

Fault = Literal["stop", "crash", "exhaust", "hang"]

FAULTS: tuple[Fault, ...] = ("stop", "crash", "exhaust", "hang")

WITHIN: dict[Fault, float] = {"stop": 5.0, "crash": 5.0, "exhaust": 10.0, "hang": 30.0}
"""Seconds from the fault to the first answer of a service that starts at once."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One fault: seconds until the recovery began, and until the service answered; None: it did not.

    `skipped` is the reason why the fault was not made, `started` the seconds of them from the begin of the start.
    """

    fault: Fault
    noticed: float | None = None
    answered: float | None = None
    skipped: str = ""
    started: float | None = None

    @property
    def failed(self) -> bool:
        return self.answered is None and not self.skipped


@dataclass(frozen=True, slots=True)
class DrillReport:
    """A drill: when it began, of which unit, and its trials."""

    at: datetime
    unit: str
    trials: tuple[Trial, ...]


_REPORT = TypeAdapter(DrillReport)


def compared(report: DrillReport, last: DrillReport | None) -> list[dict[str, str]]:
    """Return the lines of a report: seconds as text, `last` from the fault to the answer in the drill before."""
    before = {trial.fault: trial.answered for trial in last.trials} if last else {}
    return [
        {
            "fault": trial.fault,
            "noticed": _seconds(trial.noticed),
            "answered": _seconds(trial.answered),
            "last": _seconds(before.get(trial.fault)),
            "within": _seconds(WITHIN[trial.fault]),
            "result": _result(trial),
        }
        for trial in report.trials
    ]


def rendered(report: DrillReport) -> str:
    """Return a report as JSON."""
    return f"{_REPORT.dump_json(report, indent=2).decode()}\n"


def parsed(text: str) -> DrillReport | None:
    """Return a report that `rendered` wrote, or None for any other text."""
    try:
        return _REPORT.validate_json(text)
    except ValidationError:
        return None


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"


def _result(trial: Trial) -> str:
    if trial.skipped:
        return f"skipped: {trial.skipped}"
    if trial.answered is None:
        return "not recovered"
    return "recovered" if trial.answered <= WITHIN[trial.fault] else "recovered, late"
