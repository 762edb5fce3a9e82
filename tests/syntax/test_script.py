"""The scripts that a site embeds."""

import gzip

import pytest

from orrery.live.widgets import NAMES
from orrery.syntax.script import Script

MOST = {"guided/buy.js": 3000, "live/pill.js": 2000}
"""Bytes on the way, compressed."""

ALL = [*MOST, *(f"live/{name}" for name in NAMES if name != "pill.js")]


@pytest.mark.parametrize("path", MOST)
def test_small_scripts_stay_small(path: str) -> None:
    """What every visitor of a site loads is as small as its page promises."""
    assert len(gzip.compress(Script.of_file(path).text.encode())) < MOST[path]


@pytest.mark.parametrize("path", ALL)
def test_comments_stay_here(path: str) -> None:
    """No line of the served scripts is a comment for their authors."""
    lines = Script.of_file(path).text.splitlines()
    assert not [line for line in lines if line.lstrip().startswith("//")]
