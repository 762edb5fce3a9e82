"""A list that may end early says how much there is (issue 39, line 5)."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from orrery.runtime.console.tables import of_all
from tests.support.tables import each_case

SOURCE = Path(__file__).parents[2] / "src" / "orrery"


def limited(module: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yield each function of a module with a parameter `limit`, and whether it counts what it leaves out."""
    functions = {
        one.name: one for one in ast.walk(module) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    called = {
        name: {ast.unparse(one.func) for one in ast.walk(function) if isinstance(one, ast.Call)}
        for name, function in functions.items()
    }

    def counts(name: str) -> bool:
        return "of_all" in called[name] or any(map(counts, (called[name] & called.keys()) - {name}))

    for name, function in functions.items():
        if any(one.arg == "limit" for one in function.args.args) and is_command(function):
            yield name, counts(name)


def is_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether typer calls a function: it is handed a runner."""
    return any(one.arg == "runner" for one in (*function.args.args, *function.args.kwonlyargs))


@cache
def commands() -> list[tuple[str, str, bool]]:
    """Return each command with --limit: its file, its name, and whether it counts what it leaves out."""
    return [
        (str(path.relative_to(SOURCE)), name, counts)
        for path in sorted(SOURCE.rglob("cli/*.py"))
        for name, counts in limited(ast.parse(path.read_text(encoding="utf-8")))
    ]


@each_case("command", commands)
def test_a_list_that_ends_early_counts_all(command: tuple[str, str, bool]) -> None:
    """Each command with --limit ends with `of_all`, by itself or by what it calls."""
    *_, counts = command
    assert counts


def test_a_list_that_does_not_count_is_found() -> None:
    """The test reads commands: one that does not count, and those that there are."""
    planted = "def silent(limit, *, runner):\n    show(rows[:limit])"
    assert [*limited(ast.parse(planted))] == [("silent", False)]
    assert len(commands()) >= 14


@each_case(
    "counted, said",
    [
        ((3, 3), ""),
        ((3, 14), "3 of 14: see more with --limit."),
        ((3, 1000, 1000), "3 of 1000 or more: see more with --limit."),
        ((3, 14, 1000), "3 of 14: see more with --limit."),
        ((3, None), "3, and more: see more with --limit."),
    ],
)
def test_what_is_said_of_the_rest(counted: tuple[int, ...], said: str) -> None:
    """It counts all, as far as all is counted."""
    assert of_all(*counted) == said
