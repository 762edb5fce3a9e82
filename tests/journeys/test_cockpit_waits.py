"""What waits, in the process: the sample shows every reason, and what a person set aside is on the disk."""

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

from orrery.cockpit.waiting import Reason
from tests.support.cockpit import running_cockpit
from tests.support.ports import free_ports
from tests.support.program import run_orrery


def test_the_sample_shows_what_is_not_listed(tmp_path: Path) -> None:
    """Every reason but the person's own word is there from the start, in one line and row by row."""
    with running_cockpit(tmp_path, "--sample") as cockpit:
        listed = cockpit.listed()
        others = cockpit.ask("GET", "/api/comms/rows?listed=false").json()
    counted = Counter(one["reason"] for one in others["rows"])
    assert {*get_args(Reason)} - {"later"} <= {*counted}
    assert listed["not_listed"] == others["not_listed"]
    assert listed["not_listed"]["reasons"] == counted
    assert listed["not_listed"]["line"].startswith(f"{counted.total()} not listed: ")
    assert {one["reason"] for one in listed["rows"]} == {None}


def test_done_and_later_survive_a_restart(tmp_path: Path) -> None:
    """They are on the disk, with the track; a day that is none is refused in one sentence."""
    settings = tmp_path / "orrery.toml"
    settings.write_text(
        f'[cockpit]\nport = {free_ports(1)[0]}\nstore = "cockpit.db"\n'
        '[[cockpit.mailboxes]]\nkind = "sample"\naccount = "ann@lab.example"\ntrack = "B"\nfolder = "drafts"\n'
    )
    assert run_orrery("cockpit", "store", "create", "--config", str(settings)).returncode == 0
    with running_cockpit(tmp_path, "--config", str(settings)) as cockpit:
        done, later, *_ = [one["id"] for one in cockpit.rows() if one["source"] == "mail"]
        today = datetime.now().astimezone().date()  # noqa: TID251  the process has the machine's clock
        until = (today + timedelta(days=1)).isoformat()
        asked = {"rowId": later, "action": "later", "until": until}
        answer = cockpit.ask("POST", "/api/comms/set-aside", {"rowId": done, "action": "done"})
        assert (answer.status, answer.json()["changed"], answer.json()["track"]) == (200, True, "B")
        assert cockpit.ask("POST", "/api/comms/set-aside", asked).json()["until"] == until
        for wrong in ({"until": today.isoformat()}, {"until": "tomorrow"}, {"until": None}, {"action": "send"}):
            refused = cockpit.ask("POST", "/api/comms/set-aside", asked | wrong)
            assert (refused.status, refused.json()["error"]) == (422, "invalid-field")
    with running_cockpit(tmp_path, "--config", str(settings)) as cockpit:
        assert not {done, later} & {one["id"] for one in cockpit.rows()}
        others = cockpit.ask("GET", "/api/comms/rows?listed=false").json()["rows"]
        assert {done: "done", later: "later"}.items() <= {one["id"]: one["reason"] for one in others}.items()
        undone = cockpit.ask("POST", "/api/comms/set-aside", {"rowId": later, "action": "undo"}).json()["before"]
        assert undone == {"action": "later", "until": until, "track": "B"}
