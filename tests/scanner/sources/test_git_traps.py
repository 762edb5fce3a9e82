"""A repository is foreign material: reading it runs no program that its settings name."""

import os
from pathlib import Path

import pytest

from orrery.adapters.git_objects import CommitMessage, History, Outgoing, Staged, hooks_folder
from orrery.errors import Invalid, NotConfigured
from tests.support.repositories import Repo, texts

PROGRAMS = (
    "core.fsmonitor",
    "core.pager",
    "core.sshCommand",
    "core.askPass",
    "core.editor",
    "core.alternateRefsCommand",
    "core.gitProxy",
    "credential.helper",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "gpg.program",
    "gpg.ssh.program",
    "pager.cat-file",
    "pager.diff-index",
    "alias.cat-file",
    "alias.rev-list",
)


def test_no_program_of_a_repository_runs(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every setting that names a program is there, and hooks, a filter, a diff driver: none of them is called."""
    repo.commit("a.txt")
    repo.commit(".gitattributes", "* diff=evil filter=evil\n")
    repo.stage("b.txt", "staged")
    spy, trace = repo.write(".git/spy", '#!/bin/sh\necho "$0 $*" >> "${0%/*}/trace"\n'), repo.folder / ".git/trace"
    spy.chmod(0o755)
    for name in PROGRAMS:
        repo.git("config", name, f"!{spy}" if name.startswith("alias") else str(spy))
    for hook in ("post-index-change", "reference-transaction", "pre-commit"):
        (repo.folder / ".git" / "hooks").mkdir(exist_ok=True)
        (repo.folder / ".git" / "hooks" / hook).symlink_to("../spy")
    monkeypatch.chdir(repo.folder)
    last = repo.git("--no-pager", "rev-parse", "HEAD")
    trace.unlink(missing_ok=True)
    history = History(repo.folder)
    outgoing = Outgoing(repo.folder, f"x {last} refs/heads/x {'0' * 40}\n", "origin")
    message = CommitMessage(repo.write(".git/given", "A change"))
    read = [place for source in (history, Staged(repo.folder), outgoing, message) for place in texts(source)]
    assert history.since(repo.git("--no-pager", "rev-parse", "HEAD:a.txt"))
    assert hooks_folder(repo.folder).path == repo.folder / ".git" / "hooks"
    assert {"a.txt", "b.txt", "the name of the branch x"} <= set(read)
    assert not trace.exists(), trace.read_text()


def test_reading_changes_nothing(repo: Repo) -> None:
    """The index and the objects are as they were: a search beside a commit does not disturb it."""
    repo.commit("a.txt")
    repo.stage("b.txt")
    repo.write("a.txt", "touched")

    def files() -> dict[Path, int]:
        return {one: one.stat().st_mtime_ns for one in (repo.folder / ".git").rglob("*")}

    before = files()
    texts(History(repo.folder))
    texts(Staged(repo.folder))
    assert files() == before


def test_a_machine_without_git_is_one_sentence(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says what to install."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotConfigured, match=r"^There is no git on this machine"):
        History(repo.folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to another user")
def test_a_repository_of_another_user_is_not_opened(repo: Repo) -> None:
    """Git does not trust it, and neither does a search, which says how to see why."""
    for one in (repo.folder, repo.folder / ".git"):
        os.chown(one, 12345, 12345)
    with pytest.raises(Invalid, match=r"belongs to another user and is not trusted; to see which, type: git -C "):
        History(repo.folder)
