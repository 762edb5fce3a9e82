"""A pytest plugin: run the tests in several processes, which are forked when everything has been collected.

usage: python -m pytest -p tools.side_by_side --processes N

To import all the tests and make their items is more than ten seconds of computing: this is done once, and each
process has it. A process takes a file at a time, in order, and reports each test to the one that collected.
"""

import atexit
import os
import random
import signal
import sys
import threading
import traceback
from contextlib import suppress
from itertools import groupby
from multiprocessing.connection import Connection, wait
from struct import Struct
from typing import Any, TypeAlias, cast

import pytest
from _pytest.capture import CaptureManager

Line: TypeAlias = "Connection[Any, Any]"
_Running: TypeAlias = tuple[str, tuple[str, int | None, str]]
"""A test that runs: its id and its location."""
_TICKET = Struct("i")
"""The number of a file, as it stands in the pipe that all processes read."""
_SHOWING = ("terminalreporter", "outcomes")
"""Plugins that show what came of the tests: the process that collected has them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--processes", type=int, default=1, help="in how many processes tests run, a file at a time")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in so many processes; leave one process, and a collection that failed, to pytest."""
    count: int = session.config.option.processes
    if count == 1 or session.testsfailed or session.config.option.collectonly:
        return None
    files = [[*items] for _, items in groupby(session.items, key=lambda item: item.path)]
    tickets, filled = os.pipe()
    os.write(filled, b"".join(map(_TICKET.pack, range(len(files)))))  # far less than a pipe holds
    os.close(filled)
    workers: dict[Line, int] = {}
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        for number in range(count):
            reading, writing = os.pipe()
            theirs: Line = Connection(writing, readable=False)
            pid = os.fork()
            if not pid:
                _work(session, number, theirs, files, tickets)
            theirs.close()
            workers[Connection(reading, writable=False)] = pid
        _report(session, workers, tickets)
    finally:
        for line, pid in workers.items():  # nobody unless the run was interrupted
            line.close()
            os.kill(pid, signal.SIGINT)
        for pid in workers.values():
            _ = os.waitpid(pid, 0)
        os.close(tickets)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True


def _report(session: pytest.Session, workers: dict[Line, int], tickets: int) -> None:
    """Report what the processes tell, until all of them have ended."""
    hook, running = session.config.hook, dict[Line, _Running]()
    while workers:
        for line in cast("list[Line]", wait([*workers])):
            what, told = _received(line)
            if what == "start":
                running[line] = told
            elif what == "report":
                report = hook.pytest_report_from_serializable(config=session.config, data=told)
                hook.pytest_runtest_logreport(report=report)
            elif what == "finish":
                nodeid, location = running.pop(line)
                hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)
            else:
                os.waitpid(workers.pop(line), 0)
                if line in running:
                    hook.pytest_runtest_logreport(report=_lost(*running.pop(line), told))
        if session.shouldfail or session.shouldstop:
            _take_all(tickets)


def _received(line: Line) -> tuple[str, Any]:
    """Return what a process tells; one that was killed tells nothing more."""
    try:
        return line.recv()
    except EOFError:
        return "end", "The process ended amid this test; the rest of its file was not run."


def _take_all(tickets: int) -> None:
    """Let the processes end with the test that they run."""
    os.set_blocking(tickets, False)
    with suppress(BlockingIOError):
        while os.read(tickets, 4096):
            pass


def _lost(nodeid: str, location: tuple[str, int | None, str], why: str) -> pytest.TestReport:
    """Return what is reported of a test whose process ended amid it, or as it took down what tests share."""
    return pytest.TestReport(nodeid, location, {}, "failed", why, "call")


class _Worker:
    """A forked process, as a pytest plugin that reports."""

    def __init__(self, session: pytest.Session, line: Line) -> None:
        self._session, self._line, self._running = session, line, ("", ("", None, ""))
        config = session.config
        for name in _SHOWING:
            config.pluginmanager.unregister(name=name)
        _ = config.pluginmanager.register(self)
        capture = cast("CaptureManager", config.pluginmanager.getplugin("capturemanager"))
        capture.stop_global_capturing()  # its files are the other process's
        capture.start_global_capturing()
        capture.suspend_global_capture()

    def run(self, files: list[list[pytest.Item]], tickets: int) -> str:
        """Run file after file, until none is left; return what went wrong beside a test."""
        try:
            try:
                self._run(files, tickets)
                self._line.send(("start", self._running))  # what tests share goes down as a part of the last
            finally:
                self._session._setupstate.teardown_exact(None)  # noqa: SLF001  as pytest does at the end  # pyright: ignore[reportPrivateUsage]
            self._line.send(("finish", None))
        except KeyboardInterrupt:
            return "interrupted"
        except BaseException:  # noqa: BLE001  it is reported
            return traceback.format_exc()
        return ""

    def _run(self, files: list[list[pytest.Item]], tickets: int) -> None:
        while number := os.read(tickets, _TICKET.size):
            (place,) = _TICKET.unpack(number)
            items = files[int(place)]
            # The session follows the last test: what the tests of a file or a folder share goes down with it.
            for item, following in zip(items, [*items[1:], self._session], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._session.shouldfail or self._session.shouldstop:
                    return

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        """Tell which test runs."""
        self._running = (nodeid, location)
        self._line.send(("start", self._running))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tell what came of a phase of it."""
        config = self._session.config
        self._line.send(("report", config.hook.pytest_report_to_serializable(config=config, report=report)))

    def pytest_runtest_logfinish(self) -> None:
        """Tell that it has ended."""
        self._line.send(("finish", None))


def _work(session: pytest.Session, number: int, line: Line, files: list[list[pytest.Item]], tickets: int) -> None:
    """Be one of the processes, and end as those of `multiprocessing` do."""
    try:
        os.setpgid(0, 0)  # Ctrl-C reaches the process that collected, which passes it on once
        atexit._clear()  # noqa: SLF001  that process has them  # pyright: ignore[reportPrivateUsage]
        random.seed()
        folders = session.config._tmp_path_factory  # noqa: SLF001  pytest has no other way  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        folders._basetemp = folders.mktemp(f"process-{number}", numbered=False)  # noqa: SLF001  the same  # pyright: ignore[reportUnknownMemberType]
        wrong = _Worker(session, line).run(files, tickets)
        threading._shutdown()  # noqa: SLF001  as multiprocessing does  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        atexit._run_exitfuncs()  # noqa: SLF001  the same  # pyright: ignore[reportPrivateUsage]
        line.send(("end", wrong))
    finally:
        os._exit(0)
