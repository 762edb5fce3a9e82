"""The cockpit with 5,000 rows: its start, its list, its page in Chromium, and what it weighs. Asserts nothing.

Hostile bodies are measured in a separate part, beside other libraries.
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
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, sync_playwright
from rich.table import Table

from bench.start import bare_start, proportional_kilobytes
from orrery.runtime.console.terminal import new_console
from tests.support.cockpit import PORT_VARIABLE, Client, code_in
from tests.support.ports import free_ports

ROWS = 5000
STARTS = 5
ASKED = 1000
PRESSES = 40
REST = 3.0
"""Seconds after the first list at which the memory is read."""

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


def _of_process(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    started, bare, weights = list[float](), list[float](), list[float]()
    for _ in range(STARTS):
        bare.append(bare_start())
        with cockpit(folder, "--sample") as (_, process, first):
            started.append(first)
            time.sleep(REST)  # noqa: TID251  at rest means left alone
            weights.append(proportional_kilobytes(process.pid) / 1024)
    floor = statistics.median(bare)
    first = statistics.median(started)
    yield "import of the web framework alone", f"{floor:.2f} s", "", ""
    yield "start to the first row", f"{first:.2f} s", "1 s", f"{first / 1:.2f}"
    weight = statistics.median(weights)
    yield "memory at rest, PSS", f"{weight:.0f} MB", "80 MB", f"{weight / 80:.2f}"


def _of_list(client: Client, process: subprocess.Popen[bytes]) -> Iterator[tuple[str, str, str, str]]:
    taken = list[float]()
    for _ in range(ASKED):
        begin = time.perf_counter()
        _ = client.ask("GET", "/api/comms/rows")
        taken.append((time.perf_counter() - begin) * 1000)
    p99 = statistics.quantiles(taken, n=100)[98]
    yield f"{ROWS} rows over HTTP, median of {ASKED}", f"{statistics.median(taken):.0f} ms", "", ""
    yield "the same, p99", f"{p99:.0f} ms", "50 ms", f"{p99 / 50:.2f}"
    yield "memory with them, PSS", f"{proportional_kilobytes(process.pid) / 1024:.0f} MB", "", ""


def _of_page(browser: Browser, client: Client) -> Iterator[tuple[str, str, str, str]]:
    page = browser.new_page()
    _ = page.goto(f"http://{client.host}/")
    page.evaluate("token => sessionStorage.setItem('orrery.token', token)", client.token)
    painted, listed = list[float](), list[float]()
    for _ in range(STARTS):
        begin = time.perf_counter()
        _ = page.reload()
        page.get_by_role("article").first.wait_for()
        listed.append(time.perf_counter() - begin)
        painted.append(page.evaluate(PAINTED) / 1000)
    yield (
        "first paint of the page",
        f"{statistics.median(painted):.2f} s",
        "1 s",
        f"{statistics.median(painted):.2f}",
    )
    rows = statistics.median(listed)
    yield "first row painted, from the reload", f"{rows:.2f} s", "1 s", f"{rows:.2f}"
    page.evaluate(WATCH_KEYS)
    for name, keys in (("j: next row", "j"), ("e: dismiss", "e"), ("z: undo", "z"), ("Enter: open", "Enter")):
        yield _pressed(page, name, [keys] * PRESSES)
    page.keyboard.press("/")
    yield _pressed(page, "a letter of the search", [*"subject weekly notes about the lab"])
    page.close()


def _pressed(page: Page, name: str, keys: Sequence[str]) -> tuple[str, str, str, str]:
    page.evaluate("window.effects = []")
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_function("count => window.effects.length >= count", arg=len(keys))
    effects: list[float] = page.evaluate("window.effects")
    median, worst = statistics.median(effects), max(effects)
    return (
        f"{name}, median and worst of {len(keys)}",
        f"{median:.0f}, {worst:.0f} ms",
        "50 ms",
        f"{worst / 50:.2f}",
    )


def measured() -> Table:
    """Return the table."""
    made = Table(
        title="orrery cockpit --sample", caption=f"{ROWS} rows where rows are named; the ratio is to the limit"
    )
    for heading in ("", "measured", "limit", "ratio"):
        made.add_column(heading, justify="left" if not heading else "right")
    path = next(filter(None, map(shutil.which, CHROMIUM)))
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        folder = Path(name)
        for row in _of_process(folder):
            made.add_row(*row)
        sample = ("--sample", f"--messages={ROWS // 2}")
        with cockpit(folder, *sample) as (client, process, _), sync_playwright() as playwright:
            time.sleep(REST)  # noqa: TID251  until every row was read
            for row in _of_list(client, process):
                made.add_row(*row)
            browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
            for row in _of_page(browser, client):
                made.add_row(*row)
            browser.close()
    return made


if __name__ == "__main__":
    new_console(soft_wrap=False).print(measured())
