"""The parameters of the simulation: the specification's by default, and what a file changes."""

from pathlib import Path

import pytest

from orrery.errors import Invalid
from orrery.gateway.simulation.parameters import default_text, read_parameters


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_defaults_are_the_file_that_is_shown(tmp_path: Path) -> None:
    """What --show-parameters prints is what is used without a file."""
    assert read_parameters(written(tmp_path, default_text())) == read_parameters()


def test_a_file_changes_what_it_names(tmp_path: Path) -> None:
    """Everything else stays as it is."""
    changed = read_parameters(written(tmp_path, "[machine]\nunknown_share = 0.5\n"))
    assert changed.machine.unknown_share == 0.5
    assert changed.machine.runs == read_parameters().machine.runs
    assert changed.service == read_parameters().service


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[machine]\nunknown = 1\n", "machine.unknown is wrong: there is none of that name"),
        ("machine = 3\n", "machine is wrong: it is a table"),
        ("[machine]\nruns = [20000, 10000]\n", "machine.runs is wrong: the first of the two is the least"),
        ("[machine]\nruns = [600, 900]\n", "an outage must be over before the next one"),
        (
            "[credentials]\nwarm_share = 70\n",
            "credentials.warm_share is wrong: Input should be less than or equal to 1",
        ),
        ("[machine\n", "mine.toml"),
    ],
)
def test_what_cannot_be_simulated_is_refused(text: str, said: str, tmp_path: Path) -> None:
    """A mistake is named with its place."""
    with pytest.raises(Invalid, match=said.replace(".", r"\.")):
        _ = read_parameters(written(tmp_path, text))


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    """It is never taken for an empty one."""
    with pytest.raises(Invalid, match="cannot be read"):
        _ = read_parameters(tmp_path / "none.toml")
