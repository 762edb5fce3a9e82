"""`orrery tenants scan --destinations`: each destination of track B is searched, and a leak is pushed once."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orrery.ports.notifier import DeliveryFailed
from orrery.scanner.cli.scan import command
from orrery.scanner.destinations import MOST_LINES
from tests.scanner.cli.scan_rounds import scripted_deployment
from tests.support.notifiers import ScriptedNotifier
from tests.support.plain_commands import plain
from tests.support.scan_user import SECRETS, TRACKS, ScanUser

TERM = "Northwind"
PUSH = '[push]\nurl = "http://127.0.0.1:1"\ntopic = "nobody-guesses"\n'


class Machine:
    """A user with destinations, and the phone of the user."""

    def __init__(self, user: ScanUser) -> None:
        self.user = user
        self.phone = ScriptedNotifier()
        user.with_list()
        kinds = {"blog": "blog", "team": "shared-folder", "code": "repository"}
        tables = "".join(
            f'[[tenants.B.destinations]]\nname = "{name}"\nkind = "{kind}"\nfolder = "{self.folder(name)}"\n'
            for name, kind in kinds.items()
        )
        social = '[[tenants.B.destinations]]\nname = "news"\nkind = "social"\n'
        internal = f'[[tenants.A.destinations]]\nname = "own"\nkind = "blog"\nfolder = "{self.folder("own")}"\n'
        user.write(f"{SECRETS}{PUSH}{TRACKS}{tables}{social}{internal}")
        self.put("own", "a.md")
        git(self.folder("code"), "init", "--quiet")
        assert user.types(plain("hooks"), "install", str(self.folder("code")))[0] == 0

    def folder(self, name: str) -> Path:
        """Return a destination's folder, which is made."""
        folder = self.user.home / name
        folder.mkdir(exist_ok=True)
        return folder

    def put(self, name: str, file: str, text: str = TERM) -> Path:
        """Write a file of a destination."""
        place = self.folder(name) / file
        place.write_text(f"{text}\n")
        return place

    def round(self, *options: str) -> tuple[int, str, str]:
        """Type the command; return exit code, output and sentences."""
        deployment = scripted_deployment(self.phone)
        return self.user.types(lambda words: command(words, deployment), "--destinations", *options)

    @property
    def pushed(self) -> list[tuple[str, str, str]]:
        """The priority, title and body of each push."""
        return [(one.priority, one.title, one.body) for one in self.phone.accepted]


def git(folder: Path, *words: str) -> None:
    author = ("-c", "user.name=A", "-c", "user.email=a@lab.example")
    subprocess.run(["git", "-C", folder, *author, *words], check=True, capture_output=True)  # noqa: S603, S607  real git


@pytest.fixture
def machine(user: ScanUser) -> Machine:
    """Return a machine whose destinations hold nothing that is internal."""
    return Machine(user)


def test_nothing_found_is_no_push(machine: Machine) -> None:
    """Exit 0, a sentence for each destination with a folder, and those of track A are not looked at."""
    code, out, err = machine.round("--notify")
    assert (code, out, machine.pushed) == (0, "", [])
    assert [line.partition(":")[0] for line in err.splitlines()] == [
        "blog",
        "team",
        "code",
        "watch-list",
        "hooks",
    ]


def test_all_that_is_new_is_one_urgent_push(machine: Machine) -> None:
    """It names kinds, destinations and places, and no term; the next round says it no more."""
    machine.put("blog", "a.md", f"x\n{TERM}")
    machine.put("team", f"{TERM}.md", "y")
    code, out, err = machine.round("--notify")
    assert code == 1
    [(priority, title, body)] = machine.pushed
    assert (priority, title) == ("urgent", "2 new findings in blog, team")
    assert "customer in blog: " in body
    assert "a.md:2" in body
    assert machine.round("--notify")[0] == 1
    assert len(machine.pushed) == 1
    assert TERM.lower() not in f"{out}{err}{title}{body}".lower()


def test_a_repository_is_searched_with_its_history(machine: Machine) -> None:
    """What a later commit took out is still public, and what was committed past the hooks is found."""
    file = machine.put("code", "a.md")
    git(machine.folder("code"), "add", ".")
    git(machine.folder("code"), "commit", "--quiet", "--no-verify", "--message=one")
    file.unlink()
    git(machine.folder("code"), "commit", "--quiet", "--no-verify", "--all", "--message=two")
    assert machine.round("--notify")[0] == 1
    assert machine.pushed[0][1].endswith("in code")


