"""Every measurement runs, in its smallest form: nothing is asserted of its figures but that they are there."""

import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from bench.measurement import Figure, named, names
from bench.page import IMAGES, PAGE, image, page
from bench.version import CannotBeMeasured, version_of
from tests.support.program import Program
from tests.support.soak import IN_CI
from tests.support.waiting import PATIENCE

Rounds = Mapping[str, Future[str]]
"""What each measurement printed, by its name."""


@pytest.fixture(scope="module")
def rounds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rounds]:
    """Run the measurements that were asked for, side by side: most of each is the start of a service."""
    folder = tmp_path_factory.mktemp("rounds")
    items = [one for one in request.session.items if isinstance(one, pytest.Function) and one.path == request.path]
    asked = [str(one.callspec.params["name"]) for one in items if hasattr(one, "callspec")]
    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        yield {name: pool.submit(printed, name, folder / name) for name in asked if not skipped(name)}


def skipped(name: str) -> str:
    """Return why a measurement cannot be made here, or nothing."""
    measurement = named(name)
    lacking = "" if IN_CI else measurement.lacks()
    return measurement.refused() or (lacking and f"{lacking}; ./run bench installs it")


def printed(name: str, output: Path) -> str:
    """Make the shortest round of a measurement, and return its last line."""
    round_of_it = Program(("-m", "bench.round", "--short", name), output)
    try:
        assert round_of_it.process.wait(PATIENCE) == 0, round_of_it.printed()
    finally:
        round_of_it.clear_away()
    return round_of_it.printed().splitlines()[-1]


@pytest.mark.parametrize("name", names())
def test_a_round_returns_figures_each_beside_one_of_the_same_round(name: str, rounds: Rounds) -> None:
    """A measurement that no longer runs is red here, and not found by the next who needs it."""
    if why := skipped(name):
        pytest.skip(why)
    found = [Figure(**one) for one in json.loads(rounds[name].result())]
    known = [figure.name for figure in found]
    assert known
    assert len(set(known)) == len(known)
    assert [figure for figure in found if not figure.is_plausible] == []
    assert {figure.beside for figure in found} <= {"", *known}


def test_an_older_commit_is_measured_by_its_own_bench() -> None:
    """Its source is what runs, whatever is changed here."""
    assert version_of("HEAD").round("store", "--short")


def test_what_is_no_commit_is_refused() -> None:
    """One sentence says so."""
    with pytest.raises(CannotBeMeasured, match=r"There is no commit 'nothing-of-this-name' here\."):
        version_of("nothing-of-this-name")


def test_the_page_is_what_the_last_rounds_make_it() -> None:
    """Nobody has edited it or an image by hand: `./run bench NAME --write` writes them."""
    assert PAGE.read_text(encoding="utf-8") == page()
    images = {name: image(name) for name in names() if image(name)}
    assert {name: (IMAGES / f"{name}.svg").read_text(encoding="utf-8") for name in images} == images
