"""What holds for every suite: which sockets a test may open, when it is skipped, and the time each suite took.

A suite is a folder directly under tests/. Folders that mirror `src/orrery`, and files directly under tests/,
are the suite `unit`, which opens no sockets; the suites in `LOOPBACK` may connect to this machine only.
"""

import ctypes
import os
import shutil
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import hypothesis
import pytest

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src" / "orrery"
LOOPBACK = frozenset({"browser", "conformance", "crash", "journeys", "nginx", "sandbox", "systemd"})
LOOPBACK_HOSTS = ["127.0.0.1", "::1", "localhost"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PROGRAMS = f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin"
"""Debian keeps servers out of a normal user's path."""
IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}  # noqa: TID251 - a fact about the test run, not a setting


hypothesis.settings.register_profile(
    "orrery",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],  # a first draw takes seconds on a fresh machine
    derandomize=True,  # the same inputs on every machine: what is red on one is red on each
    database=None,
)
hypothesis.settings.load_profile("orrery")


def suite_of(path: Path) -> str:
    """Return the suite that a test file belongs to."""
    parts = path.relative_to(TESTS).parts
    mirrored = (SOURCE / parts[0]).exists() and parts[0] not in LOOPBACK
    return "unit" if len(parts) == 1 or mirrored else parts[0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Close the sockets of every test, but for loopback in the suites that need it; let the browser come last.

    Playwright's synchronous interface keeps an event loop running in this thread until the run ends, and beside it
    no other test could run one.
    """
    items.sort(key=lambda item: suite_of(item.path) == "browser")
    for item in items:
        in_loopback = suite_of(item.path) in LOOPBACK
        item.add_marker(pytest.mark.allow_hosts(LOOPBACK_HOSTS) if in_loopback else pytest.mark.disable_socket)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the tests that need what this machine lacks, but never in continuous integration."""
    missing = None if IN_CI else missing_for(suite_of(item.path))
    if missing:
        pytest.skip(missing)


def missing_for(suite: str) -> str | None:
    """Return what this machine lacks for a suite, and what to type to have it."""
    if suite == "browser" and not can_browse():
        return "no chromium on this machine; to have it, type: sudo apt-get install -y chromium libatomic1"
    if suite == "nginx" and not shutil.which("nginx", path=PROGRAMS):
        return "no nginx on this machine; to have it, type: sudo apt-get install -y nginx-light"
    return None


@cache
def can_browse() -> bool:
    """Return whether a Chromium is there, and the library that Playwright's own driver needs."""
    try:
        ctypes.CDLL("libatomic.so.1" if sys.platform == "linux" else None)
    except OSError:
        return False
    return any(map(shutil.which, BROWSERS))


@dataclass(eq=False)  # pytest keeps its plugins in sets
class SuiteTimes:
    """A pytest plugin that sums up outcomes and seconds for each suite and prints them as a table."""

    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    outcomes: defaultdict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count one phase of one test; a test counts as passed by its call, else by the phase that ended it."""
        suite = suite_of(TESTS.parent / report.nodeid.partition("::")[0])
        self.seconds[suite] += report.duration
        if report.when == "call" or not report.passed:
            self.outcomes[suite, report.outcome] += 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table, slowest suite last, ahead of pytest's own closing line."""
        if not self.seconds:
            return
        terminalreporter.write_sep("-", "time of each suite")
        for line in self.lines():
            terminalreporter.write_line(line)

    def lines(self) -> Iterator[str]:
        """Yield the table's lines."""
        columns = ("passed", "failed", "skipped")
        yield f"{'suite':<14}" + "".join(f"{name:>9}" for name in columns) + f"{'time':>11}"
        for suite, seconds in sorted(self.seconds.items(), key=lambda each: each[1]):
            counts = "".join(f"{self.outcomes[suite, name] or '-':>9}" for name in columns)
            yield f"{suite:<14}{counts}{seconds:>9.2f} s"
        yield f"{'all':<14}{'':>27}{sum(self.seconds.values()):>9.2f} s"


def pytest_configure(config: pytest.Config) -> None:
    """Add the table of times, and let Ctrl-C reach the programs under test.

    A run in a shell's background ignores it, and they would inherit that.
    """
    config.pluginmanager.register(SuiteTimes(), "suite-times")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
