"""What `orrery` says before any command: its version, and what a shell may complete."""

import subprocess
import sys
import tomllib
from importlib.metadata import version

import pytest

from tests.docs.documents import ROOT
from tests.support.program import run_orrery


def test_the_version_needs_no_settings() -> None:
    """`--version` prints the version of the package, in any folder."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    told = run_orrery("--version")
    assert (told.returncode, told.stdout, told.stderr) == (0, f"orrery {project}\n", "")
    assert version("orrery") == project


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("orrery ba", {"backup"}), ("orrery access gr", {"grant"}), ("orrery access grant --ven", {"--vendor"})],
)
def test_bash_completes_commands_and_options(
    typed: str, offered: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands, what stands below them, and their options are completed."""
    monkeypatch.setenv("_ORRERY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    assert {*run_orrery().stdout.split()} == offered


def test_the_script_of_a_shell_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `--install-completion` puts into bash's start file can be seen before."""
    monkeypatch.setenv("_ORRERY_COMPLETE", "source_bash")
    assert "_ORRERY_COMPLETE=complete_bash" in run_orrery().stdout


_LOADED = """\
import sys
from orrery.cli.main import main
sys.argv[1:] = ["--help"]
try:
    main()
except SystemExit:
    print(*sys.modules, file=sys.stderr)
"""


def test_the_help_loads_no_command() -> None:
    """The list of the commands imports none of them, no settings and no rich: it takes little more than typer."""
    run = subprocess.run([sys.executable, "-c", _LOADED], capture_output=True, text=True, check=True)  # noqa: S603  our own code
    loaded = {*run.stderr.split()}
    assert "typer" in loaded
    assert {one for one in loaded if one.startswith("orrery")} == {
        *("orrery", "orrery.cli", "orrery.cli.main", "orrery.errors")
    }
    assert not loaded & {"rich.console", "pydantic_settings", "fastapi", "stripe", "apsw", "asyncio"}


@pytest.mark.parametrize("words", [[], ["access"], ["processor"], ["approvals"]])
def test_no_summary_is_cut(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal of 80 columns each command's sentence is whole."""
    monkeypatch.setenv("COLUMNS", "80")
    _, commands = run_orrery(*words, "--help").stdout.split("Commands:")
    assert "..." not in commands
