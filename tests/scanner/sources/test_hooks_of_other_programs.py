"""Our hooks beside those of other programs, which run as before: the same name, arguments, input and output."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from orrery.scanner.hooks import HOOKS
from tests.support.package_copy import ROOT
from tests.support.plain_commands import plain
from tests.support.repositories import Repo, new_repo
from tests.support.soak import SOAKING
from tests.support.waiting import PATIENCE

hooks = plain("hooks")
PROGRAMS = Path(sys.executable).parent
PATH = f"{PROGRAMS}:{os.environ['PATH']}"  # noqa: TID251  where git finds the programs
DAY = "2026-05-04T00:00:00Z"
HUSKY = ROOT / ".venv" / "husky" / "package" / "bin.js"
LEAK = '{"tenantId": "3f2a1c9d-1111-4111-8111-111111111111"}\n'
LOGGED = 'echo "{0} by ${{0##*/}} with $# $*" >> {1}; test -t 0 || cat >> {1}'
"""What a hook writes down: its name, its arguments and its standard input."""


@dataclass(frozen=True)
class Other:
    """Another program with hooks in a repository: `log` is what they wrote."""

    repo: Repo
    log: Path

    def logging(self, hook: str) -> str:
        return LOGGED.format(hook, self.log)

    def script(self, place: Path, hook: str) -> None:
        """Write a hook that is a plain script."""
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"#!/bin/sh\n{self.logging(hook)}\n")
        place.chmod(0o755)

    def run(self, *words: str | Path) -> None:
        came = subprocess.run(words, cwd=self.repo.folder, capture_output=True, timeout=PATIENCE, check=False)  # noqa: S603  real programs
        assert came.returncode == 0, came.stderr


def plain_scripts(other: Other) -> None:
    for hook in HOOKS:
        other.script(other.repo.folder / ".git" / "hooks" / hook, hook)


def hooks_path(other: Other) -> None:
    """A folder that `core.hooksPath` names, with a slash at its end, beside a script that a hook reads."""
    for hook in HOOKS:
        other.script(other.repo.folder / "tools" / hook, hook)
    (other.repo.folder / "tools" / "common").write_text(other.logging("common"))
    with (other.repo.folder / "tools" / "pre-commit").open("a") as file:
        file.write('. "$(dirname "$0")/common"\n')
    other.repo.git("config", "core.hooksPath", "tools/")


def husky(other: Other) -> None:
    """Husky 9: its stubs find the person's script by their own name and folder."""
    if not HUSKY.exists() or not shutil.which("node"):
        pytest.skip("no Husky on this machine; with node and npm there, `./run setup` fetches it")
    other.run("node", HUSKY)
    for hook in HOOKS:
        (other.repo.folder / ".husky" / hook).write_text(f"{other.logging(hook)}\n")


def pre_commit(other: Other) -> None:
    stages = "".join(
        f"""
      - id: {hook}
        name: {hook}
        language: system
        entry: sh -c '{other.logging(hook)}' {hook}
        stages: [{hook}]
        always_run: true
"""
        for hook in HOOKS
    )
    other.repo.write(".pre-commit-config.yaml", f"repos:\n  - repo: local\n    hooks:{stages}")
    other.run(PROGRAMS / "pre-commit", "install", *(f"--hook-type={hook}" for hook in HOOKS))


def lefthook(other: Other) -> None:
    for hook in HOOKS:
        other.script(other.repo.folder / ".lefthook" / hook / "log.sh", hook)
    scripts = "".join(
        f"{hook}:\n  scripts:\n    log.sh:\n      runner: sh\n      use_stdin: true\n" for hook in HOOKS
    )
    other.repo.write("lefthook.yml", f"output: false\n{scripts}")
    other.run(PROGRAMS / "lefthook", "install", "--force")


def made(other: Other, remote: Repo, *, wholly: bool) -> list[tuple[str, bytes]]:
    """Commit with the hooks, and `wholly` merge and push, too; return what they and git wrote."""
    found: list[tuple[str, bytes]] = []
    steps = (
        ("commit", "-qm", "one"),
        ("merge", "-q", "--no-ff", "--no-edit", "side"),
        ("push", "-q", str(remote.folder), "HEAD:main"),
    )
    other.repo.stage("a.json", "{}")
    for step in steps if wholly else steps[:1]:
        other.log.write_text("")
        came = other.repo.try_git(*step, PATH=PATH, GIT_AUTHOR_DATE=DAY, GIT_COMMITTER_DATE=DAY)
        assert came.returncode == 0, came.stderr
        found.append((other.log.read_text(), came.stdout + came.stderr))
    return found


@pytest.mark.parametrize("program", [husky, pre_commit, lefthook, *[hooks_path, plain_scripts] * SOAKING])
def test_they_run_as_before(
    program: Callable[[Other], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same is written with ours as without: by them and by git. When they are installed again, it is seen."""
    repo, remote = new_repo(tmp_path / "repo"), new_repo(tmp_path / "remote.git", "--bare")
    other = Other(repo, tmp_path / "log")
    repo.commit("first.txt")
    repo.git("switch", "-qc", "side")
    repo.commit("side.txt")
    repo.git("switch", "-q", "main")
    start = repo.git("rev-parse", "HEAD")
    wholly = SOAKING or program is husky
    program(other)
    before = made(other, remote, wholly=wholly)
    assert all(log for log, _ in before)
    repo.git("reset", "-q", "--hard", start)
    remote.try_git("update-ref", "-d", "refs/heads/main")
    assert hooks(["install", "--shared", str(repo.folder)]) == 0
    assert made(other, remote, wholly=wholly) == before
    repo.stage("b.json", LEAK)
    assert repo.try_git("commit", "-qm", "two", PATH=PATH).returncode == 1
    program(other)
    assert hooks(["list"]) == 1
    assert "another's" in capsys.readouterr().out
    assert hooks(["install", "--shared", str(repo.folder)]) == 0
    assert hooks(["list"]) == 0
    assert hooks(["remove", str(repo.folder)]) == 0
    status = repo.git("status", "--porcelain", "--ignored")
    assert "orrery" not in status
