"""All that a repository holds."""

import os
import zlib
from io import BytesIO
from pathlib import Path

import pytest

from orrery.adapters.git_objects import History, Outgoing
from orrery.adapters.git_objects.contents import Contents
from orrery.adapters.git_objects.objects import StoredObject, objects
from orrery.adapters.git_objects.program import opened
from orrery.ports.scanned import Item, NotRead
from tests.support.repositories import Repo, every, names, new_repo, texts, unread


def loose(repo: Repo, object_id: str) -> Path:
    """Return the file of an object that is not packed."""
    return repo.folder / ".git" / "objects" / object_id[:2] / object_id[2:]


def read(repo: Repo, revisions: str, contents: Contents, listing: Path) -> list[Item | NotRead]:
    """Return the items of what some revisions have."""
    listing.write_text(repo.git("rev-list", "--objects", revisions) + "\n")
    with listing.open("rb") as ids:
        return [item for one in objects(contents.repository.git, ids) for item in contents.items(one, one.path)]


def test_what_was_deleted_is_still_there(repo: Repo) -> None:
    """A blob that a later commit took out is read, with the path that it had, packed or not."""
    repo.commit("docs/plan.txt", "first")
    repo.commit("docs/plan.txt", "second")
    repo.git("rm", "-q", "docs/plan.txt")
    repo.git("commit", "-qm", "gone")
    for _ in range(2):
        found = {text for item, text in every(History(repo.folder)) if item.place == "docs/plan.txt" and text}
        assert found == {b"first", b"second"}
        repo.git("gc", "-q")


def test_messages_authors_and_names_are_read(repo: Repo) -> None:
    """What people wrote in commits and tags, who they are, and the names of branches and tags, each once."""
    commit = repo.commit("a.txt", "x", message="Why it changed")
    repo.git("tag", "-a", "v1", "-m", "The first release")
    repo.git("branch", "feature/one")
    repo.git("notes", "add", "-m", "A note")
    found = texts(History(repo.folder))
    assert found[f"the message of {commit[:10]}"] == b"Why it changed\n"
    assert b"The first release" in found["the tag v1"]
    assert found["the name of the branch feature/one"] == b"refs/heads/feature/one"
    assert found["the name of the tag v1"] == b"refs/tags/v1"
    assert b"A note\n" in found.values()
    assert list(found.values()).count(b"Ann Example <ann@example.com>") == 1


def test_what_a_signature_or_an_encoding_hides_is_read(repo: Repo) -> None:
    """Other headers of a commit are read, and a message in another encoding as UTF-8, too."""
    tree = repo.git("hash-object", "-wt", "tree", os.devnull)
    head = f"tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\nencoding ISO-8859-1\n"
    raw = (head + "gpgsig -----BEGIN\n Comment: from a desk\n\nGr").encode() + b"\xfc\xdf\n"
    commit = repo.git("hash-object", "-w", "-t", "commit", "--stdin", given=raw)
    found = texts(History(repo.folder))
    assert b"Comment: from a desk" in found[f"the header of {commit[:10]}"]
    assert "Grüß\n".encode() in found[f"the message of {commit[:10]}"]


def test_each_name_is_searched_once(repo: Repo) -> None:
    """A path is one item, however many versions it has; each version says that its name is searched elsewhere."""
    for number in range(5):
        repo.commit("docs/plan.txt", f"version {number}")
    repo.commit("same.txt", "version 0")
    assert sorted(names(History(repo.folder))) == ["docs", "docs/plan.txt", "same.txt"]


def test_many_names_take_little_memory(repo: Repo, tmp_path: Path) -> None:
    """With very many names some come again, and none is left out."""
    for number in range(5):
        repo.commit(f"{number}.txt")
    contents = Contents(opened(repo.folder), most_remembered=1)
    found = read(repo, "--all", contents, tmp_path / "ids")
    assert {item.name for item in found if isinstance(item, Item) and item.name} == {
        f"{number}.txt" for number in range(5)
    }


def test_what_no_branch_has_is_read(repo: Repo) -> None:
    """A commit that was amended, and a blob that was never committed, are in the repository, and in no commit."""
    repo.commit("a.txt", "kept")
    loose_blob = repo.git("hash-object", "-w", "--stdin", given=b"only staged once")
    amended = repo.commit("b.txt", "taken back")
    repo.git("reset", "-q", "--hard", "HEAD~")
    repo.git("reflog", "expire", "--expire=now", "--all")
    source = History(repo.folder)
    found = texts(source)
    assert found[f"the blob {loose_blob[:10]}"] == b"only staged once"
    assert b"taken back" in found.values()
    assert f"the message of {amended[:10]}" in found
    assert (source.since(loose_blob), source.since(amended)) == ("", "")


