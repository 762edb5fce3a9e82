"""Every measurement runs, in its smallest form: nothing is asserted of its figures but that they are there."""

import json
from pathlib import Path

import pytest

from bench.measurement import Figure, named, names
from bench.page import IMAGES, PAGE, image, page
from bench.version import CannotBeMeasured, version_of
from tests.support.program import Program
from tests.support.soak import IN_CI
from tests.support.waiting import PATIENCE


@pytest.mark.parametrize("name", names())
def test_a_round_returns_figures_each_beside_one_of_the_same_round(name: str, tmp_path: Path) -> None:
    """A measurement that no longer runs is red here, and not found by the next who needs it."""
    measurement = named(name)
    if why := measurement.refused():
        pytest.skip(why)
    if (lacking := measurement.lacks()) and not IN_CI:
        pytest.skip(f"{lacking}; ./run bench installs it")
    round_of_it = Program(("-m", "bench.round", "--short", name), tmp_path / "printed")
    try:
        assert round_of_it.process.wait(PATIENCE) == 0, round_of_it.printed()
    finally:
        round_of_it.clear_away()
    found = [Figure(**one) for one in json.loads(round_of_it.printed().splitlines()[-1])]
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
