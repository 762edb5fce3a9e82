"""Months of shutdowns of the gateway's machine: what each combination of layers is worth.

shutdown ─▶ alert ─▶ job ─▶ the machine runs ─▶ its credential is there ─▶ the gateway answers
                └─ no alert, or systemd gave up: an operator ───────────────────▲

The same seed gives the same figures. `docs/explanation/what-each-layer-is-worth.md` reads them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import ceil, exp, inf, log, sqrt
from random import Random
from statistics import fmean, stdev
from typing import Literal

from orrery.gateway.simulation_parameters import Budget, Parameters

Alert = Literal["health", "deallocate"]
Restarts = Literal["budget", "timer", "watch", "at once"]
"""What starts a service whose credential was missing: systemd within its budget, the timer as well, the watch when
the credential is there; or something that takes no time, which is the ceiling."""

BOTH: tuple[Alert, ...] = ("health", "deallocate")
DAY, MINUTE = 86_400.0, 60


@dataclass(frozen=True, slots=True)
class Combination:
    """One row. `has_hook`: systemd's giving up is pushed; `has_pings`: the site pushes an outage that lasts."""

    name: str
    alerts: tuple[Alert, ...] = ()
    restarts: Restarts = "budget"
    has_wide_budget: bool = False
    has_hook: bool = False
    has_pings: bool = False


COMBINATIONS = (
    Combination("operator only"),
    Combination("layer 1", ("health",)),
    Combination("layers 1 and 2", ("health",), has_wide_budget=True, has_hook=True),
    Combination("layers 1 to 3, as specified", ("health",), "timer", has_wide_budget=True, has_hook=True),
    Combination("and the deallocate alert", BOTH, "timer", has_wide_budget=True, has_hook=True),
    Combination("as built, both alerts", BOTH, "watch", has_wide_budget=True, has_hook=True, has_pings=True),
    Combination("ceiling", BOTH, "at once"),
)
"""Each adds to the one before; none is better than the last."""


Kind = Literal[
    "shutdown",
    "reported",
    "alert",
    "job",
    "start",
    "running",
    "job-end",
    "credential",
    "given-up",
    "fire",
    "operator",
    "answers",
    "push",
]


@dataclass(frozen=True, slots=True)
class SimulatedEvent:
    """What happened, and when; `about` is which alert, or why."""

    at: float
    """Seconds after the shutdown; in a day, after its beginning."""

    kind: Kind
    about: str = ""


@dataclass(frozen=True, slots=True)
class Draws:
    """What chance decides in one cycle of the machine, in seconds: the same for every combination.

    `elapsed` is the share of `runs` that is over already when a simulation begins in this cycle.
    """

    runs: float
    elapsed: float
    is_unknown: bool
    alerts: dict[Alert, float]
    jobs: dict[Alert, float]
    starts_within: float
    credential: float
    operator: float


def draw(chance: Random, parameters: Parameters) -> Draws:
    """Draw one cycle, always the same numbers in the same order."""
    is_cold = chance.random() >= parameters.warm_share
    cold = exp(log(parameters.cold_median) + parameters.cold_sigma * chance.gauss(0, 1))
    return Draws(
        runs=chance.uniform(*parameters.runs),
        elapsed=chance.random(),
        is_unknown=chance.random() < parameters.unknown_share,
        alerts={
            "health": chance.uniform(*parameters.alert_after),
            "deallocate": chance.uniform(*parameters.alert_after),
        },
        jobs={
            "health": chance.uniform(*parameters.job_after),
            "deallocate": chance.uniform(*parameters.job_after),
        },
        starts_within=chance.uniform(*parameters.starts_within),
        credential=cold if is_cold else 0,
        operator=chance.uniform(*parameters.comes_within),
    )


@dataclass(slots=True)
class SimulatedOutage:
    """One shutdown until the gateway answers again, in seconds since the shutdown."""

    running: float = inf
    ready: float = inf
    answers: float = inf
    starts: int = 1
    jobs: list[float] = field(default_factory=list[float])
    events: list[SimulatedEvent] = field(default_factory=list[SimulatedEvent])

    def note(self, at: float, kind: Kind, about: str = "") -> None:
        self.events.append(SimulatedEvent(at, kind, about))


