"""The label that says whose data a text is, in whatever copy of it."""

import csv
import html
import io
import json

import pytest

from orrery.syntax.track import TRACKS, Track, label, labelled, labels_in, without_tokens
from tests.support.tables import each_case

ROW = {"id": "x", "track": "A", "title": "A secret"}


def in_a_table() -> str:
    """Return the row as a cell of a table of comma-separated values, which doubles quotation marks."""
    table = io.StringIO()
    csv.writer(table).writerow(["2026-11-20", json.dumps(ROW)])
    return table.getvalue()


COPIES = {
    "as a token": "Call [track:A] Bo",
    "as a token alone": label("A"),
    "as a token above a text": labelled("A secret", "A"),
    "as a token in a cell of CSV": 'id,"[track:A]","A ""secret"""',
    "as a token in a cell of Markdown": "| \\[track:A\\] | A secret |",
    "as a token in mark-up": "<td>[track:A]</td><td>A secret</td>",
    "as a token in mark-up by numbers": "&#91;track&#58;A&#x5d;",
    "as a token in mark-up by name": "&lbrack;track&colon;A&rbrack;",
    "as a token in SVG": '<svg xmlns="http://www.w3.org/2000/svg"><text x="1">[track:A] Corporate</text></svg>',
    "as a token in an address": "https://lab.example/?title=%5Btrack%3AA%5D%20A%20secret",
    "as a token escaped as a code": json.dumps("[track:A]").replace("[", "\\u005b").replace("]", "\\u005D"),
    "as a token with colours for a terminal": "\x1b[1m[\x1b[0mtrack:\x1b[34;1mA\x1b[0m]",
    "as a token with colours for the web": "<i>[</i><b>track</b>:<u class='s'>A</u>]",
    "as a token in a narrow column": "2026-11-20  [track:\n            A]  A secret",
    "as a token in a quoted narrow column": "> > [\r\n> > track:A]",
    "as a token in large letters": "[TRACK:A]",
    "as a token amid letters": "ann@corp.example[track:A]Ann",
    "as a header": "HTTP/1.1 200 OK\r\nOrrery-Track: [track:A]\r\n\r\nA secret",
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
    "as Python prints it, in mark-up": html.escape(str(ROW)),
    "with curled quotation marks, in mark-up": json.dumps(ROW).replace('"', "&#8220;"),
    "with curled quotation marks by name": json.dumps(ROW).replace('"', "&rdquo;"),
    "with spaces that do not break": json.dumps(ROW).replace(": ", "\N{NO-BREAK SPACE}:\N{NO-BREAK SPACE}"),
    "in a cell of a table": in_a_table(),
    "with colours for the web": '<b>&quot;track&quot;</b><i>:</i><i> </i><u class="s">&quot;A&quot;</u>',
    "with its marks in colours of their own": '<i>"</i><b>track</b><i>"</i><i>:</i> <i>"</i><b>A</b><i>"</i>',
    "with colours for a terminal": '\x1b[34;1m"track"\x1b[0m\x1b[39;1m:\x1b[0m \x1b[0;32m"A"\x1b[0m',
    "as JavaScript prints it": "{ id: 'x', track: 'A', title: 'A secret' }",
    "as JavaScript has it": '{ id: "x", track: "A" }',
    "as YAML": "- id: x\n  track: A\n  title: A secret\n",
    "as YAML at the beginning": "track: A\ntitle: A secret\n",
    "as YAML, first": "- track: A\r\n  title: A secret\r\n",
    "as Ruby and PHP print it": '{"id"=>"x", "track" => "A"}',
    "in an address": "https://lab.example/?row=%7B%22track%22%3A%20%22A%22%7D",
    "written by another program": '{"Track": "A"}',
    "escaped by a program": r"\x22track\x22: \x22A\x22",
    "escaped as a code, as Python prints it": r"{\u0027track\u0027: \u0027A\u0027}",
    "amid other text": f"We saw this:\n\n    {json.dumps(ROW)}\n\nand thought nothing of it.",
}


@each_case("copy", COPIES.values())
@each_case("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_a_copy_still_has_its_label(copy: str, encoding: str) -> None:
    """However it was printed, quoted or encoded, a copy says whose data it is."""
    assert labels_in(copy.encode(encoding if copy.isascii() else "utf-8")) == {"A"}


def test_both_labels_are_found() -> None:
    """A text with data of both tracks has both labels."""
    assert labels_in(json.dumps([ROW, ROW | {"track": "B"}]).encode()) == {"A", "B"}
    assert labels_in(b'{"track": "B"}') == {"B"}


@each_case(
    "text",
    [
        "",
        "track A",
        "Track: A",
        '"track": null',
        '"track": "C"',
        '"track": "AB"',
        '"soundtrack": "A"',
        "soundtrack: 'A'",
        "soundtrack: A",
        '"back-track": "A"',
        'track = "A"',
        "Which track: A or B?",
        "He is on track: A",
        "track: All",
        '"track": "A',
        '{"A": "track"}',
        "[Track A]",
        "[track A](https://lab.example/a)",
        "(track:A)",
        "track:A",
        "[track: A]",
        "[track:AB]",
        "[track:C]",
        "[track:a]",
        "[soundtrack:A]",
        "[track:A",
        "row[track]:A]",
        "The label has the form [track:...].",
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
    assert labels_in(b'"track"' + b"<b>" * 100_000 + b'"track"') == frozenset()
    assert labels_in(b'track"<' * 50_000) == frozenset()
    assert labels_in(b"[" * 300_000 + b"[\n " * 100_000 + b"[track:" + b"\n" * 300_000) == frozenset()
    assert labels_in(b"[track:A" + hostile + b"[<b>track" * 50_000) == frozenset()
    assert labels_in(b" " * 300_000 + b"track" + b"&#" + b"0" * 300_000) == frozenset()


@pytest.mark.parametrize("track", TRACKS)
def test_a_text_for_others_loses_its_label(track: Track) -> None:
    """A copy of a text with its label, or of a row, is the text alone; other texts stay as they are."""
    text = "Hello \ud800\n\nBo: [track A] is on track: A\n"
    assert without_tokens(labelled(text, track)) == text
    assert without_tokens(f"{label(track)} Call {label(track)}Bo") == "Call Bo"
    assert not labels_in(without_tokens(labelled(label(track), track)).encode())