def test_without_notify_nothing_is_pushed_or_remembered(machine: Machine) -> None:
    """A look by hand takes no push away from the timer."""
    machine.put("blog", "a.md")
    code, out, _ = machine.round("--json")
    assert code == 1
    assert {"destination": "blog", "kind": "customer"}.items() <= json.loads(out.splitlines()[0]).items()
    assert machine.pushed == []
    machine.round("--notify")
    assert len(machine.pushed) == 1


def test_a_push_has_bounded_length(machine: Machine) -> None:
    """A folder full of leaks is one message that a phone shows."""
    for number in range(MOST_LINES + 5):
        machine.put("blog", f"{number}-{'x' * 200}.md")
    machine.round("--notify")
    [(_, _, body)] = machine.pushed
    assert "\nand 5 more\n" in body
    assert len(body) < 3500


def test_a_push_that_failed_is_tried_again(machine: Machine) -> None:
    """The round ends with exit code 1 and says why; nothing counts as told."""
    machine.put("blog", "a.md")
    machine.phone.troubles.append(DeliveryFailed("The push service is away.", permanent=False))
    code, _, err = machine.round("--notify")
    assert (code, machine.pushed) == (1, [])
    assert "The push service is away. The next round tries again." in err
    machine.round("--notify")
    assert len(machine.pushed) == 1


def test_a_destination_that_is_away(machine: Machine) -> None:
    """It is told once, and once when it is back; the others are searched meanwhile."""
    machine.folder("team").rename(machine.user.home / "elsewhere")
    machine.put("blog", "a.md")
    assert machine.round("--notify")[0] == 1
    assert machine.round("--notify")[0] == 1
    assert [(one[0], one[1]) for one in machine.pushed] == [
        ("urgent", "1 new finding in blog"),
        ("high", "The search for leaks has a gap"),
    ]
    assert "team: Its folder is missing." in machine.pushed[1][2]
    (machine.user.home / "elsewhere").rename(machine.user.home / "team")
    machine.round("--notify")
    machine.round("--notify")
    assert [one[0] for one in machine.pushed[2:]] == ["low"]


def _hook(machine: Machine, name: str = "pre-commit") -> Path:
    return machine.folder("code") / ".git" / "hooks" / name


def _hooks_path(machine: Machine, *options: str) -> None:
    git(machine.folder("code"), "config", *options, "core.hooksPath", "elsewhere")


def _replaced(machine: Machine) -> None:
    _hook(machine).write_text("#!/bin/sh\nexit 0\n")


def _linked(machine: Machine) -> None:
    _hook(machine).rename(_hook(machine, "moved"))
    _hook(machine).symlink_to("moved")


def _changed(machine: Machine) -> None:
    _hook(machine).write_text(_hook(machine).read_text().replace("kept=", "exit 0\nkept="))


def _other_program(machine: Machine) -> None:
    text = _hook(machine).read_text()
    _hook(machine).write_text(re.sub(r"\S+/orrery\b", "/bin/true", re.sub(r"\S+ -P -m orrery", "/bin/true", text)))


def _in_a_worktree(machine: Machine) -> None:
    git(machine.folder("code"), "commit", "--quiet", "--allow-empty", "--message=one")
    git(machine.folder("code"), "worktree", "add", "--quiet", str(machine.user.home / "tree"))
    git(machine.folder("code"), "config", "extensions.worktreeConfig", "true")
    git(machine.user.home / "tree", "config", "--worktree", "core.hooksPath", "elsewhere")


LOST: dict[str, Callable[[Machine], object]] = {
    "missing": lambda machine: _hook(machine).unlink(),
    "one of them missing": lambda machine: _hook(machine, "pre-push").unlink(),
    "all missing": lambda machine: shutil.rmtree(_hook(machine).parent),
    "not executable": lambda machine: _hook(machine).chmod(0o644),
    "empty": lambda machine: _hook(machine).write_text(""),
    "replaced": _replaced,
    "a link": _linked,
    "changed by hand": _changed,
    "another program": _other_program,
    "passed by": _hooks_path,
    "passed by to nowhere": lambda machine: git(machine.folder("code"), "config", "core.hooksPath", ""),
    "passed by in every repository": lambda machine: _hooks_path(machine, "--global"),
    "passed by in a worktree": _in_a_worktree,
}