def outage_of(draws: Draws, combination: Combination, parameters: Parameters) -> SimulatedOutage:
    """Play one shutdown through."""
    outage = SimulatedOutage()
    outage.note(0, "shutdown")
    outage.note(parameters.unavailable_after, "reported", "Unknown" if draws.is_unknown else "Unavailable")
    _start_machine(outage, draws, combination, parameters)
    outage.ready = outage.running + draws.credential
    outage.note(outage.ready, "credential")
    _start_service(outage, combination, parameters)
    by_hand = max(outage.running, draws.operator)
    if by_hand < outage.answers:
        outage.note(draws.operator, "operator")
        outage.answers = by_hand
    outage.note(outage.answers, "answers")
    if combination.has_pings and outage.answers > parameters.grace:
        outage.note(parameters.grace, "push", "no good ping")
    outage.events = sorted((one for one in outage.events if _counts(one, outage)), key=lambda one: one.at)
    return outage


def _counts(event: SimulatedEvent, outage: SimulatedOutage) -> bool:
    """Return whether an event came to pass: after the gateway answers, its recovery does nothing."""
    return event.at <= outage.answers or event.kind in {"alert", "job", "job-end"}


# Layer 1


def _start_machine(
    outage: SimulatedOutage, draws: Draws, combination: Combination, parameters: Parameters
) -> None:
    called: dict[Alert, float] = {
        alert: at + draws.jobs[alert] for alert, at in _alerts(draws, combination, parameters).items()
    }
    if not called:
        outage.note(draws.operator, "start")
        outage.running = draws.operator + draws.starts_within
    else:
        first = min(called.values())
        outage.note(first, "start")
        outage.running = first + draws.starts_within
    outage.note(outage.running, "running")
    for alert, job in called.items():
        outage.note(job - draws.jobs[alert], "alert", alert)
        outage.note(job, "job", alert)
        lasts = _job_seconds(max(0, outage.running - job), parameters)
        outage.note(job + lasts, "job-end", alert)
        outage.jobs.append(lasts)


def _alerts(draws: Draws, combination: Combination, parameters: Parameters) -> dict[Alert, float]:
    """Return when each alert fires: the one on the health never, when that is Unknown."""
    fired: dict[Alert, float] = {}
    for alert in combination.alerts:
        if alert == "deallocate":
            fired[alert] = parameters.deallocated_after + draws.alerts[alert]
        elif not draws.is_unknown:
            fired[alert] = parameters.unavailable_after + draws.alerts[alert]
    return fired


def _job_seconds(until_running: float, parameters: Parameters) -> float:
    every = parameters.poll_every
    return min(ceil(until_running / every) * every, parameters.poll_for)


# Layers 2 and 3


def _start_service(outage: SimulatedOutage, combination: Combination, parameters: Parameters) -> None:
    budget = parameters.budget if combination.has_wide_budget else parameters.previous_budget
    if combination.restarts == "at once":
        outage.answers = outage.ready
    elif combination.restarts == "timer":
        _start_with_timer(outage, budget, parameters)
    else:
        _start_within_budget(outage, budget, has_hook=combination.has_hook)
        if combination.restarts == "watch" and outage.ready > outage.running:
            outage.answers = min(outage.answers, outage.ready + parameters.watch_notices)


def _start_within_budget(outage: SimulatedOutage, budget: Budget, *, has_hook: bool) -> None:
    """Start it again and again, until its credential is there or systemd gives up."""
    failed = ceil((outage.ready - outage.running) / budget.every)
    given_up = budget.is_exhausted_after
    if given_up is None or failed < budget.starts:
        outage.answers, outage.starts = outage.running + failed * budget.every, failed + 1
        return
    outage.starts = budget.starts
    outage.note(outage.running + given_up, "given-up")
    if has_hook:
        outage.note(outage.running + given_up, "push", "systemd gave up")


