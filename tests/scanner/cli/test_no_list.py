"""Where there is a track A and no watch-list, a search before a commit or a push is no all-clear."""

import json

import pytest

from tests.support.plain_commands import plain
from tests.support.program import typed
from tests.support.repositories import Repo, new_repo
from tests.support.scan_user import SECRETS, TRACKS, ScanUser, at_a_terminal

scan, hooks = plain("scan"), plain("hooks")
MENDS = "type: orrery tenants watch add --kind customer"


@pytest.fixture
def repo(user: ScanUser) -> Repo:
    """Return a repository of a user with both tracks, who has no watch-list, or one without a term."""
    user.write(f"{SECRETS}{TRACKS}")
    (user.config / "secrets").mkdir(mode=0o700)
    (user.home / ".gitconfig").write_text("[user]\nname = Ann\nemail = ann@lab.example\n")
    return new_repo(user.here)


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("words", [("--staged",), ("--outgoing",), ("--message", "message")])
def test_what_a_hook_searches_is_refused(
    user: ScanUser, repo: Repo, words: tuple[str, ...], *, empty: bool
) -> None:
    """One sentence with the command that mends it; --without-watch-list goes on; a search of files says so."""
    repo.write("message")
    if empty:
        assert user.types(plain("watch new-key"))[0] == 0
        user.watch_list().change(lambda found: found)
    code, out, err = user.types(scan, *words)
    assert (code, out, err.count("\n"), MENDS in err) == (2, "", 1, True)
    assert user.types(scan, ".")[0] == 0
    if "--outgoing" not in words:
        assert user.types(scan, *words, "--without-watch-list")[0] == 0
        assert user.types(scan, *words, "--without-watch-list", "--quiet") == (0, "", "")
    assert user.types(plain("watch new-key"))[0] == (2 if empty else 0)
    assert user.types(plain("watch add"), "--kind", "customer", given="Northwind\n")[0] == 0
    if "--outgoing" not in words:
        assert user.types(scan, *words, "--quiet") == (0, "", "")


def test_hooks_need_a_list_or_the_journal(user: ScanUser, repo: Repo) -> None:
    """They are not installed without; with --without-watch-list they are, once the journal keeps it."""
    place = repo.folder / ".git" / "hooks" / "pre-commit"
    code, out, err = user.types(hooks, "install")
    assert (code, out, err.count("\n"), MENDS in err) == (2, "", 1, True)
    code, _, err = user.types(hooks, "install", "--without-watch-list")
    assert (code, "The journal cannot keep it" in err, place.exists()) == (2, True, False)
    assert user.types(hooks, "list")[0] == 1
    config = str(user.config / "orrery.toml")
    assert typed("cockpit", "store", "create", "--config", config).returncode == 0
    code, _, err = user.types(hooks, "install", "--without-watch-list")
    assert (code, err.count("There is no watch-list")) == (0, 1)
    [entry] = json.loads(typed("tenants", "journal", "list", "--json", "--config", config).stdout)
    assert (entry["track"], "without a watch-list" in entry["text"]) == ("B", True)
    assert user.types(hooks, "list")[0] == 0
    user.set(TERM="xterm")
    repo.stage("a.txt")

    def commit(_: object) -> int:
        return repo.try_git("commit", "-qm", "one").returncode

    assert at_a_terminal(commit) == (0, "")
    assert repo.try_git("commit", "-q", "--amend", "-m", "two").stderr == b""


def test_without_track_a_no_list_is_needed(user: ScanUser, repo: Repo) -> None:
    """Who has no corporate track has no names of it."""
    user.write(f"{SECRETS}[tenants.B]{TRACKS.partition('[tenants.B]')[2]}")
    assert user.types(hooks, "install")[0] == 0
    repo.stage("a.txt")
    assert repo.try_git("commit", "-qm", "one").stderr == b""
