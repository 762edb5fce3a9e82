"""The table of statements: what counts, and what fails the check."""

from tests.support.tables import each_case
from tools.statements import ROOT, TABLE, Row, files, problems, rows, shown, statements, updated

RECORDS = ROOT / "docs" / "decisions"
RECORD = "0082"
"""A decision record that there is."""


@each_case(
    ("text", "count"),
    [
        ("", 0),
        ('"""What it is."""\n# why\n\nx = 1\n', 1),
        ("x = (\n    1,\n    2,\n)\ny = 2; z = 3\n", 3),
        ('def f():\n    """Return."""\n    if x:\n        return 1\n    return 2\n', 4),
        ('class A:\n    """A."""\n\n    async def f(self): ...\n', 3),
        ('x = 1\n"""What x is."""\n', 1),
    ],
)
def test_what_counts(text: str, count: int) -> None:
    """Each statement wherever it is nested; no docstring, no comment, no way of breaking lines."""
    assert statements(text.encode()) == count


@each_case(
    ("row", "present", "binds", "said"),
    [
        (Row("app", 10), 10, False, []),
        (Row("app", 10), 11, False, ["app has 11 statements, and may have 10: take out 1."]),
        (Row("app", 10, 5), 10, False, []),
        (Row("app", 10, 5), 10, True, ["app has 10 statements, and may have 5: take out 5."]),
        (Row("app", 10, 5, {RECORD: 3}), 13, False, []),
        (Row("app", 10, 5, {RECORD: 3}), 8, True, []),
        (Row("app", 10, 5, {RECORD: 3}), 14, False, ["app has 14 statements, and may have 13: take out 1."]),
        (Row("app", 10), 11, True, ["app has 11 statements, and may have 10: take out 1."]),
        (Row("app", 10, 5, {"9999": 3}), 10, False, ["app: decision record 9999 is missing."]),
        (Row("edge", 10), 10, False, ["app has no row.", "edge is no package."]),
        (Row("app + edge", 10), 10, False, ["edge is no package."]),
    ],
)
def test_what_fails_the_check(row: Row, present: int, binds: bool, said: list[str]) -> None:  # noqa: FBT001  pytest passes parameters by position
    """More than it had and what was added, more than its budget once that binds, or other packages."""
    assert list(problems([row], {"app": present}, RECORDS, binds=binds)) == said


def test_the_table_names_every_package_and_no_other() -> None:
    """A new package has its row, and each addition its decision record; numbers are for `./run check`."""
    table, binds = rows(TABLE.read_text())
    none = dict.fromkeys((package for package, _ in files(ROOT)), 0)
    assert list(problems(table, none, RECORDS, binds=binds)) == []


def test_an_update_writes_the_present_numbers_and_nothing_else() -> None:
    """What was added stays an addition, so that what a package may have is what it has."""
    text = """binds = false # as it is
[packages]
app = { held = 1, budget = 5 }
"a + b" = { held = 9, added = { "0082" = 3 } }
"""
    after = updated(text, rows(text)[0], {"app": 7, "a": 4, "b": 5})
    assert after == text.replace("held = 1", "held = 7").replace("held = 9", "held = 6")


def test_a_person_sees_what_is_over_its_budget() -> None:
    """The line says by how much."""
    _, app, edge = shown([Row("app", 10, 5), Row("edge", 3)], {"app": 9, "edge": 3})
    assert app.split() == ["app", "9", "10", "5", "4", "over"]
    assert edge.split() == ["edge", "3", "3", "3"]