def _start_with_timer(outage: SimulatedOutage, budget: Budget, parameters: Parameters) -> None:
    """The timer refills the budget each time: so systemd hardly ever gives up, and its hook never fires.

    Its `start` waits for the next attempt; a run whose attempt fails, or that makes a flap, is pushed.
    """
    attempt, used, given_up = outage.running, 0, False
    for number in count():
        fire = outage.running + parameters.timer_after + number * parameters.timer_every
        while not given_up and attempt < fire:
            if attempt >= outage.ready:
                outage.answers = attempt
                return
            outage.starts, used, attempt = outage.starts + 1, used + 1, attempt + budget.every
            if used == budget.starts and budget.is_exhausted_after is not None:
                given_up = True
                outage.note(attempt, "given-up")
                outage.note(attempt, "push", "systemd gave up")
        outage.note(fire, "fire")
        if given_up:
            attempt, given_up = fire, False
        used = 0
        recent = min(number + 1, int(parameters.flap_within // parameters.timer_every) + 1)
        if attempt < outage.ready or recent >= parameters.flap_fires:
            outage.note(max(attempt, fire), "push", "the recovery failed, or flaps")


@dataclass(frozen=True, slots=True)
class Cycle:
    """A machine that was shut down `at` that second, what chance had drawn for it, and how it came back."""

    at: float
    draws: Draws
    outage: SimulatedOutage


def cycles(
    seed: int, number: int, combination: Combination, parameters: Parameters, seconds: float
) -> Iterator[Cycle]:
    """Yield the shutdowns of one run. Chance is the same in the n-th shutdown of every combination."""
    chance = Random(f"{seed}:{number}")  # noqa: S311  a simulation wants the same numbers again
    draws = draw(chance, parameters)
    at = draws.runs * (1 - draws.elapsed)
    while at < seconds:
        outage = outage_of(draws, combination, parameters)
        yield Cycle(at, draws, outage)
        draws = draw(chance, parameters)
        at += outage.running + draws.runs


@dataclass(frozen=True, slots=True)
class Figures:
    """One combination. Availabilities are in percent, outages in minutes, counts those of 30 days.

    `machine` is the share of time in which the machine runs (layer 1), `service` that of a running machine in
    which the gateway answers (layers 2 and 3), `error` the standard error of the availability.
    """

    combination: str
    availability: float
    error: float
    machine: float
    service: float
    p50: float
    p99: float
    pushes: float
    job_minutes: float


def figures(
    combination: Combination,
    parameters: Parameters,
    *,
    seed: int = 1,
    days: int = 30,
    replicas: int = 600,
    done: Callable[[], None] = lambda: None,
) -> Figures:
    """Return the figures of `replicas` runs of `days`; `done` is called after each run."""
    seconds, months = days * DAY, days * replicas / 30
    runs: list[list[Cycle]] = []
    for number in range(replicas):
        runs.append(list(cycles(seed, number, combination, parameters, seconds)))
        done()
    up = [100 * (1 - sum(min(one.outage.answers, seconds - one.at) for one in run) / seconds) for run in runs]
    running = [100 * (1 - sum(min(one.outage.running, seconds - one.at) for one in run) / seconds) for run in runs]
    outages = [cycle.outage for run in runs for cycle in run]
    minutes = sorted(outage.answers / MINUTE for outage in outages)
    return Figures(
        combination=combination.name,
        availability=fmean(up),
        error=stdev(up) / sqrt(len(up)) if len(up) > 1 else 0,
        machine=fmean(running),
        service=100 * fmean(up) / fmean(running),
        p50=quantile(minutes, 0.5),
        p99=quantile(minutes, 0.99),
        pushes=sum(event.kind == "push" for outage in outages for event in outage.events) / months,
        job_minutes=sum(max(1, ceil(job / MINUTE)) for outage in outages for job in outage.jobs) / months,
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the value that this share of the others does not exceed."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0
