"""A table fits the terminal that it is printed on, and loses nothing in a pipe."""

import pytest
import typer

from orrery.ports.health import Finding
from orrery.ports.processor.errors import ItemUnreadable
from orrery.runtime.console.findings import finding_lines
from orrery.runtime.console.tables import show, table_lines

SESSION = "cs_test_" + "a" * 58
HEADS = ("created", "state", "email", "session id", "note")
ROWS = (
    ("21 Nov", "open", "-", SESSION, "a 語"),
    ("20 Nov", "complete", "ann@example.org", SESSION, "-"),
)


def test_a_pipe_gets_each_row_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever its length."""
    show([{"id": 1, "note": "x" * 5000}, {"id": 2}], ("id", "note"), as_json=False, empty="")
    assert capsys.readouterr().out.splitlines() == ["id  note", f"1   {'x' * 5000}", "2   -"]


def test_what_does_not_fit_stands_under_its_row() -> None:
    """The widest column leaves the table, so that its value can be copied in one piece; nothing is no line."""
    assert [line.plain for line in table_lines(HEADS, ROWS, 50)] == [
        "created  state     email            note",
        "21 Nov   open      -                a 語",
        f"  session id  {SESSION}",
        "20 Nov   complete  ann@example.org  -",
        f"  session id  {SESSION}",
    ]


def test_data_of_a_track_says_so_in_each_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The label is above the table, ahead of each row, and ahead of what stands under a row."""
    show([{"id": 1, "track": "A"}, {"id": 2, "track": None}], ("id", "track"), as_json=False, empty="")
    assert capsys.readouterr().out.splitlines() == ["[track:A]", "track      id", "[track:A]  1", "-          2"]
    rows = [("[track:A]", "21 Nov", SESSION), ("-", "20 Nov", SESSION)]
    assert [line.plain for line in table_lines(("track", "at", "id"), rows, 50, leads=("[track:A]", ""))][1:] == [
        "[track:A]  21 Nov",
        f"  [track:A]  id  {SESSION}",
        "-          20 Nov",
        f"  id  {SESSION}",
    ]


def test_a_command_in_a_finding_is_in_one_piece() -> None:
    """In a narrow terminal it stands under its row, behind the label of whose data it is."""
    todo = "Type `orrery tenants hooks install --repository site`, then `orrery tenants doctor`."
    odd = Finding("[track:A] hooks", "broken", "A hook is missing.", todo, essential=False)
    lines = [line.plain for line in finding_lines([odd, Finding("list", "ok", essential=False)], 60)]
    assert lines[0] == "[track:A]"
    assert f"  [track:A]  what to do  {todo}" in lines
    assert lines[-1] == "list             ok"


def test_two_columns_stay_beside_each_other() -> None:
    """A name without its value would be no table."""
    rows = [(SESSION, "a 語")]
    assert [line.plain for line in table_lines(("session id", "note"), rows, 50)][1] == f"{SESSION}  a 語"


def test_an_object_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    """The others are listed, the object is named with its id and field, and the exit code is 1."""
    odd = ItemUnreadable("charge", "ch_odd", ("amount",))
    with pytest.raises(typer.Exit) as left:
        show([{"id": "ch_1"}], ("id",), as_json=False, empty="No charge.", unreadable=[odd])
    said = capsys.readouterr()
    assert (left.value.exit_code, "ch_1" in said.out) == (1, True)
    assert "amount" in said.err
    assert "ch_odd" in said.err
