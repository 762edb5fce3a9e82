"""The README's test command, with a second look at what failed, and the count of the tests that needed one.

usage: python -m tools.second_look

The suites with real processes kill them and wait for them on a machine that others share. A test of theirs that
fails is run once more, alone; if it passes then, it is named and counted all the same: the reason is to be found.
No other suite gets a second look. The last line counts how many tests passed and failed, as pytest's own does.
"""

import sys

from tools.outcomes import Outcome, run, show

TESTS = ("./run", "test")
LIMIT = 40
"""Minutes that a run may take, four times what it does: its end by whoever started it would name no test."""


def main() -> int:
    """Run every suite, repeat what may be repeated, and print the result."""
    first = run(*TESTS, minutes=LIMIT)
    if first is None:
        show("The tests did not come to their end, so nothing can be run again.")
        return 1
    failed = [test for test in first.failed if test not in first.repeatable]
    if first.repeatable:
        failed += still_failing(first.repeatable)
    show(f"\n{counted(len(first.repeatable))} needed a second look.")
    for test in first.repeatable:
        show(f"  {'failed again' if test in failed else 'passed then':<14}{test}")
    show(closing_line(first, failed))
    return 1 if failed else 0


def still_failing(tests: list[str]) -> list[str]:
    """Run these tests once more, and return those that did not pass."""
    show(f"\nA second look at {counted(len(tests))}:\n")
    second = run(*TESTS, *tests, minutes=LIMIT)
    return tests if second is None else second.failed


def counted(number: int) -> str:
    """Return so many tests in words."""
    return "1 test" if number == 1 else f"{number} tests"


def closing_line(first: Outcome, failed: list[str]) -> str:
    """Return pytest's own closing line for both runs together."""
    passed = first.passed + len(first.failed) - len(failed)
    return f"{len(failed)} failed, {passed} passed, {first.skipped} skipped"


if __name__ == "__main__":
    sys.exit(main())
