"""How fast a backlog of e-mails goes out, beside a client that stores nothing, to the same mail server.

The outbox opens a connection for each message and marks the message before it begins the next. It is measured
again while a thread computes, as a reading of the processor's listing does: with Python's turns, and with those of
`orrery serve`. Asserts nothing.
"""

import json
import logging
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import aiosmtplib
import structlog
import uvloop
from rich.table import Table

from bench.checkout import sandbox
from bench.service import free_port
from orrery.adapters.clock import SystemClock
from orrery.adapters.smtp import Relay, SmtpNotifier
from orrery.adapters.sqlite import SqliteStore, create
from orrery.app.cli.serve import TURN
from orrery.ports.store import Store
from orrery.runtime.console.terminal import new_console
from orrery.runtime.outbox import Outbox, OutboxDraft, enqueue

ROUNDS = 5
"""Every side is measured so often, in turn, so that a slow minute of the machine hits all of them."""

MAILS = 150
"""E-mails in one measurement."""

_PAGE = json.dumps([{"id": f"cs_test_{number}", "object": "checkout.session"} for number in range(100)])

_SENDER, _TITLE, _BODY = "shop@northwind.example", "Your access", "Thank you.\n" * 20


async def one_connection(port: int) -> None:
    """Send all over one connection."""
    async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False) as client:
        for number in range(MAILS):
            await client.send_message(_mail(number))


async def a_connection_each(port: int) -> None:
    """Send each over a separate connection."""
    for number in range(MAILS):
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False) as client:
            await client.send_message(_mail(number))


async def from_the_outbox(port: int, store: Store, word: str) -> float:
    """Put a backlog into the store; return how many seconds its delivery takes."""
    clock = SystemClock()
    for number in range(MAILS):
        draft = OutboxDraft(f"{word}-{number}", "email", _TITLE, _BODY, to=f"b{number}@buyer.example.test")
        _ = await store.commit(enqueue([draft], clock.now()))
    outbox = Outbox(store, clock, {"email": SmtpNotifier(Relay("127.0.0.1", port, _SENDER, "none"), clock)})
    begin = time.perf_counter()
    if await outbox.deliver_due("email") != MAILS:
        raise RuntimeError("Not every e-mail was tried.")
    return time.perf_counter() - begin


@contextmanager
def computing(turn: float) -> Generator[None]:
    """Let a thread compute, with turns of so many seconds."""
    usual, ended = sys.getswitchinterval(), Event()

    def compute() -> None:
        while not ended.is_set():
            json.dumps(json.loads(_PAGE), indent=1)

    thread = Thread(target=compute)
    thread.start()
    sys.setswitchinterval(turn)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)
        ended.set()
        thread.join()


def _mail(number: int) -> EmailMessage:
    email = EmailMessage()
    email["From"], email["To"], email["Subject"] = _SENDER, f"b{number}@buyer.example.test", _TITLE
    email.set_content(_BODY)
    return email


@asynccontextmanager
async def _opened(path: Path) -> AsyncGenerator[Store]:
    create(path)
    store = await SqliteStore.open(path, SystemClock())
    try:
        yield store
    finally:
        await store.close()


async def sides(directory: Path, port: int) -> dict[str, list[float]]:
    """Return each side's e-mails a second, `ROUNDS` times, measured in turn."""
    results: dict[str, list[float]] = {}
    async with _opened(directory / "store.db") as store:
        for number in range(ROUNDS):
            for name, send in (("one connection", one_connection), ("a connection each", a_connection_each)):
                begin = time.perf_counter()
                await send(port)
                results.setdefault(f"nothing stored, {name}", []).append(MAILS / (time.perf_counter() - begin))
            took = {"outbox": await from_the_outbox(port, store, f"alone-{number}")}
            for whose, turn in (("Python's", sys.getswitchinterval()), ("our", TURN)):
                with computing(turn):
                    name = f"outbox beside a computing thread, {whose} turns"
                    took[name] = await from_the_outbox(port, store, f"{whose}-{number}")
            for name, seconds in took.items():
                results.setdefault(name, []).append(MAILS / seconds)
    return results


def main() -> None:
    """Measure beside the current directory's disk, and print the table."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    port = free_port()
    with (
        TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as directory,
        sandbox(Path(directory, "sandbox"), port),
    ):
        results = uvloop.run(sides(Path(directory), port))
    made = Table(title="A backlog of e-mails", caption=f"median of {ROUNDS} rounds of {MAILS}")
    for heading in ("side", "a second", "share"):
        made.add_column(heading, justify="left" if heading == "side" else "right")
    medians = {side: statistics.median(speeds) for side, speeds in results.items()}
    first = next(iter(medians.values()))
    for side, speed in medians.items():
        made.add_row(side, f"{speed:,.0f}", f"{speed / first:.2f}")
    new_console(soft_wrap=False).print(made)


if __name__ == "__main__":
    main()
