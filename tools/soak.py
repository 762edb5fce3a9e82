"""Run the suites for long and under load, and list every test that ever failed.

usage: ./run soak [part ...]
"""

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

from tools.outcomes import Outcome, run, say

ROUNDS = 3

BUSY = f"import os\nwhile os.getppid() == {os.getpid()}:\n    for _ in range(1_000_000): pass"
"""Keeps a core busy for as long as this process lives."""

Failures = Iterator[str]
"""Yields each test that failed, with the round that it failed in."""


def kills() -> Failures:
    """Run the crash and journey suites with ten times the kills and examples."""
    say("The crash and journey suites, with ten times the kills:\n")
    yield from failures("kills", run("./run", "test", "tests/crash", "tests/journeys", SOAK="1"))


def load() -> Failures:
    """Run every suite three times while all cores are kept busy."""
    cores = os.cpu_count() or 1
    for number in range(1, ROUNDS + 1):
        say(f"\nRound {number} of {ROUNDS}: every suite, while {cores} busy processes share the {cores} cores.\n")
        with busy(cores):
            outcome = run("./run", "test")
        yield from failures(f"load, round {number}", outcome)


def strangers() -> Failures:
    """Let two thousand strangers hold connections while buyers buy, and print the highest memory."""
    say("Buyers among 800 bodies that drip, 1,200 silent connections and 400 readers that do not read:\n")
    yield from failures("strangers", run("./run", "test", "tests/journeys/test_strangers.py", SOAK="1"))


def guards() -> Failures:
    """Take each check of money, approvals and the live count out of a copy of the source."""
    say("Each check that guards money, approvals and the live count, taken out once:\n")
    yield from failures("guards", run("./run", "test", "tests/guards", SOAK="1"))


def simulations() -> Failures:
    """Let weeks pass in which the analytics provider fails in every way."""
    say("Weeks of failures of the analytics provider, minute by minute:\n")
    yield from failures("simulations", run("./run", "test", "tests/live/test_quota_days.py", SOAK="1"))


def rehearsal() -> Failures:
    """Type the page that leads to live, on a fresh Debian with its own systemd and nginx."""
    say("docs/how-to/go-live.md, typed on a fresh Debian:\n")
    yield from failures("rehearsal", run("./run", "test", "tests/rehearsal", SOAK="1"))


def gateway() -> Failures:
    """Exhaust the start budget in its own 20 minutes, and drill all faults, on a real systemd."""
    say("A credential that stays missing for 20 minutes, and a whole drill:\n")
    yield from failures("gateway", run("./run", "test", "tests/systemd", SOAK="1"))


def cloud() -> Failures:
    """Kill the commands of the cloud at each request, before and after it, and answer each request by half."""
    say("apply, rotate-webhook and destroy, killed at each request; plan, status and doctor, answered by half:\n")
    files = "tests/crash/test_cloud_apply.py", "tests/conformance/cloud/test_half_answers.py"
    yield from failures("cloud", run("./run", "test", *files, SOAK="1"))


PARTS: dict[str, Callable[[], Failures]] = {
    "kills": kills,
    "load": load,
    "strangers": strangers,
    "guards": guards,
    "simulations": simulations,
    "rehearsal": rehearsal,
    "gateway": gateway,
    "cloud": cloud,
}


def failures(where: str, outcome: Outcome | None) -> Failures:
    """Yield what failed in one run of suites; a run that did not come to its end is a failure itself."""
    if outcome is None:
        yield f"{where}: the run did not come to its end"
        return
    yield from (f"{where}: {test}" for test in outcome.failed)


@contextmanager
def busy(count: int) -> Generator[None]:
    """Keep so many cores busy, at the usual priority, until the end of the block."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]  # noqa: S603  our own loop
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main(*names: str) -> int:
    """Run the named parts, or all, and list what failed in any of them."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.stderr.write(f"There is no part {unknown[0]!r} of the soak; there are {', '.join(PARTS)}.\n")
        return 2
    failed = [each for name in names or PARTS for each in PARTS[name]()]
    say(f"\nFailed in the soak: {len(failed)}")
    for each in failed:
        say(f"  {each}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
