"""A table of cases as one test: as a test each, in nine processes, a case costs more than what it looks at."""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from inspect import iscoroutinefunction, signature
from typing import Any

import pytest

Test = Callable[..., Any]


def each_case(
    names: str | tuple[str, ...], cases: Iterable[Any] | Callable[[], Iterable[Any]]
) -> Callable[[Test], Test]:
    """Run a test with each case, as `pytest.mark.parametrize` takes them, to the end; fail with all that failed.

    A fixture, if there is one, is the same for all cases. Those of a coroutine are in one event loop. Cases that
    take long to find are given as a function: every process imports the table, and one runs the test.
    """
    words = [one.strip() for one in names.split(",")] if isinstance(names, str) else [*names]

    @cache
    def rows() -> list[dict[str, Any]]:
        given = cases() if callable(cases) else cases
        found = [dict(zip(words, [case] if len(words) == 1 else case, strict=True)) for case in given]
        assert found, "a table without a case tests nothing"
        return found

    def made(test: Test) -> Test:
        @wraps(test)
        def run(**fixtures: object) -> None:
            failed: list[BaseException] = []
            for row in rows():
                with _kept(failed, row):
                    test(**row, **fixtures)
            _raise_all(failed, len(rows()))

        @wraps(test)
        async def run_in_loop(**fixtures: object) -> None:
            failed: list[BaseException] = []
            for row in rows():
                with _kept(failed, row):
                    await test(**row, **fixtures)
            _raise_all(failed, len(rows()))

        asked = signature(test)
        others = [one for name, one in asked.parameters.items() if name not in words]
        whole = run_in_loop if iscoroutinefunction(test) else run
        whole.__signature__ = asked.replace(parameters=others)  # pyright: ignore[reportAttributeAccessIssue]  what pytest reads
        return whole

    return made


@contextmanager
def _kept(failed: list[BaseException], row: Mapping[str, object]) -> Generator[None]:
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  all that failed is raised at the end
        error.add_note(f"in the case {row}")
        failed.append(error)


def _raise_all(failed: list[BaseException], cases: int) -> None:
    if failed:
        raise failed[0] if len(failed) == 1 else BaseExceptionGroup(f"{len(failed)} of {cases}", failed)
