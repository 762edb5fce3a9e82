"""The scripts as they are served to any site."""

from orrery.live.widgets import widgets


def test_the_defaults_stand_once_each() -> None:
    """Each default of a deployment is set in one place, and nothing of the written one is left."""
    text = widgets(min_visible=7, interval=9)["pill.js"].text
    assert (text.count("MIN_VISIBLE = 7;"), text.count("INTERVAL = 9;")) == (1, 1)
    assert "= 45;" not in text


def test_another_text_has_another_validator() -> None:
    """A browser takes a script anew once a default has changed."""
    one, two = (widgets(min_visible=number, interval=45)["pill.js"].etag for number in (1, 2))
    assert one != two