def test_the_first_commit_of_a_finding_is_known(repo: Repo) -> None:
    """Blobs, commits and paths lead to the commit that brought them, also one that only a merge brought."""
    repo.stage("a.txt", "x")
    repo.git("commit", "-qm", "one", GIT_COMMITTER_DATE="2026-01-02T12:00:00Z")
    first = repo.git("rev-parse", "HEAD")
    blob = repo.git("rev-parse", "HEAD:a.txt")
    repo.git("mv", "a.txt", 'odd\n"name')
    repo.git("commit", "-qm", "two")
    second = repo.git("rev-parse", "HEAD")
    repo.git("switch", "-qc", "side", first)
    repo.commit("side.txt")
    repo.git("merge", "-q", "--no-commit", "main")
    merge = repo.commit("merge.txt", "only here")
    source = History(repo.folder)
    known = [(item, source.since(item.object)) for item, _ in every(source) if item.object]
    since = {item.name or item.place: commit for item, commit in known if commit}
    assert source.since(blob) == f"{first[:10]} of 2026-01-02"
    assert since["a.txt"] == f"{first[:10]} of 2026-01-02"
    assert since[f"the message of {second[:10]}"].startswith(f"{second[:10]} of ")
    assert since['odd\n"name'].startswith(second[:10])
    assert source.since(repo.git("rev-parse", "HEAD:merge.txt")).startswith(merge[:10])
    assert since["merge.txt"].startswith(merge[:10])


def test_settings_of_a_repository_hide_nothing(repo: Repo) -> None:
    """A replacement object, a graft and settings of `git log` change what git shows, and not what is pushed."""
    first = repo.commit("a.txt", "the original", message="one")
    second = repo.commit("a.txt", "harmless", message="two")
    repo.git("replace", repo.git("rev-parse", f"{first}:a.txt"), repo.git("rev-parse", f"{second}:a.txt"))
    (repo.folder / ".git" / "info" / "grafts").write_text(f"{second}\n")
    repo.git("config", "log.showRoot", "false")
    source = History(repo.folder)
    assert b"the original" in texts(source)["a.txt"]
    assert source.since(repo.git("--no-replace-objects", "rev-parse", f"{first}:a.txt")).startswith(first[:10])


def test_a_shallow_clone_is_named(repo: Repo, tmp_path: Path) -> None:
    """A clone without the older history says so, and what to type; its own part is read."""
    repo.commit("a.txt", "old")
    repo.commit("a.txt", "new")
    clone = Repo(tmp_path / "clone")
    repo.git("clone", "-q", "--depth=1", f"file://{repo.folder}", clone.folder)
    source = History(clone.folder)
    assert texts(source)["a.txt"] == b"new"
    why = "this clone is shallow: the older history is not here; to get it, type: git fetch --unshallow"
    assert unread(History(clone.folder)) == [NotRead(str(clone.folder), why)]


def test_a_partial_clone_fetches_nothing(repo: Repo, tmp_path: Path) -> None:
    """Objects that a clone left out are counted, and not fetched: a search reaches no network."""
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.commit("a.txt", "old")
    repo.commit("a.txt", "new")
    clone = Repo(tmp_path / "clone")
    repo.git("clone", "-q", "--filter=blob:none", f"file://{repo.folder}", clone.folder)
    why = "1 objects are not here: this clone is partial; clone the repository without --filter"
    assert unread(History(clone.folder)) == [NotRead(str(clone.folder), why)]
    missing = repo.git("rev-parse", "HEAD~:a.txt")
    pushed = f"refs/heads/main {repo.git('rev-parse', 'HEAD')} refs/heads/main {'0' * 40}\n"
    assert unread(Outgoing(clone.folder, pushed)) != []
    assert clone.try_git("cat-file", "-e", missing, GIT_NO_LAZY_FETCH="1").returncode != 0