def _mend(machine: Machine) -> None:
    """Undo all of it, and install again."""
    code = machine.folder("code")
    for options in ((), ("--global",)):
        subprocess.run(["git", "-C", code, "config", *options, "--unset", "core.hooksPath"], check=False)  # noqa: S603, S607  real git
    shutil.rmtree(machine.user.home / "tree", ignore_errors=True)
    shutil.rmtree(code / ".git" / "hooks", ignore_errors=True)
    assert machine.user.types(plain("hooks"), "install", str(code))[0] == 0


def test_a_hook_that_is_lost_is_known(machine: Machine) -> None:
    """However it was lost, the list of all protected repositories ends with 1, until hooks are installed again."""
    for way, lose in LOST.items():
        lose(machine)
        assert (way, machine.user.types(plain("hooks"), "list")[0]) == (way, 1)
        _mend(machine)
        assert (way, machine.user.types(plain("hooks"), "list")[0]) == (way, 0)


def test_a_hook_that_is_lost_is_told_once(machine: Machine) -> None:
    """Exit 1 and one push, without a place in it; installed again, one all-clear; --check says so, too."""

    def codes() -> list[int]:
        rounds = [machine.round("--notify")[0] for _ in range(2)]
        return [machine.user.types(plain("scan"), "--check")[0], *rounds]

    _hooks_path(machine)
    assert codes() == [1, 1, 1]
    [(priority, _, body)] = machine.pushed
    assert (priority, "orrery tenants hooks list" in body, str(machine.user.home) in body) == ("high", True, False)
    _mend(machine)
    assert codes() == [0, 0, 0]
    assert [one[0] for one in machine.pushed[1:]] == ["low"]


def test_a_protected_repository_is_known(machine: Machine) -> None:
    """One that is no destination is, from its hooks on until they are removed; also when it is gone."""
    private = machine.folder("private")
    git(private, "init", "--quiet")
    assert machine.user.types(plain("hooks"), "install", str(private))[0] == 0
    private.rename(machine.user.home / "moved")
    code, _, err = machine.user.types(plain("hooks"), "list")
    assert (code, f"orrery tenants hooks remove {private}" in err) == (1, True)
    assert machine.round("--notify")[0] == 1
    assert machine.user.types(plain("hooks"), "remove", str(private))[0] == 0
    assert machine.user.types(plain("hooks"), "list")[0] == 0
    assert [one[0] for one in machine.pushed] == ["high"]
    assert machine.round("--notify")[0] == 0


def test_no_list_is_not_all_clear(machine: Machine) -> None:
    """Where there is a track A and no watch-list, to find nothing is no all-clear, and a push says so."""
    machine.user.list_path.unlink()
    code, _, err = machine.round("--notify")
    assert (code, "There is a track A, but no watch-list" in err) == (1, True)
    assert [one[0] for one in machine.pushed] == ["high"]
    assert machine.user.types(plain("scan"), "--check")[0] == 1


def test_a_missing_key_is_a_push(machine: Machine) -> None:
    """A round that cannot search at all is said once for all destinations, and again when the reason changes."""
    key = machine.user.key_file.read_text()
    machine.user.key_file.unlink()
    for _ in range(2):
        assert machine.round("--notify")[0] == 1
    [(priority, _, body)] = machine.pushed
    assert priority == "high"
    assert "blog, team, code: The watch-list " in body
    machine.user.key_file.write_text(key)
    machine.user.list_path.write_bytes(machine.user.list_path.read_bytes()[:-1])
    assert machine.round("--notify")[0] == 1
    assert len(machine.pushed) == 2


def test_what_was_told_lies_outside_of_the_repositories(machine: Machine) -> None:
    """It is in the user's state folder, for nobody else."""
    machine.round("--notify")
    told = machine.user.home / ".local/state/orrery/told"
    assert told.stat().st_mode & 0o777 == 0o600


def test_there_must_be_something_to_search(user: ScanUser) -> None:
    """A timer without destinations would look like a guard."""
    user.write(TRACKS)
    code, _, err = user.types(plain("scan"), "--destinations")
    assert code == 2
    assert "no destination" in err


def test_a_push_needs_its_settings(user: ScanUser) -> None:
    """Without them a round with --notify does not begin."""
    user.write(f'{TRACKS}[[tenants.B.destinations]]\nname = "blog"\nkind = "blog"\nfolder = "{user.here}"\n')
    code, _, err = user.types(plain("scan"), "--destinations", "--notify")
    assert code == 2
    assert "[push]" in err
