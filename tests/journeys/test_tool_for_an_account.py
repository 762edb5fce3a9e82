"""`orrery tenants run`: a tool full of traps runs for the named account, or not at all (decision 38)."""

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import recording_tool
from tests.support.program import Program, run_orrery
from tests.support.waiting import eventually

ANN, BO = "ann@corp.example", "bo@lab.example"

SETTINGS = f"""\
[tenants.A]
label = "Corporate"
tenant = "00000000-0000-4000-8000-00000000000a"
client = "00000000-0000-4000-8000-0000000000a1"
accounts = ["{ANN}", "cy@corp.example"]
[tenants.B]
label = "Lab"
tenant = "00000000-0000-4000-8000-00000000000b"
client = "00000000-0000-4000-8000-0000000000b1"
accounts = ["{BO}", "cy@lab.example"]
[tenants.tool]
program = "bin/tool"
account_aliases = ["--user", "-a"]
account_variable = "{recording_tool.VARIABLE}"
cleared = ["TOOL_PROFILE"]
"""

SLEEPER = """\
#!/bin/sh
echo $$
tr '\\0' ' ' < /proc/$$/cmdline
echo
grep SigIgn /proc/$$/status
exec sleep 600
"""

FORGETFUL = f"""\
#!{sys.executable}
import argparse, json
common = argparse.ArgumentParser(add_help=False)
common.add_argument("--account")
parser = argparse.ArgumentParser(parents=[common])
parser.add_subparsers().add_parser("list", parents=[common])
print(json.dumps(dict(account=parser.parse_args().account)))
"""


@dataclass(frozen=True, slots=True)
class Desk:
    """Settings with two accounts a track, and a tool that used Bo's account last."""

    folder: Path

    @property
    def settings(self) -> Path:
        """The settings file."""
        return self.folder / "orrery.toml"

    @property
    def tool(self) -> Path:
        """The tool."""
        return self.folder / "bin/tool"

    def bare(self, *words: str) -> dict[str, Any]:
        """Return what the tool did when it was called without Orrery."""
        came = subprocess.run([self.tool, *words], capture_output=True, text=True, check=True)  # noqa: S603  our own
        return json.loads(came.stdout)

    def run(self, *words: str, account: str = "ann") -> subprocess.CompletedProcess[str]:
        """Run the tool through Orrery."""
        typed = ("tenants", "run", "--config", str(self.settings), "--account", account, "--", *words)
        return run_orrery(*typed)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Return a desk."""
    monkeypatch.delenv(recording_tool.VARIABLE, raising=False)
    found = Desk(tmp_path)
    found.settings.write_text(SETTINGS)
    found.tool.parent.mkdir()
    source = Path(recording_tool.__file__).read_text(encoding="utf-8")
    found.tool.write_text(f"#!{sys.executable}\n{source}")
    found.tool.chmod(0o700)
    (found.tool.parent / "cached").write_text(BO)
    (found.tool.parent / "more").write_text(f"--account={BO}\n")
    return found


def test_the_last_cached_account_is_not_used(desk: Desk) -> None:
    """Bare, the tool acts for the account that was used last."""
    assert desk.bare("mail", "list")["account"] == BO
    came = desk.run("mail", "list")
    assert came.returncode == 0, came.stderr
    assert json.loads(came.stdout)["account"] == ANN
    assert came.stderr == f"{ANN} ([track:A], Corporate)\n"


def test_the_variable_is_cleared(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bare, it goes before the flag; other variables stay, but for those that the settings name."""
    for name in (recording_tool.VARIABLE, "TOOL_PROFILE", "TOOL_COLOR"):
        monkeypatch.setenv(name, BO)
    assert desk.bare("--account", ANN, "mail")["account"] == BO
    found = json.loads(desk.run("mail").stdout)
    assert found["account"] == ANN
    assert {name for name in found["variables"] if name.startswith("TOOL_")} == {"TOOL_COLOR"}


def test_the_flag_goes_before_a_configuration_file(desk: Desk) -> None:
    """Bare, the tool takes the account from its own file."""
    (desk.tool.parent / "config").write_text("cy@lab.example")
    assert desk.bare("mail")["account"] == "cy@lab.example"
    assert json.loads(desk.run("mail").stdout)["account"] == ANN


def test_a_tool_that_forgets_the_flag_ahead_of_its_command(desk: Desk) -> None:
    """Some parsers let a command's own default win, in silence: the settings then have the flag behind it."""
    desk.tool.write_text(FORGETFUL)
    assert desk.bare("--account", ANN, "list")["account"] is None
    desk.settings.write_text(f"{SETTINGS}words_ahead = 1\n")
    assert json.loads(desk.run("list").stdout)["account"] == ANN


@pytest.mark.parametrize("word", ["mcp", "serve", "--server", "--serv"])
def test_server_mode_is_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """Bare, it ignores flag and variable; the refusal says how to ask directly."""
    monkeypatch.setenv(recording_tool.VARIABLE, ANN)
    assert desk.bare("--account", ANN, word)["account"] == BO
    came = desk.run(word)
    assert (came.returncode, came.stdout) == (2, "")
    assert "orrery tenants request --account NAME METHOD URL" in came.stderr


def test_which_account_is_meant(desk: Desk) -> None:
    """A part that fits two accounts and a name that fits none are refused, with what there is; two, too."""
    assert json.loads(desk.run("mail", account="BO").stdout)["account"] == BO
    two = desk.run("mail", account="cy")
    assert "cy@corp.example ([track:A], Corporate), cy@lab.example ([track:B], Lab)" in two.stderr
    nobody = desk.run("mail", account="dee")
    assert (nobody.returncode, f"{ANN} ([track:A], Corporate)" in nobody.stderr) == (2, True)
    typed = ("--config", str(desk.settings), "--account", "ann", "--account", "bo", "--", "mail")
    assert (run_orrery("tenants", "run", *typed).returncode, desk.run().returncode) == (2, 2)


def test_the_process_is_the_tool_s(desk: Desk) -> None:
    """Exit code, input and signals are its own; of Orrery nothing is left in the list of processes."""
    assert desk.run("mail", "exit=7").returncode == 7
    desk.tool.write_text(SLEEPER)
    typed = ("tenants", "run", "--config", str(desk.settings), "--account", "ann", "--", "mail")
    program = Program(typed, desk.folder / "printed")
    try:
        eventually(lambda: _has_begun(program))
        _, pid, called, ignored = program.printed().splitlines()
        assert (pid, called) == (str(program.process.pid), f"/bin/sh {desk.tool} --account {ANN} mail ")
        assert not int(ignored.split()[-1], 16) & 1 << signal.SIGPIPE - 1
        assert program.end() == -signal.SIGTERM
    finally:
        program.clear_away()


def _has_begun(program: Program) -> None:
    assert "SigIgn" in program.printed()


@pytest.mark.parametrize("broken", ["missing", "not executable", "no program"])
def test_a_tool_that_cannot_be_run_is_one_sentence(desk: Desk, broken: str) -> None:
    """Exit 2: the settings name no program, one that is not there, or one that cannot be executed."""
    if broken == "missing":
        desk.tool.unlink()
    elif broken == "not executable":
        desk.tool.chmod(0o600)
    else:
        desk.settings.write_text(SETTINGS.replace('program = "bin/tool"', ""))
    came = desk.run("mail")
    assert came.returncode == 2
    last = came.stderr.splitlines()[-1]
    said = "The settings name no tool: set `program` in [tenants.tool]."
    assert (last == said) if broken == "no program" else last.startswith(f"The tool {desk.tool} cannot be run: ")
