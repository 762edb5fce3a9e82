"""What `orrery` says before any command: its version, and what a shell may complete."""

import subprocess
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

import pytest

from orrery.app.modules import MODULES
from tests.docs.documents import ROOT
from tests.support.modules import folders
from tests.support.program import run_orrery
from tests.support.tables import each_case
from tools.import_rules import domains


def test_the_version_needs_no_settings() -> None:
    """`--version` prints the version of the package, in any folder."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    told = run_orrery("--version")
    assert (told.returncode, told.stdout, told.stderr) == (0, f"orrery {project}\n", "")
    assert version("orrery") == project


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("orrery ba", {"backup"}),
        ("orrery access gr", {"grant"}),
        ("orrery access grant --ven", {"--vendor"}),
        ("orrery gateway gu", {"guest"}),
        ("orrery gateway guest ver", {"verify"}),
        ("orrery gateway guest install --pu", {"--push"}),
    ],
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
import os, sys
from orrery.app.main import main
import typer
for words in map(str.split, sys.argv[1:]):
    if os.fork():
        os.wait()
        continue
    sys.argv[1:] = [*words, "--help"]
    try:
        main()
    except SystemExit:
        print(" ".join(words), *sys.modules, sep="\\t", file=sys.stderr)
    break
"""
"""Prints the help of each command in a process of its own, and every module that is loaded then."""


@cache
def loaded() -> Mapping[str, set[str]]:
    """Return every module that a new process loads for the help of a command, by the command."""
    typed = ["", *GROUPS]
    run = subprocess.run([sys.executable, "-c", _LOADED, *typed], capture_output=True, text=True, check=True)  # noqa: S603  our own code
    lines = [line.split("\t") for line in run.stderr.splitlines()]
    return {words: {*found} for words, *found in lines}


def test_the_help_loads_no_command() -> None:
    """The list of the commands imports none of them, no settings and no rich: it takes little more than typer."""
    found = loaded()[""]
    assert "typer" in found
    data = {f"orrery.{folder}.module" for folder in folders()}
    data |= {"orrery.runtime.modules", "orrery.runtime.former_names"}
    own = {
        f"orrery.{one}"
        for one in ("app", "app.main", "app.garbage", "app.modules", "app.command_line", "errors", *folders())
    }
    assert {one for one in found if one.startswith("orrery")} == {"orrery", *own, *data}
    assert not found & {"rich.console", "pydantic_settings", "fastapi", "stripe", "apsw", "asyncio"}


DOMAINS = set(domains(ROOT / "src" / "orrery"))
GROUPS = {
    command.name: command.target.split(".")[1]
    for module in MODULES
    for command in module.commands
    if ".app." not in command.target and not command.plain
}
"""The folder of each group of commands."""
HEAVY = {
    *("fastapi", "starlette", "uvicorn", "httpx2", "requests", "pydantic_settings", "prometheus_client"),
    *("apsw", "sqlite3", "stripe", "google", "cryptography", "aiosmtplib"),
    *("orrery.app.composition", "orrery.app.settings", "orrery.adapters", "orrery.edge", "orrery.sandbox"),
    *("orrery.logs", "orrery.runtime.collection"),
}
"""Web frameworks, HTTP clients, stores, logs and vendors' libraries, and the rooms that need them."""


@each_case(("command", "domain"), GROUPS.items())
def test_the_help_of_a_group_loads_its_own_domain(command: str, domain: str) -> None:
    """A group of commands imports its domain alone: what it asks for is composed when one of them is run."""
    found = loaded()[command]
    assert f"orrery.{domain}.cli" in found
    others = {one for one in found for other in DOMAINS - {domain} if one.startswith(f"orrery.{other}.")}
    assert others <= {f"orrery.{other}.module" for other in DOMAINS}
    assert not found & HEAVY


@pytest.mark.parametrize(
    "words", [[], ["access"], ["processor"], ["approvals"], ["gateway"], ["gateway", "guest"]]
)
def test_no_summary_is_cut(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal of 80 columns each command's sentence is whole."""
    monkeypatch.setenv("COLUMNS", "80")
    _, commands = run_orrery(*words, "--help").stdout.split("Commands:")
    assert "..." not in commands
