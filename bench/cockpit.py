"""The cockpit with many rows: its start, its list, its page in Chromium, and what it weighs.

A key's time is that until its effect was painted. Its worst press waits for the frame before.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import megabytes
from bench.start import IMPORT, bare_start
from tests.support.cockpit import PORT_VARIABLE, Client, code_in
from tests.support.ports import free_ports
from tests.support.waiting import eventually

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--no-proxy-server"]

WATCH_KEYS = """() => {
  window.effects = [];
  addEventListener("keydown", (event) => {
    const begin = event.timeStamp;
    requestAnimationFrame(() => setTimeout(() => window.effects.push(performance.now() - begin)));
  }, { capture: true });
}"""
"""Notes for each key press the time until its effect was painted: the next frame, and the turn behind it."""

PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


@contextmanager
def cockpit(folder: Path, *arguments: str) -> Generator[tuple[Client, subprocess.Popen[bytes], float]]:
    """Yield a client of a new process, the process, and after how many seconds it had the first row."""
    (port,) = free_ports(1)
    printed = folder / f"printed-{port}"
    begin = time.perf_counter()
    with printed.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603  our own command
            [sys.executable, "-m", "orrery", "cockpit", "--no-browser", *arguments],
            env={**os.environ, PORT_VARIABLE: str(port)},  # noqa: TID251  passed on
            stdout=output,
        )
    try:
        while "#code=" not in printed.read_text():
            time.sleep(0.002)  # noqa: TID251  asked as often as a person could notice
        client = Client(port)
        client.enter(code_in(printed.read_text()))
        while not client.rows():
            time.sleep(0.002)  # noqa: TID251  the same
        yield client, process, time.perf_counter() - begin
    finally:
        process.terminate()
        _ = process.wait()


def of_process(folder: Path, rest: float) -> Iterator[Figure]:
    """Yield how soon a cockpit has a row, and what it weighs."""
    yield Figure(IMPORT, bare_start()[0], "s")
    with cockpit(folder, "--sample") as (_, process, first):
        time.sleep(rest)  # noqa: TID251  at rest means left alone
        yield Figure("start to the first row", first, "s", limit=1)
        yield Figure("memory at rest, PSS", megabytes(process.pid), "MB", limit=80)


def of_list(client: Client, process: subprocess.Popen[bytes], asked: int, rows: str) -> Iterator[Figure]:
    """Yield how long the list takes over HTTP, and what the cockpit weighs with it."""
    taken = list[float]()
    for _ in range(asked):
        begin = time.perf_counter()
        _ = client.ask("GET", "/api/comms/rows")
        taken.append((time.perf_counter() - begin) * 1000)
    yield Figure(f"{rows} over HTTP, median", statistics.median(taken), "ms")
    yield Figure(f"{rows} over HTTP, p99", statistics.quantiles(taken, n=100)[98], "ms", limit=50)
    yield Figure(f"memory with {rows}, PSS", megabytes(process.pid), "MB")


def of_page(browser: Browser, client: Client, presses: int) -> Iterator[Figure]:
    """Yield how soon the page is painted, and how soon a key has its effect."""
    page = browser.new_page()
    _ = page.goto(f"http://{client.host}/")
    page.evaluate("token => sessionStorage.setItem('orrery.token', token)", client.token)
    begin = time.perf_counter()
    _ = page.reload()
    page.get_by_role("article").first.wait_for()
    listed = time.perf_counter() - begin
    yield Figure("first paint of the page", page.evaluate(PAINTED) / 1000, "s", limit=1)
    yield Figure("first row painted, from the reload", listed, "s", limit=1)
    page.evaluate(WATCH_KEYS)
    for name, key in (("j: next row", "j"), ("e: dismiss", "e"), ("z: undo", "z"), ("Enter: open", "Enter")):
        yield from _pressed(page, name, [key] * presses)
    page.keyboard.press("/")
    yield from _pressed(page, "a character of the search", [*"subject weekly notes about the lab"][:presses])
    page.close()


def _pressed(page: Page, name: str, keys: Sequence[str]) -> Iterator[Figure]:
    page.evaluate("window.effects = []")
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_function("count => window.effects.length >= count", arg=len(keys))
    effects: list[float] = page.evaluate("window.effects")
    yield Figure(f"{name}, median", statistics.median(effects), "ms", limit=50)
    yield Figure(f"{name}, worst", max(effects), "ms", limit=50)


def measure(rows: int = 5000, asked: int = 1000, presses: int = 40, rest: float = 3.0) -> Round:
    """Measure the process, the list and the page, with at least so many rows."""
    with scratch() as folder:
        found = [*of_process(folder, rest)]
        sample = ("--sample", f"--messages={rows}")
        with cockpit(folder, *sample) as (client, process, _), sync_playwright() as playwright:
            listed = eventually(lambda: _listed(client, rows))
            found += of_list(client, process, asked, f"{listed:,} rows")
            browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
            found += of_page(browser, client, presses)
            browser.close()
    return found


def _listed(client: Client, least: int) -> int:
    """Return how many rows are listed, once they are enough: of the messages of two accounts, not all wait."""
    listed = len(client.rows())
    assert listed >= least  # noqa: S101  waited for
    return listed


def chromium() -> str:
    """Return the program."""
    return next(filter(None, map(shutil.which, CHROMIUM)))


MEASUREMENT = Measurement(measure, short={"rows": 20, "asked": 2, "presses": 2, "rest": 0.0})
