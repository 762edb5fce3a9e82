"""What a push would publish."""

from pathlib import Path

import pytest

from orrery.adapters.git_objects import Outgoing
from orrery.errors import Invalid
from orrery.ports.scanned import Source
from tests.support.repositories import Repo, every, new_repo, texts, unread

NOTHING = "0" * 40


@pytest.fixture(autouse=True)
def remote(repo: Repo, tmp_path: Path) -> Repo:
    """Return an empty repository that the other one pushes to, as `origin`."""
    bare = new_repo(tmp_path / "remote.git", "--bare")
    repo.git("remote", "add", "origin", bare.folder)
    return bare


def lines(repo: Repo, *pushed: str) -> str:
    """Return what git gives its hook for a push."""
    hook = repo.folder / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ncat > {hook.parent}/given\nexit 1\n")
    hook.chmod(0o755)
    assert repo.try_git("push", "origin", *pushed).returncode == 1
    hook.unlink()
    return (hook.parent / "given").read_text()


def paths(source: Source) -> set[str]:
    """Return the paths of the files whose content is searched."""
    return {item.place for item, text in every(source) if item.name and text}


def test_a_new_branch_is_read_whole(repo: Repo) -> None:
    """What the remote repository has not: files, messages and people of each commit, and the branch's name."""
    repo.commit("a.txt", "x")
    last = repo.commit("b.txt", "y", message="Why")
    source = Outgoing(repo.folder, lines(repo, "main:refs/heads/topic"), "origin")
    found = texts(source)
    assert found["the name of the branch topic"] == b"refs/heads/topic"
    assert (found["a.txt"], found["b.txt"], found[f"the message of {last[:10]}"]) == (b"x", b"y", b"Why\n")
    assert b"Ann Example <ann@example.com>" in found.values()
    assert source.since(repo.git("rev-parse", "HEAD:b.txt")).startswith(last[:10])


def test_what_is_there_is_left_out(repo: Repo, remote: Repo) -> None:
    """Only what is new is read: on the same branch, and on a new one by what is known of the remote's branches."""
    repo.commit("a.txt", "x")
    repo.git("push", "-q", "origin", "main")
    repo.commit("b.txt", "y")
    assert paths(Outgoing(repo.folder, lines(repo, "main"), "origin")) == {"b.txt"}
    assert paths(Outgoing(repo.folder, lines(repo, "main:topic"), "origin")) == {"b.txt"}
    assert paths(Outgoing(repo.folder, lines(repo, "main:topic"), str(remote.folder))) == {"a.txt", "b.txt"}


def test_what_was_fetched_elsewhere_is_not_there(repo: Repo, tmp_path: Path) -> None:
    """A remote that is fetched from one address and pushed to another has other commits at the second one."""
    repo.commit("a.txt", "internal")
    repo.git("push", "-q", "origin", "main")
    public = new_repo(tmp_path / "public.git", "--bare")
    repo.git("remote", "set-url", "--push", "origin", str(public.folder))
    assert paths(Outgoing(repo.folder, lines(repo, "main"), "origin")) == {"a.txt"}


def test_what_was_deleted_on_the_way_is_read(repo: Repo) -> None:
    """A file that an earlier one of the new commits had is published with it."""
    repo.commit("secret.txt", "oops")
    repo.git("rm", "-q", "secret.txt")
    repo.git("commit", "-qm", "gone")
    assert "secret.txt" in paths(Outgoing(repo.folder, lines(repo, "main"), "origin"))


def test_a_forced_push_is_read(repo: Repo) -> None:
    """It brings commits that the remote has not, also when what is there was never here."""
    repo.commit("a.txt", "x")
    repo.git("push", "-q", "origin", "main")
    repo.git("commit", "-q", "--amend", "-m", "better")
    found = texts(Outgoing(repo.folder, lines(repo, "--force", "main"), "origin"))
    assert b"better\n" in found.values()
    theirs = f"refs/heads/main {repo.git('rev-parse', 'HEAD')} refs/heads/main {'1' * 40}\n"
    assert paths(Outgoing(repo.folder, theirs)) == {"a.txt"}


def test_tags_are_read(repo: Repo) -> None:
    """A tag with a message, and one of a file."""
    repo.commit("a.txt", "x")
    repo.git("push", "-q", "origin", "main")
    repo.git("tag", "-a", "v1", "-m", "Release notes")
    repo.git("tag", "file", repo.git("hash-object", "-w", "--stdin", given=b"tagged"))
    found = texts(Outgoing(repo.folder, lines(repo, "v1", "file"), "origin"))
    assert b"Release notes" in found["the tag v1"]
    assert b"tagged" in found.values()
    assert {"the name of the tag v1", "the name of the tag file"} <= found.keys()


def test_a_deletion_publishes_nothing(repo: Repo) -> None:
    """A branch that is deleted there is not read, and neither is its name; a push of nothing is nothing."""
    repo.commit("a.txt", "x")
    repo.git("push", "-q", "origin", "main:old")
    assert list(Outgoing(repo.folder, lines(repo, "--delete", "old"), "origin").items()) == []
    assert list(Outgoing(repo.folder, "").items()) == []


def test_what_is_not_here_is_named(repo: Repo) -> None:
    """A commit that cannot be listed stops the push."""
    assert len(unread(Outgoing(repo.folder, f"refs/heads/x {'2' * 40} refs/heads/x {NOTHING}\n", "origin"))) == 1


def test_other_input_is_refused(repo: Repo) -> None:
    """Four fields on each line, or a sentence that it is not what git gives."""
    with pytest.raises(Invalid, match=r"^Standard input is not what git gives"):
        Outgoing(repo.folder, "hello\n", "origin")
