"""The picture of clusters, at the terminal, in words and as a file."""

import re
from dataclasses import replace
from datetime import timedelta
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from orrery.fraud.clusters import Cluster, Decline
from orrery.fraud.sentences import lasting
from orrery.fraud.timeline import MARK, REST, SHADE, STOPPED, headline, lane, ruler, scale_of, summary
from orrery.fraud.timeline_svg import svg
from tests.support.clock import START
from tests.support.tables import each_case

SVG = "{http://www.w3.org/2000/svg}"


def cluster(*seconds: float, value: str = "9.9.9.9", stopped: int = 0) -> Cluster:
    """Return a cluster of declines at these seconds, the last of which the processor stopped."""
    declines = [
        Decline(f"ch_{number}", START + timedelta(seconds=moment), value) for number, moment in enumerate(seconds)
    ]
    reached = len(declines) - stopped
    cut = [replace(one, stopped=number >= reached) for number, one in enumerate(declines)]
    return Cluster("fc-0123456789", "address", value, tuple(cut))


def test_a_lane_shows_declines_and_the_five_minutes() -> None:
    """Each decline has its place after the first, in the window that flags three and beyond it."""
    one = cluster(0, 150, 300, 600, stopped=1)
    drawn = lane(one, scale_of([one]), 54)
    assert drawn == f"{MARK}{SHADE * 11}{MARK}{SHADE * 12}{MARK}{REST * 24}{STOPPED}{REST * 3}"


def test_several_declines_in_one_place_are_counted() -> None:
    """A place holds a number where declines fall together, and a plus where there are more than nine."""
    one = cluster(*[0] * 3, *[150] * 12)
    assert lane(one, scale_of([one]), 40).replace(SHADE, "").replace(REST, "") == "3+"


@given(st.lists(st.floats(0, 90_000), min_size=3, max_size=30), st.integers(20, 120))
def test_every_lane_fits(seconds: list[float], width: int) -> None:
    """However long a cluster lasts and however narrow the terminal, a lane is as wide as it may be."""
    one = cluster(*sorted(seconds))
    scale = scale_of([one, cluster(0, 1, 2)])
    assert len(lane(one, scale, width)) == width
    assert len(ruler(scale, width)) <= width + 12
    assert ruler(scale, width).startswith("0")


def test_all_lanes_have_one_scale() -> None:
    """The longest cluster decides for all; a short one leaves room behind its window."""
    short, long = cluster(0, 1, 2), cluster(0, 100, 200, 450, 600)
    assert scale_of([short, long]) == scale_of([long])
    assert ruler(scale_of([short]), 60).split() == ["0", "5", "min"]
    assert ruler(scale_of([long]), 60).split() == ["0", "5", "min", "10", "min"]


def test_the_words_say_what_the_picture_shows() -> None:
    """How many, how long, what they share, when, how close together, and what was stopped."""
    assert summary(cluster(0, 150, 300, 450, stopped=1)) == (
        "fc-0123456789: 4 declines within 7 min 30 s, one client address: 9.9.9.9. "
        "From 2026-03-01 12:00:00 to 12:07:30 UTC. At most 3 within 5 minutes. The processor stopped 1 of them."
    )
    assert summary(cluster(0, 1, 2)).endswith("From 2026-03-01 12:00:00 to 12:00:02 UTC.")
    over_night = cluster(*range(0, 86_400, 100))
    assert "From 2026-03-01 12:00:00 to 2026-03-02 11:58:20 UTC." in summary(over_night)


def test_a_buyers_text_steers_no_terminal() -> None:
    """What cannot be printed is replaced before it is shown."""
    assert headline(cluster(0, 1, 2, value="a\x1b[2J\n@b.example")).endswith("a\ufffd[2J @b.example")


@each_case(
    ("seconds", "said"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (130, "2 min 10 s"), (3600, "1 h"), (3930, "1 h 5 min")],
)
def test_durations_are_told_shortly(seconds: int, said: str) -> None:
    """Two units at most."""
    assert lasting(timedelta(seconds=seconds)) == said


@given(st.lists(st.text(max_size=100), max_size=3))
def test_the_file_is_a_whole_document_whatever_a_buyer_typed(values: list[str]) -> None:
    """Values are escaped, what has no place in a document is replaced, and nothing is fetched from outside."""
    drawn = svg([cluster(0, 10, 20, value=value) for value in values])
    root = ET.fromstring(drawn)  # noqa: S314  our own document
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
        *("svg", "title", "desc", "style", "rect", "g", "text", "path", "line", "circle")
    }
    assert len(root.findall(f".//{SVG}circle")) == (3 * len(values) + 2 if values else 0)
    assert re.findall(r"(?:href|src|url\(|@import)", re.sub(r"<(desc|text)[^>]*>[^<]*", "", drawn)) == []


def test_the_file_says_in_words_what_it_shows() -> None:
    """A title and a description name the picture for anyone who does not see it."""
    one = cluster(0, 150, 300, value="<b>&\"'")
    root = ET.fromstring(svg([one]))  # noqa: S314  our own document
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "title description"
    assert root.findtext(f"{SVG}title") == "1 fraud cluster"
    assert root.findtext(f"{SVG}desc") == summary(one)
    assert "prefers-color-scheme: dark" in svg([one])


def test_an_empty_picture_says_so() -> None:
    """Without clusters there is a picture that says that there are none."""
    assert "No cluster was found." in svg([])
