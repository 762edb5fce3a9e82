"""The message of a commit, as git will keep it."""

import re
from pathlib import Path

import pytest

from orrery.adapters.git_objects import CommitMessage
from orrery.errors import NotFound
from tests.support.repositories import Repo, texts

PLACE = "the message of the commit"
EDITOR = """#!/bin/sh
{{ cat {typed}; cat "$1"; }} > "$1.new" && mv "$1.new" "$1"
"""


def given_to_hook(repo: Repo, typed: str, *options: str) -> Path:
    """Commit with an editor in which something is typed above what git wrote; return what the hook is given."""
    (repo.folder / ".git" / "typed").write_text(typed)
    editor = repo.folder / ".git" / "editor"
    editor.write_text(EDITOR.format(typed=repo.folder / ".git" / "typed"))
    hook = repo.folder / ".git" / "hooks" / "commit-msg"
    hook.write_text(f'#!/bin/sh\ncp "$1" {repo.folder}/.git/given\n')
    for program in (editor, hook):
        program.chmod(0o755)
    repo.git("commit", *options, GIT_EDITOR=str(editor))
    return repo.folder / ".git" / "given"


@pytest.fixture
def here(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Stand in a repository with something staged, as a hook does."""
    (repo.folder / ".git" / "hooks").mkdir(exist_ok=True)
    repo.stage("internal.txt", "+staged")
    repo.write("untracked.txt")
    monkeypatch.chdir(repo.folder)
    return repo


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({}, ()),
        ({"commit.verbose": "true"}, ()),
        ({"core.commentChar": ";"}, ("-v",)),
        ({"core.commentChar": "auto"}, ("-v",)),
        ({"core.commentChar": "auto"}, ()),
        ({"commit.cleanup": "strip"}, ()),
        ({"commit.cleanup": "scissors"}, ("-v",)),
        ({"commit.cleanup": "scissors"}, ()),
    ],
)
def test_what_git_wrote_is_no_part_of_it(here: Repo, settings: dict[str, str], options: tuple[str, ...]) -> None:
    """Names of files and the diff below are not published: what is searched is what is committed."""
    for name, value in settings.items():
        here.git("config", name, value)
    typed = "A change\n\n# a heading\nwith a reason\n"
    searched = texts(CommitMessage(given_to_hook(here, typed, *options)))[PLACE].decode()
    committed = here.git("log", "-1", "--format=%B")
    assert re.sub(r"\n+", "\n", searched).strip() == re.sub(r"\n+", "\n", committed).strip()
    assert "internal.txt" not in searched


def test_without_an_editor_all_is_kept(here: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that begins like a comment is the author's when git wrote none: it is committed, and searched."""
    monkeypatch.setenv("GIT_EDITOR", ":")
    file = here.write(".git/COMMIT_EDITMSG", "A change\n\n#1234 is fixed\n")
    assert texts(CommitMessage(file))[PLACE] == b"A change\n\n#1234 is fixed\n"


def test_a_cut_that_git_did_not_make_hides_nothing(here: Repo) -> None:
    """A person's own line of scissors has no diff below it; without -v git keeps what is."""
    scissors = "# ------------------------ >8 ------------------------\n"
    file = here.write(".git/COMMIT_EDITMSG", f"A change\n{scissors}still here\n")
    assert texts(CommitMessage(file))[PLACE] == b"A change\nstill here\n"


def test_the_branch_is_read_with_it(here: Repo) -> None:
    """Its name is published with the first push; within a rebase there is none."""
    file = here.write(".git/COMMIT_EDITMSG", "A change\n")
    here.git("commit", "-qm", "one")
    here.git("switch", "-qc", "feature/one")
    assert texts(CommitMessage(file))["the name of the branch feature/one"] == b"refs/heads/feature/one"
    here.git("switch", "-q", "--detach")
    assert list(texts(CommitMessage(file))) == [PLACE]


def test_a_message_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """The path is named, in one sentence."""
    with pytest.raises(NotFound, match=r"^The message .*/gone cannot be read: No such file or directory\.$"):
        CommitMessage(tmp_path / "gone")
