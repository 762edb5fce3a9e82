"""One shutdown of the gateway's machine, and how it comes back. Pure: all chance is drawn before.

shutdown ─▶ alert ─▶ job ─▶ the machine runs ─▶ its credential is there ─▶ the gateway answers
                └─ none, or the service was given up: an operator ──────────────────▲
"""

from dataclasses import dataclass, field
from itertools import count
from math import ceil, exp, inf, log
from random import Random
from typing import Literal

from orrery.gateway.simulation.combinations import Alert, Combination
from orrery.gateway.simulation.parameters import Budget, Parameters

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
    machine, credentials = parameters.machine, parameters.credentials
    is_cold = chance.random() >= credentials.warm_share
    cold = exp(log(credentials.cold_median) + credentials.cold_sigma * chance.gauss(0, 1))
    return Draws(
        runs=chance.uniform(*machine.runs),
        elapsed=chance.random(),
        is_unknown=chance.random() < machine.unknown_share,
        alerts={
            "health": chance.uniform(*machine.alert_after),
            "deallocate": chance.uniform(*machine.alert_after),
        },
        jobs={"health": chance.uniform(*machine.job_after), "deallocate": chance.uniform(*machine.job_after)},
        starts_within=chance.uniform(*machine.starts_within),
        credential=cold if is_cold else 0,
        operator=chance.uniform(*parameters.operator.comes_within),
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
    outage.note(parameters.machine.unavailable_after, "reported", "Unknown" if draws.is_unknown else "Unavailable")
    _start_machine(outage, draws, combination, parameters)
    outage.ready = outage.running + draws.credential
    outage.note(outage.ready, "credential")
    _start_service(outage, combination, parameters)
    by_hand = max(outage.running, draws.operator)
    if by_hand < outage.answers:
        outage.note(draws.operator, "operator")
        outage.answers = by_hand
    outage.note(outage.answers, "answers")
    if combination.has_pings and outage.answers > parameters.recovery.grace:
        outage.note(parameters.recovery.grace, "push", "no good ping")
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
            fired[alert] = parameters.machine.deallocated_after + draws.alerts[alert]
        elif not draws.is_unknown:
            fired[alert] = parameters.machine.unavailable_after + draws.alerts[alert]
    return fired


def _job_seconds(until_running: float, parameters: Parameters) -> float:
    every = parameters.machine.poll_every
    return min(ceil(until_running / every) * every, parameters.machine.poll_for)


# Layers 2 and 3


def _start_service(outage: SimulatedOutage, combination: Combination, parameters: Parameters) -> None:
    budget = parameters.service.budget if combination.has_wide_budget else parameters.service.previous_budget
    if combination.restarts == "at once":
        outage.answers = outage.ready
    elif combination.restarts == "timer":
        _start_with_timer(outage, budget, parameters)
    else:
        _start_within_budget(outage, budget, has_hook=combination.has_hook)
        if combination.restarts == "watch" and outage.ready > outage.running:
            outage.answers = min(outage.answers, outage.ready + parameters.recovery.watch_notices)


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
    recovery = parameters.recovery
    attempt, used, given_up = outage.running, 0, False
    for number in count():
        fire = outage.running + recovery.timer_after + number * recovery.timer_every
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
        recent = min(number + 1, int(recovery.flap_within // recovery.timer_every) + 1)
        if attempt < outage.ready or recent >= recovery.flap_fires:
            outage.note(max(attempt, fire), "push", "the recovery failed, or flaps")
