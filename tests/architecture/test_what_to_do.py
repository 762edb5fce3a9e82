"""What is found broken has what to do beside it, and what may be pushed a command (issue 39, line 6)."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "orrery"

PRINTED_ELSEWHERE = {
    "gateway/guest": "on the gateway's machine, which has no `orrery`",
    "gateway/cloud": "by `orrery gateway cloud doctor`, beside the commands of the cloud",
    "tenants": "by `orrery tenants doctor`: what to do is at the places that it names",
    "scanner": "by the scanner, which looks at files",
    "cockpit": "in the cockpit, which pushes nothing",
    "app/cli": "by a command alone",
}
"""The folders whose findings no push is about, with where they are shown."""


def without_a_todo(text: str, *, command: bool = False) -> list[int]:
    """Return the lines of a module that make a finding which may be broken, without what to do, or a `command`."""
    tree = ast.parse(text)
    known = _assigned(tree)
    return [
        one.lineno
        for one in ast.walk(tree)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "Finding"
        if _may_be_broken(one) and not (_has_command(one, known) if command else _has_todo(one))
    ]


def _assigned(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """Return what each name of a module may stand for, wherever it is assigned."""
    known = dict[str, list[ast.expr]]()
    for one in ast.walk(tree):
        if isinstance(one, ast.Assign):
            for target in one.targets:
                for name in [each for each in ast.walk(target) if isinstance(each, ast.Name)]:
                    known.setdefault(name.id, []).append(one.value)
    return known


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


def _has_command(call: ast.Call, known: dict[str, list[ast.expr]]) -> bool:
    texts = [text for given in _given(call, "todo", 3) for text in _texts(given, known, depth=3)]
    return any("`orrery " in one for one in texts)


def _texts(given: ast.expr, known: dict[str, list[ast.expr]], depth: int) -> Iterator[str]:
    for one in ast.walk(given):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value
        for value in known.get(one.id, []) if isinstance(one, ast.Name) and depth else []:
            yield from _texts(value, known, depth - 1)


def test_what_is_broken_has_what_to_do() -> None:
    """Each finding that the source makes, and that may be broken, is given a sentence for the owner."""
    found = {str(path): without_a_todo(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}
    assert {path: lines for path, lines in found.items() if lines} == {}


MADE_ELSEWHERE = {
    "checkout/access/buyers_in_need.py",
    "checkout/selling/health.py",
    "runtime/node_findings.py",
    "runtime/store_probe.py",
    "secrets/check.py",
}
"""What to do is what a function or a record says: `tests/journeys/test_one_list.py` breaks these."""


def test_what_is_pushed_names_a_command() -> None:
    """Each finding that a push may be about is given a command to type, in the words for the owner."""
    found = {
        path: lines
        for file in SOURCE.rglob("*.py")
        if not (path := str(file.relative_to(SOURCE))).startswith(tuple(PRINTED_ELSEWHERE))
        if (lines := without_a_todo(file.read_text(encoding="utf-8"), command=True))
    }
    assert found.keys() == MADE_ELSEWHERE, found


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
    planted = "_TODO = 'See `orrery x`.'\nFinding('a', 'broken', 'why', f'{_TODO} Now.')"
    assert without_a_todo(planted, command=True) == []
    assert without_a_todo("Finding('a', 'broken', 'why', 'Do it.')", command=True) == [1]