def test_a_broken_object_hides_no_other(repo: Repo) -> None:
    """Broken and missing objects are named by their ids, and all others are read."""
    for number in range(9):
        repo.commit(f"{number}.txt", f"content {number}")
    cut, swapped, gone = (repo.git("rev-parse", f"HEAD:{number}.txt") for number in (2, 4, 6))
    for object_id, content in ((cut, b"x"), (swapped, zlib.compress(b"blob 9\0content"))):
        loose(repo, object_id).chmod(0o644)
        loose(repo, object_id).write_bytes(content)
    loose(repo, gone).unlink()
    source = History(repo.folder)
    named = {place: text for place, text in texts(source).items() if place.endswith(".txt") and text}
    assert named == {f"{number}.txt": f"content {number}".encode() for number in (0, 1, 3, 5, 7, 8)}
    said = " ".join(one.place for one in unread(History(repo.folder)))
    assert cut[:10] in said
    assert swapped[:10] in said
    assert any("1 objects are not here" in one.why for one in unread(History(repo.folder)))


def test_a_broken_pack_is_named(repo: Repo) -> None:
    """A pack whose index is broken is passed over by git: the report says that something is broken."""
    repo.commit("a.txt", "old")
    repo.git("gc", "-q")
    (index,) = (repo.folder / ".git" / "objects" / "pack").glob("*.idx")
    index.chmod(0o644)
    index.write_bytes(index.read_bytes()[:-1])
    assert [one.why.partition(":")[0] for one in unread(History(repo.folder))] == [
        "git cannot list what is in this repository",
        "git cannot walk its history",
    ]


def test_objects_of_another_repository_are_read(repo: Repo, tmp_path: Path) -> None:
    """A clone that borrows its objects holds them, too."""
    repo.commit("a.txt", "borrowed")
    clone = Repo(tmp_path / "clone")
    repo.git("clone", "-q", "--shared", repo.folder, clone.folder)
    assert texts(History(clone.folder))["a.txt"] == b"borrowed"


def test_a_large_blob_is_on_the_disk(repo: Repo, tmp_path: Path) -> None:
    """One that is larger than may be in memory is read from a temporary file, which can be sought in."""
    repo.commit("big.bin", b"0123456789" * 200)
    repo.commit("small.bin", b"small")
    wanted = tmp_path / "ids"
    wanted.write_text(repo.git("rev-parse", "HEAD:big.bin", "HEAD:small.bin") + "\n")
    read = list[bytes]()
    with wanted.open("rb") as ids:
        for one in objects(opened(repo.folder).git, ids, in_memory=1000):
            assert isinstance(one, StoredObject)
            assert isinstance(one.content, BytesIO) == (one.size < 1000)
            one.content.seek(-2, os.SEEK_END)
            read.append(one.content.read())
            one.content.seek(0)
            read.append(one.content.read())
    assert read == [b"89", b"0123456789" * 200, b"ll", b"small"]


def test_a_submodule_is_a_note(repo: Repo, tmp_path: Path) -> None:
    """Its name is searched; that its files are elsewhere is a note, because no push from here publishes them."""
    inner = new_repo(tmp_path / "inner")
    inner.commit("a.txt", "inside")
    repo.git("submodule", "add", "-q", inner.folder, "libs/inner")
    repo.git("commit", "-qm", "inner")
    source = History(repo.folder)
    assert "libs/inner" in names(source)
    assert source.notes == ("Submodules (1) are separate repositories, and were not searched",)


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_repository_may_be_bare_or_empty(tmp_path: Path, form: str) -> None:
    """An empty repository holds nothing; a bare one is read like another, with either kind of ids."""
    repo = new_repo(tmp_path / "work", f"--object-format={form}")
    empty = History(repo.folder)
    assert (empty.bytes, list(empty.items())) == (0, [])
    repo.commit("a.txt", "x")
    repo.git("clone", "-q", "--bare", repo.folder, tmp_path / "bare.git")
    source = History(tmp_path / "bare.git")
    assert texts(source)["a.txt"] == b"x"
    assert names(History(tmp_path / "bare.git")) == ["a.txt"]


def test_the_bytes_are_those_of_the_items(repo: Repo) -> None:
    """A progress bar ends at its end."""
    repo.commit("a.txt", "x" * 1000)
    repo.git("tag", "-a", "v1", "-m", "one")
    source = History(repo.folder)
    total = source.bytes
    references = sum(item.size for item, _ in every(History(repo.folder)) if item.place.startswith("the name of"))
    assert total == sum(item.size for item, _ in every(source)) - references


def test_nobodys_hook_variables_choose_the_repository(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that is named is searched, also within a hook of another repository."""
    repo.commit("a.txt", "this one")
    other = new_repo(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.folder / ".git" / "index"))
    assert texts(History(repo.folder))["a.txt"] == b"this one"
