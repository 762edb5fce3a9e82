"""What many shutdowns come to: the figures, the goal, and the page and the picture that show them."""

import json
from dataclasses import replace

import pytest

from orrery.gateway.simulation.combinations import AS_BUILT, AS_SPECIFIED, CEILING, COMBINATIONS
from orrery.gateway.simulation.limits import limits
from orrery.gateway.simulation.model import Draws, outage_of
from orrery.gateway.simulation.parameters import read_parameters
from orrery.gateway.simulation.picture import bars, svg
from orrery.gateway.simulation.replica import DAY, Cycle
from orrery.gateway.simulation.statistics import Figures, SimulationPlan, quantile, simulated, summed_up
from tests.docs.documents import ROOT
from tests.support.program import run_orrery

PAGE = ROOT / "docs/explanation/what-each-layer-is-worth.md"
PICTURE = ROOT / "docs/images/gateway-layers.svg"
PLAN = SimulationPlan(read_parameters())


@pytest.fixture(scope="module")
def whole() -> list[Figures]:
    """Return what `orrery gateway simulate` shows."""
    return simulated(PLAN)


def of(name: str, found: list[Figures]) -> Figures:
    return next(one for one in found if one.combination == name)


def test_the_figures_of_two_runs() -> None:
    """Availability is the mean of the runs, and ends with them; a job counts for a minute or more."""
    plan = replace(PLAN, days=1, replicas=2)
    draws = Draws(1, 0, False, {"health": 60}, {"health": 5}, 100, 0, 7200)  # noqa: FBT003  a draw
    first = outage_of(draws, AS_SPECIFIED, plan.parameters)
    found = summed_up("x", plan, [[Cycle(1000, draws, first), Cycle(DAY - 95, draws, first)], []])
    down = 30 + 60 + 5 + 100
    assert found.availability == pytest.approx(100 * (1 - (down + 95) / (2 * DAY)))
    assert (found.machine, found.service) == (found.availability, 100)
    assert (found.p50, found.longest) == (down / 60, down / 60)
    assert (found.jobs, found.job_minutes, found.longest_job) == (30, 60, 105 / 60)


def test_a_quantile_is_one_of_the_values() -> None:
    """The value that the share of the others does not exceed; 0 of none."""
    assert [quantile([1, 2, 3, 4], share) for share in (0, 0.5, 0.99, 1)] == [1, 3, 4, 4]
    assert quantile([], 0.5) == 0


def test_the_goal_is_met(whole: list[Figures]) -> None:
    """With all layers and both alerts 99.1 % or more, within 0.1 points of the ceiling; as specified 97.9 %."""
    built, ceiling = of(AS_BUILT.name, whole), of(CEILING.name, whole)
    assert built.availability >= 99.1
    assert ceiling.availability - built.availability <= 0.1
    assert abs(of(AS_SPECIFIED.name, whole).availability - 97.9) <= 0.1


def test_the_page_shows_the_figures(whole: list[Figures]) -> None:
    """The table of the explanation is what the command prints."""
    page = PAGE.read_text(encoding="utf-8")
    rows = [
        f"| {one.combination} | {one.availability:.1f} % | {one.machine:.1f} % | {one.service:.1f} % | "
        f"{one.p50:.0f} min | {one.p99:.0f} min | {one.pushes:.0f} | {one.job_minutes:.0f} |"
        for one in whole
    ]
    assert [row for row in rows if row not in page] == []


def test_the_picture_of_the_page_is_the_commands(whole: list[Figures]) -> None:
    """`--svg` writes the picture that the explanation shows."""
    assert PICTURE.read_text(encoding="utf-8") == svg(whole)


def test_the_picture_has_a_bar_for_each(whole: list[Figures]) -> None:
    """The longest fills its place, and each has its minutes beside it."""
    lines = list(bars(whole))
    assert len(lines) == 1 + len(COMBINATIONS)
    assert lines[1].count("█") == 40
    assert lines[-1].endswith(" min")


def test_limit_worst_case_gateway_outage_after_layer_3(whole: list[Figures]) -> None:
    """From when the credential is there: within the timer's 15 minutes as specified, and 30 s as built."""
    assert of(AS_SPECIFIED.name, whole).late <= 15
    assert of(AS_BUILT.name, whole).late <= 0.5


def test_each_limit_has_its_simulated_figure(whole: list[Figures]) -> None:
    """A limit that is not played is marked."""
    rows = limits(PLAN.parameters, whole)
    assert [row["limit"] for row in rows if row["simulated_as_built"] == "-"] == [
        "measured recovery of a stopped gateway",
        "webhook lifetime",
    ]


def test_the_command_needs_no_settings() -> None:
    """Anywhere, and for a machine: the same seed prints the same."""
    typed = ("gateway", "simulate", "--days", "3", "--replicas", "2", "--json")
    first, second = run_orrery(*typed), run_orrery(*typed)
    assert (first.returncode, first.stdout) == (0, second.stdout)
    assert [one["combination"] for one in json.loads(first.stdout)["combinations"]] == [
        one.name for one in COMBINATIONS
    ]
