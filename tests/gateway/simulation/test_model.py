"""One shutdown, played through by hand-made chance; and what holds for any chance."""

from collections.abc import Generator
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

import pytest

from orrery.gateway.cloud.restart import restart
from orrery.gateway.simulation.combinations import (
    AS_BUILT,
    AS_SPECIFIED,
    CEILING,
    COMBINATIONS,
    LAYER_1,
    LAYERS_1_2,
    OPERATOR_ONLY,
    SECOND_ALERT,
    Combination,
)
from orrery.gateway.simulation.model import Draws, SimulatedOutage, draw, outage_of
from orrery.gateway.simulation.parameters import read_parameters
from orrery.ports.cloud.machine import Look, Reply, SignIn, Start, Step, Wait
from tests.support.simulated_day import one_day

PARAMETERS = read_parameters()
WARM = Draws(
    runs=36_000,
    elapsed=0,
    is_unknown=False,
    alerts={"health": 100, "deallocate": 200},
    jobs={"health": 5, "deallocate": 10},
    starts_within=70,
    credential=0,
    operator=7200,
)


def outage(combination: Combination, **changes: float) -> SimulatedOutage:
    return outage_of(replace(WARM, **changes), combination, PARAMETERS)  # pyright: ignore[reportArgumentType]  a bool is a number


def events(found: SimulatedOutage) -> list[tuple[float, str, str]]:
    return [(event.at, event.kind, event.about) for event in found.events]


def test_an_alert_starts_the_machine() -> None:
    """The health is reported after 30 s, its alert fires, the job starts the machine, and the gateway answers."""
    assert events(outage(AS_SPECIFIED)) == [
        (0, "shutdown", ""),
        (30, "reported", "Unavailable"),
        (130, "alert", "health"),
        (135, "start", ""),
        (135, "job", "health"),
        (205, "running", ""),
        (205, "credential", ""),
        (205, "answers", ""),
        (210, "job-end", "health"),
    ]


def test_without_an_alert_an_operator_comes() -> None:
    """Nobody else starts the machine; the operator stays until the gateway answers."""
    found = outage(OPERATOR_ONLY, credential=5000)
    assert (found.running, found.answers, found.jobs) == (7270, 7270, [])


def test_an_unknown_health_fires_no_alert() -> None:
    """With the health alert alone the operator has to come; the other alert starts the machine."""
    assert outage(AS_SPECIFIED, is_unknown=True).answers == 7270
    assert outage(SECOND_ALERT, is_unknown=True).running == 200 + 10 + 70


def test_the_earlier_alert_starts_the_machine() -> None:
    """The second job finds it running or starting, and ends."""
    found = outage(SECOND_ALERT)
    assert (found.running, found.jobs) == (205, [75, 0])


@pytest.mark.parametrize(
    ("combination", "credential", "answers"),
    [
        (LAYER_1, 100, 205 + 105),
        (LAYER_1, 150, 7200),
        (LAYERS_1_2, 150, 205 + 180),
        (LAYERS_1_2, 1141, 7200),
        (AS_SPECIFIED, 1141, 205 + 1200),
        (AS_BUILT, 150, 205 + 151),
        (AS_BUILT, 1141, 205 + 1142),
        (CEILING, 1141, 205 + 1141),
    ],
    ids=str,
)
def test_a_late_credential(combination: Combination, credential: float, answers: float) -> None:
    """It is waited for by starts, 15 or 60 s apart, until the budget is used up; the timer refills that."""
    assert outage(combination, credential=credential).answers == answers


def test_systemd_gives_up_after_its_budget() -> None:
    """After 20 starts within 30 minutes, one a minute: then it is pushed, and an operator is needed."""
    found = outage(LAYERS_1_2, credential=5000)
    assert [one for one in events(found) if one[0] > 210] == [
        (205 + 1200, "given-up", ""),
        (205 + 1200, "push", "systemd gave up"),
        (205 + 5000, "credential", ""),
        (7200, "operator", ""),
        (7200, "answers", ""),
    ]
    assert found.starts == 20


def test_the_timer_keeps_systemd_from_giving_up() -> None:
    """It refills the budget before that is used up: the hook never fires, and each run that fails is pushed."""
    kinds = [event.kind for event in outage(AS_SPECIFIED, credential=5000).events]
    assert kinds.count("given-up") == 0
    assert (kinds.count("fire"), kinds.count("push")) == (6, 6)


def test_the_site_pushes_an_outage_that_lasts() -> None:
    """Without a good ping for ten minutes there is one push, and the guest's when systemd gives up as well."""
    for credential, pushes in ((300, 0), (400, 1), (2000, 2)):
        events = outage(AS_BUILT, credential=credential).events
        assert [event.kind for event in events].count("push") == pushes


def test_each_combination_is_no_worse_than_the_one_before() -> None:
    """In each shutdown, by the same chance; only layer 2 may wait a minute where 15 seconds had been enough."""
    chance = Random(4)  # noqa: S311  the same each time
    for _ in range(300):
        drawn = draw(chance, PARAMETERS)
        answers = [outage_of(drawn, combination, PARAMETERS).answers for combination in COMBINATIONS[2:]]
        assert answers == sorted(answers, reverse=True), drawn


def test_a_job_takes_as_long_as_the_runbooks_steps() -> None:
    """The model's job ends when `restart` ends, over a machine that takes as long to start."""
    chance = Random(5)  # noqa: S311  the same each time
    for _ in range(100):
        drawn = draw(chance, PARAMETERS)
        found = outage_of(drawn, LAYER_1, PARAMETERS)
        assert drawn.is_unknown or found.jobs == [_seconds_of(restart("", "/a/machine"), drawn.starts_within)]


def _seconds_of(steps: Generator[Step, Reply, str], starts_within: float) -> float:
    passed, running_at, began = 0.0, float("inf"), datetime.fromisoformat("2026-11-23T06:00:00Z")
    reply = Reply(200, began)
    try:
        step = next(steps)
        while True:
            now = began + timedelta(seconds=passed)
            match step:
                case Wait(seconds):
                    passed += seconds
                case SignIn():
                    reply = Reply(200, now)
                case Start():
                    running_at = passed + starts_within
                    reply = Reply(202, now)
                case Look():
                    power = (
                        "running" if passed >= running_at else "starting" if running_at < 1e9 else "deallocated"
                    )
                    reply = Reply(200, now, power)
            step = steps.send(reply)
    except StopIteration:
        return passed


def test_a_day_is_the_same_each_time() -> None:
    """A seed is a day; its events come in their order, and its draws are those of every combination."""
    day = one_day(3)
    assert day == one_day(3)
    assert day != one_day(4)
    assert [event.at for event in day.events] == sorted(event.at for event in day.events)
    assert day.cycles[0].draws == one_day(3, LAYER_1).cycles[0].draws
    assert 2 <= len(day.cycles) <= 3
