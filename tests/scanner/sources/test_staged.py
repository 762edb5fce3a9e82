"""What the next commit would change, as git will commit it."""

import os
from pathlib import Path

import pytest

from orrery.adapters.git_objects import Staged
from orrery.errors import Invalid
from orrery.ports.scanned import NotRead
from tests.support.repositories import Repo, names, new_repo, texts, unread

PEOPLE = {"the author of the commit", "the committer of the commit"}


def contents(source: Staged) -> dict[str, bytes]:
    """Return what is read, without the people."""
    return {place: text for place, text in texts(source).items() if place not in PEOPLE}


def test_the_index_is_read(repo: Repo) -> None:
    """What is staged counts, before the first commit too: not the work tree, and not what is unchanged."""
    repo.stage("a.txt", "staged")
    repo.write("a.txt", "changed since")
    repo.write("b.txt", "not added")
    assert contents(Staged(repo.folder)) == {"a.txt": b"staged"}
    repo.git("commit", "-m", "one")
    repo.stage("sub/b.txt", "second")
    assert contents(Staged(repo.folder)) == {"sub/b.txt": b"second"}


def test_a_subfolder_is_no_limit(repo: Repo) -> None:
    """From a folder inside, and with settings that would show that folder only, all that is staged is read."""
    repo.git("config", "diff.relative", "true")
    repo.stage("a.txt", "above")
    repo.stage("sub/b.txt", "below")
    assert contents(Staged(repo.folder / "sub")) == {"a.txt": b"above", "sub/b.txt": b"below"}


def test_a_deletion_publishes_nothing(repo: Repo) -> None:
    """A file that the commit takes out is not read; one that only moves is, under its new name."""
    repo.commit("old.txt", "gone")
    repo.commit("moved.txt", "stays")
    repo.git("rm", "-q", "old.txt")
    repo.git("mv", "moved.txt", "new.txt")
    assert contents(Staged(repo.folder)) == {"new.txt": b"stays"}
    assert unread(Staged(repo.folder)) == []


def test_who_commits_is_read(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The author and the committer are those that git will write: from the settings, or from an option."""
    assert texts(Staged(repo.folder)) == dict.fromkeys(sorted(PEOPLE), b"Ann Example <ann@example.com>")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "other@example.org")
    assert texts(Staged(repo.folder))["the author of the commit"] == b"Ann Example <other@example.org>"


def test_nobody_is_named(repo: Repo, persons_git: Path) -> None:
    """When git does not know who commits, that could not be searched."""
    persons_git.write_text("[user]\nuseConfigOnly = true\n")
    assert {one.place for one in unread(Staged(repo.folder))} == PEOPLE


def test_odd_names_are_read(repo: Repo) -> None:
    """Names with line ends, quotes, or bytes that are no text are read like any other."""
    odd = [b"line\nend", b"ta\tb", b"quo\"te'", b"\xff\xfe", b"-rf", b" "]
    for name in odd:
        repo.stage(name, name)
    assert {os.fsencode(place): text for place, text in contents(Staged(repo.folder)).items()} == {
        name: name for name in odd
    }


def test_a_link_is_what_git_publishes(repo: Repo) -> None:
    """Of a link its text is read, not the file that it leads to."""
    (repo.folder / "link").symlink_to("/srv/ann/secret")
    repo.git("add", "link")
    assert contents(Staged(repo.folder)) == {"link (where this link leads)": b"/srv/ann/secret"}


def test_a_submodule_is_a_name(repo: Repo, tmp_path: Path) -> None:
    """A submodule publishes its name, even one whose changes the settings hide, and the file with its address."""
    inner = new_repo(tmp_path / "inner")
    inner.commit("a.txt")
    repo.git("submodule", "add", "-q", inner.folder, "libs/inner")
    repo.git("config", "diff.ignoreSubmodules", "all")
    source = Staged(repo.folder)
    assert names(source) == ["libs/inner", ".gitmodules"]
    assert contents(source)["libs/inner"] == b""


def test_a_conflict_is_not_read(repo: Repo) -> None:
    """Of a file with a conflict nobody knows what it will be."""
    repo.commit("a.txt", "base")
    repo.git("switch", "-qc", "side")
    repo.commit("a.txt", "side")
    repo.git("switch", "-q", "main")
    repo.commit("a.txt", "main")
    assert repo.try_git("merge", "side").returncode == 1
    assert unread(Staged(repo.folder)) == [NotRead("a.txt", "it has a conflict; solve it, and type: git add")]


def test_what_is_only_intended_is_not_committed(repo: Repo) -> None:
    """A file of `git add --intent-to-add` is in the index, and not in the commit."""
    repo.commit("a.txt")
    repo.write("secret.txt", "later")
    repo.git("add", "-N", "secret.txt")
    assert names(Staged(repo.folder)) == []


def test_a_file_in_lfs_is_read_where_it_is(repo: Repo) -> None:
    """The content behind a pointer is read from the repository's store, and named when it is not there."""
    digest = "ab" * 32
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 7\n"
    repo.stage("big.bin", pointer)
    assert [one.place for one in unread(Staged(repo.folder))] == ["big.bin"]
    store = repo.folder / ".git" / "lfs" / "objects" / "ab" / "ab"
    store.mkdir(parents=True)
    (store / digest).write_bytes(b"content")
    assert contents(Staged(repo.folder)) == {
        "big.bin": pointer.encode(),
        "big.bin (its content in LFS)": b"content",
    }


def test_a_missing_blob_is_named(repo: Repo) -> None:
    """A file whose blob is not there any more could not be read; the others are."""
    for name in ("a.txt", "b.txt", "c.txt"):
        repo.stage(name, name)
    blob = repo.git("rev-parse", ":b.txt")
    (repo.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert [one.place for one in unread(Staged(repo.folder))] == ["b.txt"]
    assert contents(Staged(repo.folder)) == {"a.txt": b"a.txt", "c.txt": b"c.txt"}


def test_a_repository_without_a_work_tree_is_refused(tmp_path: Path) -> None:
    """Nothing is committed in a bare repository; and a folder that is none at all is one sentence."""
    with pytest.raises(Invalid, match="has no work tree"):
        Staged(new_repo(tmp_path / "bare", "--bare").folder)
    (tmp_path / "plain").mkdir()
    with pytest.raises(Invalid, match=r"^Git opens no repository at .*/plain: it is missing, or"):
        Staged(tmp_path / "plain")
    with pytest.raises(Invalid, match=r"^There is no folder .*/gone\.$"):
        Staged(tmp_path / "gone")
