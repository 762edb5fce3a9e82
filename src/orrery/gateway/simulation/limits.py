"""The figures of the specification's limits, each beside what was simulated."""

from collections.abc import Sequence

from orrery.gateway.simulation.combinations import AS_BUILT, AS_SPECIFIED
from orrery.gateway.simulation.parameters import Budget, Parameters
from orrery.gateway.simulation.statistics import Figures

_NOT_PLAYED = "-"
_MINUTE = 60


def limits(parameters: Parameters, found: Sequence[Figures]) -> list[dict[str, str]]:
    """Return a row for each limit. What is an assumption stands with a `=`: the simulation was given it."""
    by_name = {figures.combination: figures for figures in found}
    specified, built = by_name[AS_SPECIFIED.name], by_name[AS_BUILT.name]
    columns = ("limit", "spec", "simulated_as_specified", "simulated_as_built")
    return [dict(zip(columns, row, strict=True)) for row in _rows(parameters, specified, built)]


def _rows(parameters: Parameters, specified: Figures, built: Figures) -> list[tuple[str, str, str, str]]:
    machine, recovery = parameters.machine, parameters.recovery
    alert = f"= {_minutes(machine.alert_after[0])} to {_minutes(machine.alert_after[1])} min"
    budget = f"= {_budget(parameters.service.budget)}; most after one boot: "
    return [
        ("alert delay", "1 to 5 min", alert, alert),
        ("total VM recovery, nine in ten", "3 to 7 min", _recovery(specified), _recovery(built)),
        (
            "runbook poll",
            "every 15 s, up to 4 min",
            f"= {machine.poll_every:g} s; longest {specified.longest_job:.1f} min",
            f"= {machine.poll_every:g} s; longest {built.longest_job:.1f} min",
        ),
        (
            "service start budget",
            "20 starts per 1800 s, RestartSec 60",
            f"{budget}{specified.most_starts}",
            f"{budget}{built.most_starts}",
        ),
        (
            "recovery timer",
            "30 s after boot, then every 15 min",
            f"= {recovery.timer_after:g} s, {_minutes(recovery.timer_every)} min; {specified.fires:.0f} fires",
            f"the watch, within {recovery.watch_notices:g} s; {built.fires:.0f} fires",
        ),
        (
            "worst-case gateway outage after layer 3, once its credential is there",
            "about 15 min; about 30 s for boot failures",
            f"{specified.late * _MINUTE:.0f} s after a boot",
            f"{built.late * _MINUTE:.0f} s after a boot",
        ),
        ("measured recovery of a stopped gateway", "8.56 s", _NOT_PLAYED, _NOT_PLAYED),
        (
            "flap threshold",
            "3 fires within 1 hour",
            f"{specified.pushes:.1f} pushes a month",
            f"{built.pushes:.1f} pushes a month",
        ),
        (
            "runbook cost, job-minutes a month",
            "500 free; expected about 270",
            f"{specified.job_minutes:.0f}",
            f"{built.job_minutes:.0f}",
        ),
        ("webhook lifetime", "1 year", _NOT_PLAYED, _NOT_PLAYED),
        ("webhook calls a month", "free up to 100,000", f"{specified.jobs:.0f}", f"{built.jobs:.0f}"),
    ]


def _recovery(figures: Figures) -> str:
    low, high = figures.recoveries
    return f"{low:.1f} to {high:.1f} min"


def _budget(budget: Budget) -> str:
    return f"{budget.starts} per {budget.within:g} s, {budget.every:g} s apart"


def _minutes(seconds: float) -> str:
    return f"{seconds / _MINUTE:g}"
