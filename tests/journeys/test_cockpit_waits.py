"""What waits, in the process: the sample shows every reason, and what a person set aside is on the disk."""

from collections import Counter
from pathlib import Path
from typing import get_args

from orrery.cockpit.waiting import Reason
from tests.support.cockpit import running_cockpit


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
