"""What many runs come to: the availability of each combination, its outages, its pushes and its jobs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import fmean, stdev

from orrery.gateway.simulation.combinations import COMBINATIONS, Combination
from orrery.gateway.simulation.parameters import Parameters
from orrery.gateway.simulation.replica import DAY, Cycle, cycles

MONTH = 30
"""Days: what the figures of pushes and jobs are for."""

_MINUTE = 60


@dataclass(frozen=True, slots=True)
class SimulationPlan:
    """What is simulated: `replicas` runs of `days`."""

    parameters: Parameters
    seed: int = 1
    days: int = MONTH
    replicas: int = 600

    @property
    def seconds(self) -> float:
        return self.days * DAY

    @property
    def months(self) -> float:
        return self.days * self.replicas / MONTH


@dataclass(frozen=True, slots=True)
class Figures:
    """One combination. Availabilities are in percent, outages and waits in minutes, counts those of 30 days.

    `machine` is the share of time in which the machine runs (layer 1), `service` that of a running machine in
    which the gateway answers (layers 2 and 3), `error` the standard error of the availability. `late` is the
    longest wait from a credential that is there to an answer; nine in ten recoveries of the machine lie between
    `recoveries`.
    """

    combination: str
    availability: float
    error: float
    machine: float
    service: float
    outages: float
    p50: float
    p90: float
    p99: float
    longest: float
    pushes: float
    jobs: float
    job_minutes: float
    operator: float
    fires: float
    recoveries: tuple[float, float]
    longest_job: float
    most_starts: int
    late: float


def simulated(plan: SimulationPlan, done: Callable[[], None] = lambda: None) -> list[Figures]:
    """Simulate every combination; `done` is called after each run of each."""
    return [_figures(combination, plan, done) for combination in COMBINATIONS]


def _figures(combination: Combination, plan: SimulationPlan, done: Callable[[], None]) -> Figures:
    runs: list[list[Cycle]] = []
    for number in range(plan.replicas):
        runs.append(list(cycles(plan.seed, number, combination, plan.parameters, plan.seconds)))
        done()
    return summed_up(combination.name, plan, runs)


def summed_up(name: str, plan: SimulationPlan, runs: Sequence[Sequence[Cycle]]) -> Figures:
    """Return the figures of some runs."""
    up = [100 * (1 - _down(run, plan.seconds) / plan.seconds) for run in runs]
    running = [100 * (1 - _off(run, plan.seconds) / plan.seconds) for run in runs]
    found = [cycle.outage for run in runs for cycle in run]
    minutes = sorted(outage.answers / _MINUTE for outage in found)
    machine = sorted(outage.running / _MINUTE for outage in found)
    jobs = [job for outage in found for job in outage.jobs]
    events = [event.kind for outage in found for event in outage.events]
    return Figures(
        combination=name,
        availability=fmean(up),
        error=stdev(up) / sqrt(len(up)) if len(up) > 1 else 0,
        machine=fmean(running),
        service=100 * fmean(up) / fmean(running),
        outages=len(found) / plan.months,
        p50=quantile(minutes, 0.5),
        p90=quantile(minutes, 0.9),
        p99=quantile(minutes, 0.99),
        longest=quantile(minutes, 1),
        pushes=events.count("push") / plan.months,
        jobs=len(jobs) / plan.months,
        job_minutes=sum(billed_minutes(job) for job in jobs) / plan.months,
        operator=events.count("operator") / plan.months,
        fires=events.count("fire") / plan.months,
        recoveries=(quantile(machine, 0.05), quantile(machine, 0.95)),
        longest_job=max(jobs, default=0) / _MINUTE,
        most_starts=max((outage.starts for outage in found), default=0),
        late=max((outage.answers - max(outage.ready, outage.running) for outage in found), default=0) / _MINUTE,
    )


def _down(run: Sequence[Cycle], seconds: float) -> float:
    return sum(min(cycle.outage.answers, seconds - cycle.at) for cycle in run)


def _off(run: Sequence[Cycle], seconds: float) -> float:
    return sum(min(cycle.outage.running, seconds - cycle.at) for cycle in run)


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the value that this share of the others does not exceed."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


def billed_minutes(seconds: float) -> int:
    """Return what a job counts for: each minute that was begun, and at least one."""
    return max(1, ceil(seconds / _MINUTE))
