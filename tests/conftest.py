"""What holds for every suite: which sockets a test may open, when it is skipped, and the time each suite took.

A suite is a folder directly under tests/. Folders that mirror `src/orrery`, and files directly under tests/,
are the suite `unit`, which opens no sockets; the suites in `LOOPBACK` may connect to this machine only.
"""

import ctypes
import gc
import json
import logging
import os
import shutil
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import hypothesis
import pytest

from tests.support.soak import IN_CI

collect_ignore = ["architecture/new_domain", "architecture/new_adapter"]
"""Worked examples, whose tests pass in a copy of this repository that has them."""
TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src" / "orrery"
PROCESSES = frozenset({"bench", "browser", "chaos", "crash", "journeys", "nginx", "rehearsal", "systemd"})
"""The suites with real processes: continuous integration looks at their failures once more."""
LOOPBACK = PROCESSES | {"conformance", "sandbox"}
LOOPBACK_HOSTS = ["127.0.0.1", "::1", "localhost"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LONG_WAYS = {"test_buy.py", "test_cockpit_mailboxes.py", "test_plain_form.py", "test_static_site.py"}
"""The browser's files with few tests, each of which takes ten times as long as another."""
PROGRAMS = f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin"
"""Debian keeps servers out of a normal user's path."""
OUTCOMES_FILE = os.environ.pop("TEST_OUTCOMES", None)  # noqa: TID251 - a fact about the test run; those within tests have none

for _name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
    # Nobody here is certified by a well-known authority, and to read all of them takes longer than most tests.
    os.environ.setdefault(_name, str(TESTS / "support/one_authority.pem"))  # noqa: TID251  for every client of a test

gc.disable()  # until all tests are collected: what that makes stays to the end, and would be walked for nothing

hypothesis.settings.register_profile(
    "orrery",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],  # a first draw takes seconds on a fresh machine
    max_examples=50,
    derandomize=True,  # the same inputs on every machine: what is red on one is red on each
    database=None,
)
hypothesis.settings.load_profile("orrery")


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    """Forget the log that a command set up in this process: it writes to what the test has closed by then."""
    root, package = logging.getLogger(), logging.getLogger("orrery")
    before = [(one, one.level, [*one.handlers]) for one in (root, package)]
    yield
    for one, level, handlers in before:
        one.setLevel(level)
        one.handlers[:] = handlers


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the service does."""
    return "asyncio"


@cache
def suite_of(path: Path) -> str:
    """Return the suite that a test file belongs to."""
    parts = path.relative_to(TESTS).parts
    mirrored = (SOURCE / parts[0]).exists() and parts[0] not in LOOPBACK
    return "unit" if len(parts) == 1 or mirrored else parts[0]


def suite_of_test(nodeid: str) -> str:
    """Return the suite of a test."""
    return suite_of_file(nodeid.partition("::")[0])


@cache
def suite_of_file(name: str) -> str:
    """Return the suite of a file, by its path from the root."""
    return suite_of(TESTS.parent / name)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Close the sockets of every test, but for loopback in the suites that need it; let the browser come last.

    Playwright's synchronous interface keeps an event loop running in this thread until the run ends, and beside it
    no other test could run one. Where tests run side by side, the suites take turns, file by file: some of them
    compute and some wait, and all processes waiting at once would leave the cores idle.
    """
    turns: Mapping[Path, float] = turns_of(items) if hasattr(config, "workerinput") else {}
    items.sort(key=lambda item: (suite_of(item.path) == "browser", turns.get(item.path, 0.0)))
    for item in items:
        in_loopback = suite_of(item.path) in LOOPBACK
        item.add_marker(pytest.mark.allow_hosts(LOOPBACK_HOSTS) if in_loopback else pytest.mark.disable_socket)


def turns_of(items: Iterable[pytest.Item]) -> Mapping[Path, float]:
    """Return a place for each file: those of a suite are spread evenly, but the browser's longest come first.

    They are the last of all, and a long one at the end would be waited for. A test in `LONG_WAYS` counts as ten.
    """
    tests = Counter(item.path for item in items)
    suites: defaultdict[str, list[Path]] = defaultdict(list)
    for path in tests:
        suites[suite_of(path)].append(path)
    suites["browser"].sort(key=lambda path: -tests[path] * (10 if path.name in LONG_WAYS else 1))
    return {path: (place + 0.5) / len(files) for files in suites.values() for place, path in enumerate(files)}


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays until the end: the tests, and all that they import.

    What is garbage by now stays, too: to look for it takes longer than most test files. Later it looks as
    seldom as in `orrery serve`.
    """
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


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
    if suite in {"chaos", "nginx"} and not shutil.which("nginx", path=PROGRAMS):
        return "no nginx on this machine; to have it, type: sudo apt-get install -y nginx-light"
    if suite == "systemd" and not shutil.which("busybox", path=PROGRAMS):
        return "no busybox on this machine; to have what these tests need, type as root: ./run setup"
    if suite == "rehearsal" and not (TESTS.parent / ".venv/wheels/stamp").exists():
        return "nothing to rehearse going live with; to have it, type as root: ./run setup"
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
class Outcomes:
    """A pytest plugin that prints a table of outcomes and seconds for each suite.

    It writes what came of the tests to the file that $TEST_OUTCOMES names, for tools/outcomes.py.
    """

    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    outcomes: dict[str, str] = field(default_factory=dict[str, str])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in one phase of one test; it passes by its call, or ends as another phase does."""
        self.seconds[suite_of_test(report.nodeid)] += report.duration
        if report.when == "call" or not report.passed:
            self.outcomes[report.nodeid] = report.outcome

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table, slowest suite last, ahead of pytest's own closing line."""
        if OUTCOMES_FILE:
            Path(OUTCOMES_FILE).write_text(json.dumps(self.summary()), encoding="utf-8")
        if not self.seconds:
            return
        terminalreporter.write_sep("-", "time of each suite")
        for line in self.lines():
            terminalreporter.write_line(line)

    def lines(self) -> Iterator[str]:
        """Yield the table's lines."""
        columns = ("passed", "failed", "skipped")
        counted = Counter((suite_of_test(test), outcome) for test, outcome in self.outcomes.items())
        yield f"{'suite':<14}" + "".join(f"{name:>9}" for name in columns) + f"{'time':>11}"
        for suite, seconds in sorted(self.seconds.items(), key=lambda each: each[1]):
            counts = "".join(f"{counted[suite, name] or '-':>9}" for name in columns)
            yield f"{suite:<14}{counts}{seconds:>9.2f} s"
        yield f"{'all':<14}{'':>27}{sum(self.seconds.values()):>9.2f} s"

    def summary(self) -> Mapping[str, object]:
        """Return the counts, the tests that failed, and which of those are of a suite with real processes."""
        counted = Counter(self.outcomes.values())
        failed = [test for test, outcome in self.outcomes.items() if outcome == "failed"]
        repeatable = [test for test in failed if suite_of_test(test) in PROCESSES]
        return {name: counted[name] for name in ("passed", "skipped")} | {
            "failed": failed,
            "repeatable": repeatable,
        }


def pytest_configure(config: pytest.Config) -> None:
    """Add the table of outcomes, and let Ctrl-C reach the programs under test.

    A run in a shell's background ignores it, and they would inherit that.
    """
    config.pluginmanager.register(Outcomes(), "outcomes")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
