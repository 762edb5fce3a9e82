"""Labels of track A."""

import json

from orrery.scanner.detectors.labels import labels
from orrery.scanner.detectors.searching import SearchDetector
from tests.support.tables import each_case

LABEL = json.dumps({"id": "x", "track": "A"})


@each_case(
    "text",
    [
        *(LABEL, json.dumps({"text": LABEL}), LABEL.replace('"', "&quot;"), LABEL.replace('"', "“"), "track: A"),
        *("<td>track</td>:'A'".replace("<td>", "'").replace("</td>", "'"), LABEL.replace('"', "%22")),
    ],
)
def test_a_label_is_found_on_its_line(text: str) -> None:
    """In each of its copies."""
    octets = f"one\n{text}\nthree".encode()
    found = list(SearchDetector(labels).matches(octets, ""))
    assert [(one.kind, octets[: one.start].count(b"\n")) for one in found] == [("track-label", 1)]


def test_a_label_in_utf_16_is_found() -> None:
    """As a shell of Windows writes it."""
    assert len(list(SearchDetector(labels).matches(LABEL.encode("utf-16-le"), ""))) == 1


@each_case("text", ['"track": "B"', "track A", "soundtrack: A", '"tracks": "A"', "track: AB"])
def test_what_is_like_a_label_is_none(text: str) -> None:
    """Such as that of track B."""
    assert list(SearchDetector(labels).matches(text.encode(), "")) == []
