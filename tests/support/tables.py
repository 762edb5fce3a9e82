"""A table of cases as one test: as a test each, in five processes, a case costs more than what it looks at."""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Any

import pytest


def each_case(
    names: str | tuple[str, ...], cases: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with each case, as `pytest.mark.parametrize` takes them, to the end; fail with all that failed.

    A fixture, if there is one, is the same for all cases.
    """
    words = [one.strip() for one in names.split(",")] if isinstance(names, str) else [*names]
    rows = [dict(zip(words, [case] if len(words) == 1 else case, strict=True)) for case in cases]
    assert rows, "a table without a case tests nothing"

    def made(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(**fixtures: object) -> None:
            failed: list[BaseException] = []
            for row in rows:
                try:
                    test(**row, **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  all that failed is raised below
                    error.add_note(f"in the case {row}")
                    failed.append(error)
            if failed:
                raise (
                    failed[0] if len(failed) == 1 else BaseExceptionGroup(f"{len(failed)} of {len(rows)}", failed)
                )

        asked = signature(test)
        others = [one for name, one in asked.parameters.items() if name not in words]
        run.__signature__ = asked.replace(parameters=others)  # pyright: ignore[reportAttributeAccessIssue]  what pytest reads
        return run

    return made
