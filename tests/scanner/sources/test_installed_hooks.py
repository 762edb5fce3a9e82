"""Real commits and pushes through the hooks that were installed."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orrery.scanner.hooks import HOOKS, KEPT
from tests.support.forks import typed_orrery
from tests.support.repositories import Repo, new_repo
from tests.support.waiting import PATIENCE

ORRERY = Path(sys.executable).with_name("orrery")
LEAK = '{"tenantId": "3f2a1c9d-1111-4111-8111-111111111111"}\n'
"""The id of a tenant: without settings every one is foreign."""

SEEN = """\
import json
from pathlib import Path
from orrery.adapters.git_objects import Staged
seen = {one.place: one.content.read().decode() for one in Staged(Path()).items()}
Path("/given").write_text(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a program that is `orrery`, forked for the time that its imports take."""
    program = tmp_path_factory.mktemp("programs") / "orrery"
    with typed_orrery(program):
        yield program


@pytest.fixture
def guarded_by_orrery(repo: Repo) -> Repo:
    """Return a repository whose hooks are installed, as a person types it."""
    installed = subprocess.run(  # noqa: S603  our own program
        [ORRERY, "tenants", "hooks", "install", repo.folder], capture_output=True, check=True, timeout=PATIENCE
    )
    assert installed.stdout.count(b": installed") == len(HOOKS)
    return repo


WRITTEN: dict[str, str] = {}
"""The hooks as they are installed, which are the same in every repository."""


@pytest.fixture
def guarded(repo: Repo, forked: Path, request: pytest.FixtureRequest) -> Repo:
    """Return a repository with the same hooks, which run the forked program."""
    folder = repo.folder / ".git" / "hooks"
    if not WRITTEN:
        request.getfixturevalue("guarded_by_orrery")
        WRITTEN.update({hook: (folder / hook).read_text() for hook in HOOKS})
    folder.mkdir(exist_ok=True)
    for hook, text in WRITTEN.items():
        assert os.fspath(ORRERY) in text
        (folder / hook).write_text(text.replace(os.fspath(ORRERY), os.fspath(forked)))
        (folder / hook).chmod(0o755)
    return repo


def test_a_commit_is_stopped_until_it_is_clean(guarded_by_orrery: Repo) -> None:
    """A file with a leak, or a message with one, makes no commit, and git shows where; without one it is made."""
    guarded = guarded_by_orrery
    guarded.stage("notes/plan.json", LEAK)
    stopped = guarded.try_git("commit", "-m", "one")
    assert stopped.returncode == 1
    said = (stopped.stdout + stopped.stderr).decode()
    assert "notes/plan.json" in said
    assert "3f2a1c9d-1111" not in said
    guarded.stage("notes/plan.json", "{}")
    stopped = guarded.try_git("commit", "-m", LEAK)
    assert (stopped.returncode, b"the message of the commit" in stopped.stdout + stopped.stderr) == (1, True)
    assert guarded.try_git("rev-parse", "HEAD").returncode != 0
    assert guarded.try_git("commit", "-qm", "one").stderr == b""


def test_a_merge_is_stopped(guarded: Repo) -> None:
    """A merge that git makes by itself runs no pre-commit: what came to a branch past the hooks stays there."""
    guarded.commit("a.txt")
    guarded.git("switch", "-qc", "side")
    guarded.commit("plan.json", LEAK)
    guarded.git("switch", "-q", "main")
    stopped = guarded.try_git("merge", "--no-ff", "--no-edit", "side")
    assert (stopped.returncode, b"plan.json" in stopped.stdout + stopped.stderr) == (1, True)
    guarded.git("merge", "--abort")
    assert guarded.try_git("merge", "--no-ff", "--no-edit", "-q", "side", "-s", "ours").stderr == b""


def test_a_push_is_stopped(guarded: Repo, tmp_path: Path) -> None:
    """A leak that was committed without the hooks is not pushed, although a later commit takes it out."""
    remote = new_repo(tmp_path / "it's a remote.git", "--bare")
    guarded.git("remote", "add", "origin", remote.folder)
    guarded.commit("plan.json", LEAK)
    guarded.commit("plan.json", "{}")
    stopped = guarded.try_git("push", "origin", "main")
    assert (stopped.returncode, b"plan.json" in stopped.stdout + stopped.stderr) == (1, True)
    assert remote.git("for-each-ref") == ""
    guarded.git("push", "--no-verify", "origin", "main")
    guarded.commit("more.json", "{}")
    guarded.git("push", "origin", "main")


def test_commits_at_once_do_not_meet(guarded: Repo, tmp_path: Path) -> None:
    """Of two commits at the same time in two worktrees the one with a leak is stopped, and the other is made."""
    guarded.git("commit", "--allow-empty", "--no-verify", "-qm", "one")
    guarded.git("worktree", "add", "-q", "-b", "side", tmp_path / "side")
    other = Repo(tmp_path / "side")
    guarded.stage("a.json", LEAK)
    other.stage("b.json", "{}")
    made = [
        subprocess.Popen(  # noqa: S603  git itself
            ["git", "-C", one.folder, "commit", "-qm", "two"],  # noqa: S607  the machine's git
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for one in (guarded, other)
    ]
    assert [one.wait(PATIENCE) for one in made] == [1, 0]


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        (("-m", "two"), {"staged.txt"}),
        (("-a", "-m", "two"), {"staged.txt", "tracked.txt"}),
        (("tracked.txt", "-m", "two"), {"tracked.txt"}),
        (("--amend", "--author", "Bea Example <bea@example.org>", "-m", "two"), {"staged.txt"}),
    ],
)
def test_the_index_of_this_commit_is_read(repo: Repo, options: tuple[str, ...], seen: set[str]) -> None:
    """What is searched is what this commit has: `-a`, a path and `--amend` change it, and so does a worktree."""
    repo.commit("tracked.txt", "one")
    repo.git("worktree", "add", "-q", repo.folder / "tree")
    tree = Repo(repo.folder / "tree")
    hook = repo.folder / ".git" / "hooks" / "pre-commit"
    program = SEEN.replace("/given", str(repo.folder / "given"))
    hook.write_text(f"#!{sys.executable}\n{program}")
    hook.chmod(0o755)
    tree.write("tracked.txt", "two")
    tree.stage("staged.txt", "two")
    tree.git("commit", "-q", *options)
    found = json.loads((repo.folder / "given").read_text())
    assert {name for name in found if not name.startswith("the ")} == seen
    assert found["the author of the commit"] == tree.git("log", "-1", "--format=%an <%ae>")


def test_what_was_there_runs_first(guarded: Repo, tmp_path: Path) -> None:
    """It can stop git, it gets what git gives, and a copy of ours that it runs does not run it again."""
    folder = guarded.folder / ".git" / "hooks"
    remote = new_repo(tmp_path / "remote.git", "--bare")
    kept = folder.with_name(f"hooks{KEPT}")
    kept.mkdir()
    for hook in HOOKS:
        (kept / hook).write_text(f'#!/bin/sh\n{{ echo "${{0##*/}} $#"; test -t 0 || cat; }} > {tmp_path}/{hook}\n')
        (kept / hook).chmod(0o755)
    legacy = folder / "pre-commit.legacy"
    legacy.write_bytes((folder / "pre-commit").read_bytes())
    legacy.chmod(0o755)
    before = kept / "pre-commit"
    before.write_text(before.read_text() + f'"{legacy}" "$@" && exit 0\nexit 3\n')
    guarded.stage("a.json", LEAK)
    assert guarded.try_git("commit", "-m", "one").returncode == 1
    guarded.stage("a.json", "{}")
    theirs = (kept / "commit-msg").read_text()
    (kept / "commit-msg").write_text("#!/bin/sh\nexit 3\n")
    assert guarded.try_git("commit", "-m", "one").returncode == 1
    (kept / "commit-msg").write_text(theirs)
    guarded.git("commit", "-m", "one", given=b"")
    last = guarded.git("rev-parse", "HEAD")
    guarded.git("push", "-q", str(remote.folder), "main")
    assert [(tmp_path / hook).read_text() for hook in ("pre-commit", "commit-msg", "pre-push")] == [
        "pre-commit 0\n",
        "commit-msg 1\n",
        f"pre-push 2\nrefs/heads/main {last} refs/heads/main {'0' * 40}\n",
    ]


def test_without_orrery_git_is_stopped(guarded: Repo, forked: Path, tmp_path: Path) -> None:
    """When the installation is gone nothing is searched, so nothing is committed; the hook says what to do."""
    hook = guarded.folder / ".git" / "hooks" / "pre-commit"
    hook.write_text(hook.read_text().replace(os.fspath(forked), f"{tmp_path}/gone/orrery"))
    guarded.stage("a.json", "{}")
    stopped = guarded.try_git("commit", "-m", "one")
    assert stopped.returncode == 1
    said = stopped.stderr.decode()
    assert said.startswith(f"{tmp_path}/gone/orrery is gone: nothing was searched, and so git was stopped.")
    assert said.endswith("To go on once without a search, give git the option --no-verify.\n")
    guarded.git("commit", "--no-verify", "-m", "one")
