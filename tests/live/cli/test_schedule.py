"""The command that prints or writes ready files (issue 3, item 6)."""

from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from orrery.errors import Invalid
from orrery.live.cli.live import group
from orrery.live.schedules import Kind, ready_files

BASE = "https://counter.example.org"


def texts(kind: Kind) -> dict[str, str]:
    """Return the ready files of a kind by their names."""
    return {file.name: file.text for file in ready_files(kind, BASE)}


@pytest.mark.parametrize("kind", get_args(Kind))
def test_the_files_are_written_once(kind: Kind, tmp_path: Path) -> None:
    """The command writes the ready files into a folder that it makes, and never overwrites one of them."""
    folder = tmp_path / "made" / "new"
    arguments = ["schedule", kind, "--base-url", BASE, "--output", str(folder)]
    assert CliRunner().invoke(group, arguments).exit_code == 0
    assert {file.name: file.read_text() for file in folder.iterdir()} == texts(kind)
    again = CliRunner().invoke(group, arguments)
    assert isinstance(again.exception, Invalid)
    assert "exists already; nothing was written" in str(again.exception)


def test_one_that_is_there_keeps_all_from_being_written(tmp_path: Path) -> None:
    """When one of two files is there, neither is written."""
    (tmp_path / "orrery-refresh.timer").write_text("mine")
    result = CliRunner().invoke(group, ["schedule", "systemd", "--base-url", BASE, "--output", str(tmp_path)])
    assert isinstance(result.exception, Invalid)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["mine"]


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    """A place that is no folder is refused with a sentence."""
    (tmp_path / "file").write_text("")
    where = str(tmp_path / "file" / "new")
    result = CliRunner().invoke(group, ["schedule", "worker", "--base-url", BASE, "--output", where])
    assert isinstance(result.exception, Invalid)
    assert "cannot be written to" in str(result.exception)


def test_a_single_file_is_printed_as_it_is() -> None:
    """A schedule of one file is printed alone, so that it can be piped into place."""
    result = CliRunner().invoke(group, ["schedule", "workflow", "--base-url", BASE])
    assert result.stdout == texts("workflow")["refresh.yml"]


def test_several_files_are_printed_under_their_names() -> None:
    """A schedule of two files is printed with the name of each above it."""
    result = CliRunner().invoke(group, ["schedule", "worker", "--base-url", BASE])
    for name, text in texts("worker").items():
        assert f"==> {name} <==\n{text}" in result.stdout


@pytest.mark.parametrize("arguments", [[], ["cron"], ["systemd"], ["cron", "--base-url", BASE]])
def test_kind_and_address_are_needed(arguments: list[str]) -> None:
    """Without a known kind and an address there is nothing to print."""
    result = CliRunner().invoke(group, ["schedule", *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
