"""The README's test command, with a second look at what failed, and the count of the tests that needed one.

usage: python -m tools.second_look

The suites with real processes kill them and wait for them on a machine that others share. A test of theirs that
fails is run once more, alone; if it passes then, it is named and counted all the same: the reason is to be found.
No other suite gets a second look. The last line counts how many tests passed and failed, as pytest's own does.
"""

import sys

from tools.outcomes import Outcome, run, say

TESTS = ("./run", "test")


def main() -> int:
    """Run every suite, look again at what may be looked at again, and print what came of it."""
    first = run(*TESTS)
    if first is None:
        say("The tests did not come to their end, so nothing can be run again.")
        return 1
    failed = [test for test in first.failed if test not in first.repeatable]
    if first.repeatable:
        failed += still_failing(first.repeatable)
    say(f"\n{counted(len(first.repeatable))} needed a second look.")
    for test in first.repeatable:
        say(f"  {'failed again' if test in failed else 'passed then':<14}{test}")
    say(closing_line(first, failed))
    return 1 if failed else 0


def still_failing(tests: list[str]) -> list[str]:
    """Run these tests once more, and return those that did not pass."""
    say(f"\nA second look at {counted(len(tests))}:\n")
    second = run(*TESTS, *tests)
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
