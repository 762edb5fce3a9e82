"""The scripts as they are served to any site."""

import gzip

import pytest

from orrery.live.widgets import NAMES, widgets

TWO_KILOBYTES = 2000


def test_the_pill_is_small() -> None:
    """The pill's script is under 2 kB on its way."""
    text = widgets(min_visible=1, interval=45)["pill.js"].text
    assert len(gzip.compress(text.encode())) < TWO_KILOBYTES


def test_the_defaults_stand_once_each() -> None:
    """Each default of a deployment is set in one place, and nothing of the written one is left."""
    text = widgets(min_visible=7, interval=9)["pill.js"].text
    assert (text.count("MIN_VISIBLE = 7;"), text.count("INTERVAL = 9;")) == (1, 1)
    assert "= 45;" not in text


@pytest.mark.parametrize("name", NAMES)
def test_comments_stay_here(name: str) -> None:
    """No line of the served scripts is a comment for their authors."""
    lines = widgets(min_visible=1, interval=45)[name].text.splitlines()
    assert not [line for line in lines if line.lstrip().startswith("//")]


def test_another_text_has_another_validator() -> None:
    """A browser takes a script anew once a default has changed."""
    one, two = (widgets(min_visible=number, interval=45)["pill.js"].etag for number in (1, 2))
    assert one != two
