"""`orrery tenants scan --check`: each part of the scanner, and what is wrong with it."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from orrery.app.scan.deployment import DEPLOYMENT
from orrery.app.scan.files import scan_files
from orrery.scanner.pushed import PushedFindings
from tests.support.plain_commands import plain
from tests.support.scan_user import SECRETS, TRACKS, ScanUser


def parts(user: ScanUser) -> tuple[int, dict[str, str]]:
    """Return the exit code, and the state of each part."""
    code, out, _ = user.types(plain("scan"), "--check", "--json")
    return code, {one["part"]: one["state"] for one in json.loads(out)}


def test_without_settings_all_is_off(user: ScanUser) -> None:
    """That is allowed: a stranger's machine has none."""
    code, found = parts(user)
    assert code == 0
    assert {found[one] for one in ("watch-list", "destinations", "push", "timer")} == {"off"}
    assert found["rules"] == "ok"


def test_what_is_there_is_ok(user: ScanUser) -> None:
    """With a list, a destination and a push."""
    user.with_list()
    place = f'[[tenants.B.destinations]]\nname = "blog"\nkind = "blog"\nfolder = "{user.here}"\n'
    user.write(f'{SECRETS}{TRACKS}{place}[push]\nurl = "https://push.example"\ntopic = "t"\n')
    code, found = parts(user)
    assert code == 0
    assert found == {
        "watch-list": "ok",
        "rules": "ok",
        "hooks": "off",
        "destinations": "ok",
        "push": "ok",
        "timer": "off",
    }


@pytest.mark.parametrize("change", ["key", "rules", "baseline", "folder"])
def test_what_is_wrong_is_broken(user: ScanUser, change: str) -> None:
    """A missing key, rules that cannot be read, a damaged baseline, a destination that is away."""
    user.with_list()
    text = {
        "rules": '[scan]\nrules = ["gone.toml"]\n',
        "baseline": '[scan]\nbaseline = "gone.toml"\n',
        "folder": f'{TRACKS}[[tenants.B.destinations]]\nname = "blog"\nkind = "blog"\nfolder = "/nowhere"\n',
    }
    user.write(f"{SECRETS}{text.get(change, '')}")
    if change == "key":
        user.key_file.unlink()
    code, found = parts(user)
    assert code == 1
    assert "broken" in found.values()


def test_a_timer_that_stopped_is_broken(user: ScanUser) -> None:
    """The last round shows it, three hours late; nothing else would."""
    user.write("")
    file, now = DEPLOYMENT.rounds().pushed(None), DEPLOYMENT.rounds().now()
    for hours, state in ((1, "ok"), (4, "broken")):
        ended = (now - timedelta(hours=hours)).isoformat()
        told = PushedFindings.of(None).after([], ended, findings=True, troubles=True, again=True)
        file.change(lambda _, told=told: told.to_bytes())
        assert parts(user)[1]["timer"] == state


def test_the_timers_folder_goes_first(user: ScanUser) -> None:
    """The unit of the system has a folder for each user: what it noted counts for a round by hand, too."""
    files = scan_files(None)
    assert files.pushed().path == user.home / ".local/state/orrery/told"
    there = user.home / "state"
    there.mkdir()
    assert replace(files, timer_state=there).pushed().path == there / "told"
