"""How fast a backlog of e-mails goes out, beside a client that stores nothing, to the same mail server.

The outbox opens a connection for each message and marks the message before it begins the next. It is measured
again while a thread computes, as a reading of the processor's listing does: with Python's turns, and with those of
`orrery serve`.
"""

import json
import logging
import sys
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from email.message import EmailMessage
from pathlib import Path
from threading import Event, Thread

import aiosmtplib
import uvloop

from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import free_port, sandbox
from orrery.adapters.clock import SystemClock
from orrery.adapters.smtp import Relay, SmtpNotifier
from orrery.adapters.sqlite import SqliteStore, create
from orrery.app.cli.serve import TURN
from orrery.logs import log
from orrery.ports.store import Store
from orrery.runtime.outbox import Outbox, OutboxDraft, enqueue

_PAGE = json.dumps([{"id": f"cs_test_{number}", "object": "checkout.session"} for number in range(100)])

_SENDER, _TITLE, _BODY = "shop@northwind.example", "Your access", "Thank you.\n" * 20


async def one_connection(port: int, mails: int) -> None:
    """Send all over one connection."""
    async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False) as client:
        for number in range(mails):
            await client.send_message(_mail(number))


async def a_connection_each(port: int, mails: int) -> None:
    """Send each over a separate connection."""
    for number in range(mails):
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False) as client:
            await client.send_message(_mail(number))


async def from_the_outbox(port: int, store: Store, word: str, mails: int) -> float:
    """Put a backlog into the store; return how many seconds its delivery takes."""
    clock = SystemClock()
    for number in range(mails):
        draft = OutboxDraft(f"{word}-{number}", "email", _TITLE, _BODY, to=f"b{number}@buyer.example.test")
        _ = await store.commit(enqueue([draft], clock.now()))
    outbox = Outbox(store, clock, {"email": SmtpNotifier(Relay("127.0.0.1", port, _SENDER, "none"), clock)})
    begin = time.perf_counter()
    if await outbox.deliver_due("email") != mails:
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


async def speeds(directory: Path, port: int, mails: int) -> dict[str, float]:
    """Return each side's e-mails a second."""
    taken: dict[str, float] = {}
    for name, send in ((ONE, one_connection), ("nothing stored, a connection each", a_connection_each)):
        begin = time.perf_counter()
        await send(port, mails)
        taken[name] = time.perf_counter() - begin
    async with _opened(directory / "store.db") as store:
        taken["outbox"] = await from_the_outbox(port, store, "alone", mails)
        for whose, turn in (("Python's", sys.getswitchinterval()), ("the service's", TURN)):
            with computing(turn):
                name = f"outbox beside a thread that computes, {whose} turns"
                taken[name] = await from_the_outbox(port, store, whose, mails)
    return {name: mails / seconds for name, seconds in taken.items()}


def measure(mails: int = 150) -> Round:
    """Send so many e-mails each way."""
    log.setLevel(logging.ERROR)
    smtp_port = free_port()
    with scratch() as folder, sandbox(folder / "sandbox", smtp_port):
        found = uvloop.run(speeds(folder, smtp_port, mails))
    return [Figure(name, speed, "a second", "" if name == ONE else ONE) for name, speed in found.items()]


ONE = "nothing stored, one connection"
MEASUREMENT = Measurement(measure, short={"mails": 2})
