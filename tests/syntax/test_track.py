"""The label that says whose data a text is, in whatever copy of it."""

import html
import json

import pytest

from orrery.syntax.track import labels_in

ROW = {"id": "x", "track": "A", "title": "A secret"}


COPIES = {
    "plain": json.dumps(ROW),
    "pretty-printed": json.dumps([ROW], indent=4),
    "compact": json.dumps(ROW, separators=(",", ":")),
    "spread over lines": '{"track"\n  :\n  "A"}',
    "inside a text of JSON": json.dumps({"text": json.dumps(ROW)}),
    "twice inside": json.dumps(json.dumps(json.dumps(ROW))),
    "escaped as a code": json.dumps({"text": json.dumps(ROW)}).replace('\\"', "\\u0022"),
    "as Python prints it": str(ROW),
    "in a source file": f"EXAMPLE = '{json.dumps(ROW)}'\n",
    "in mark-up": f"<pre>{html.escape(json.dumps(ROW))}</pre>",
    "in mark-up by numbers": json.dumps(ROW).replace('"', "&#34;"),
    "in mark-up by hexadecimal numbers": json.dumps(ROW).replace('"', "&#x22;"),
    "with curled quotation marks": json.dumps(ROW).replace('"', "\N{RIGHT DOUBLE QUOTATION MARK}"),
    "amid other text": f"We saw this:\n\n    {json.dumps(ROW)}\n\nand thought nothing of it.",
}


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_a_copy_still_has_its_label(copy: str, encoding: str) -> None:
    """However it was printed, quoted or encoded, a copy says whose data it is."""
    assert labels_in(copy.encode(encoding if copy.isascii() else "utf-8")) == {"A"}


def test_both_labels_are_found() -> None:
    """A text with data of both tracks has both labels."""
    assert labels_in(json.dumps([ROW, ROW | {"track": "B"}]).encode()) == {"A", "B"}
    assert labels_in(b'{"track": "B"}') == {"B"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "track A",
        "Track: A",
        '"track": null',
        '"track": "C"',
        '"track": "AB"',
        '"soundtrack": "A"',
        '{"A": "track"}',
    ],
)
def test_other_texts_have_no_label(text: str) -> None:
    """A text that speaks of tracks is no data of one."""
    assert labels_in(text.encode()) == frozenset()


def test_a_hostile_text_is_read_to_its_end() -> None:
    """A text of backslashes or white space is read once, not once for each of its characters."""
    hostile = b"\\" * 300_000
    assert labels_in(hostile + b'"track' + hostile) == frozenset()
    assert labels_in(b'"track"' + b" " * 300_000 + b'"track"') == frozenset()
