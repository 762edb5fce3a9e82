"""Whatever is found broken has what to do beside it (issue 39, line 6)."""

import ast
from collections.abc import Sequence
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "orrery"


def without_a_todo(text: str) -> list[int]:
    """Return the lines of a module that make a finding which may be broken, without what to do."""
    calls = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call)]
    made = [one for one in calls if isinstance(one.func, ast.Name) and one.func.id == "Finding"]
    return [one.lineno for one in made if _may_be_broken(one) and not _has_todo(one)]


def _given(call: ast.Call, name: str, place: int) -> Sequence[ast.expr]:
    named = [one.value for one in call.keywords if one.arg == name]
    starred = [one for one in call.args[:place] if isinstance(one, ast.Starred)]
    return named or starred or call.args[place : place + 1]


def _may_be_broken(call: ast.Call) -> bool:
    states = [one for given in _given(call, "state", 1) for one in ast.walk(given)]
    literals = [one.value for one in states if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return "broken" in literals or not literals


def _has_todo(call: ast.Call) -> bool:
    return any(not isinstance(one, ast.Constant) or bool(one.value) for one in _given(call, "todo", 3))


def test_what_is_broken_has_what_to_do() -> None:
    """Each finding that the source makes, and that may be broken, is given a sentence for the owner."""
    found = {str(path): without_a_todo(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_a_missing_one_is_found() -> None:
    """Of each way to write one: by place, by name, empty, and with a state that is not known here."""
    planted = (
        "Finding('a', 'broken', 'why', essential=True)\n"
        "Finding('a', 'broken', 'why', '', essential=True)\n"
        "Finding('a', state, 'why', essential=True)\n"
        "Finding('a', 'broken' if one else 'ok', 'why', todo='', essential=True)\n"
        "Finding('a', 'ok', 'why', essential=True)\n"
        "Finding('a', 'broken', 'why', 'Do it.', essential=True)\n"
        "Finding('a', 'broken', *both, essential=True)\n"
    )
    assert without_a_todo(planted) == [1, 2, 3, 4]
