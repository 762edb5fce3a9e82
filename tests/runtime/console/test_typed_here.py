"""A hint names a command as its reader typed this one (issue 39, line 6)."""

import subprocess
import sys
from pathlib import Path

import pytest

from orrery.runtime.console.terminal import typed, visible

UV = {"UV_RUN_RECURSION_DEPTH": "1"}


def test_how_it_was_typed(tmp_path: Path) -> None:
    """By its name where the shell finds it, by its path where not, by the module, or by uv."""
    program, elsewhere = tmp_path / "bin" / "orrery", tmp_path / "orrery"
    for one in (program, elsewhere):
        one.parent.mkdir(exist_ok=True)
        one.touch()
    assert typed(str(program), {}, lambda _: str(program)) == "orrery"
    assert typed(str(program), {}, lambda _: str(elsewhere)) == str(program)
    assert typed(".venv/bin/orrery", {}, lambda _: None) == ".venv/bin/orrery"
    assert typed(str(program), UV, lambda _: None) == "uv run orrery"
    assert typed(str(program), {"TYPED_AS": "docker compose run --rm orrery"}) == "docker compose run --rm orrery"


@pytest.mark.parametrize(
    ("program", "variables", "words"),
    [
        ("/lib/orrery/__main__.py", {}, "python -m orrery"),
        ("/lib/orrery/__main__.py", UV, "uv run orrery"),
        ("/lib/pytest/__main__.py", {}, "orrery"),
        ("orrery", {}, "orrery"),
        ("", {}, "orrery"),
    ],
)
def test_without_a_program_of_ours(program: str, variables: dict[str, str], words: str) -> None:
    """What another program runs is named as it is in the documentation."""
    assert typed(program, variables, lambda _: None) == words


def test_in_a_container_nobody_becomes_the_user_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs there runs as that user."""
    assert visible("Type `sudo -u orrery orrery doctor`.") == "Type `sudo -u orrery orrery doctor`."
    monkeypatch.setenv("TYPED_AS", "docker compose run --rm orrery")
    assert visible("Type `sudo -u orrery orrery doctor`.") == "Type `docker compose run --rm orrery doctor`."
    assert visible("  sudo -u orrery orrery doctor") == "  docker compose run --rm orrery doctor"


def test_a_sentence_of_the_module() -> None:
    """Every sentence on the terminal has it, and a text without a command is as it was."""
    command = [sys.executable, "-m", "orrery", "access", "list", "--limit", "x"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  our own command
    assert "Type `python -m orrery access list --help`." in ended.stderr
    assert visible("orrery's `orrery-backup` stays") == "orrery's `orrery-backup` stays"
