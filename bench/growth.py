"""What grows with the sales in the store, and what does not: one store that grows, measured at each size.

Times are those of the processor, with the start of a command in it. The listing has the sales of a month, a
twelfth of all.
docs/explanation/how-cost-grows.md explains what grows, and why.
"""

import asyncio
import os
import subprocess
import time
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from bench import commands
from bench.curves import Line, curves
from bench.events import deliver, request
from bench.large_store import MONTHS, PATTERN, UNDELIVERABLE, multiply, sell
from bench.listing import listing
from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import NO_PROCESSOR, deployed, prepare, processor_seconds, serving
from bench.webhook import offer_sessions
from orrery.syntax.admin_password import hashed

PASSWORD = "orrery-bench-password"  # noqa: S105  no real one: the measurement's own admin
SIZES = (1_000, 10_000, 100_000, 1_000_000)
MANY, DAILY = 100_000, 1.0
"""Up to so many sales nothing that an owner does daily takes more than so many seconds."""

RECONCILIATION, BACKUP, ERASURE = (
    f"reconciliation of 1 in {MONTHS} sales",
    "`orrery backup`",
    "`orrery privacy erase`",
)
_SELDOM = (RECONCILIATION, BACKUP, ERASURE)
"""What the service and a timer do by themselves, and what is done once for a person."""

_DRAWN = (
    *("start of `orrery serve` to the first 200", "webhook", "`/owner`", "`orrery access list`", "`orrery sales`"),
    *_SELDOM,
)
_OF_STORE = "the store's file, a sale"
_PAGES = 10


@dataclass(frozen=True, slots=True)
class _Deployment:
    """A deployment whose store grows. `reconciling` are the same settings, with a processor that has sales."""

    settings: Path
    reconciling: Path

    def costs(self, sales: int, sessions: Sequence[str], rest: float, forms: int | None) -> Iterator[Figure]:
        """Measure all; `sessions` were offered, and are paid for `rest` seconds after the start."""
        with serving(self.settings) as service:
            cost = partial(processor_seconds, service.process.pid)
            yield _figure("start of `orrery serve` to the first 200", sales, cost())
            time.sleep(rest)  # noqa: TID251  the jobs of a start are over by then
            requests, before = [request(one, service.port) for one in sessions], cost()
            asyncio.run(deliver(requests, service.port, 1))
            yield _figure("webhook", sales, (cost() - before) / len(requests))
            before = cost()
            for _ in range(_PAGES):
                self._read_page()
            yield _figure("`/owner`", sales, (cost() - before) / _PAGES)
        for words in commands.reading(sessions[0])[:forms]:
            shown = f"orrery {' '.join(words)}".replace(sessions[0], "SESSION")
            yield _figure(f"`{shown}`", sales, self._run(*words, may_find=True))
        reconciled = self._run("checkout", "reconcile", settings=self.reconciling)
        yield _figure(RECONCILIATION, sales, reconciled)
        snapshot = self.settings.with_name("snapshot.db")
        yield _figure(BACKUP, sales, self._run("backup", str(snapshot)))
        yield Figure(_named(_OF_STORE, sales), snapshot.stat().st_size / sales / 1000, "KB")
        snapshot.unlink()
        words = "privacy", "erase", f"{sessions[0]}@example.org", "--reason", "measured"
        yield _figure(ERASURE, sales, self._run(*words))

    def _read_page(self) -> None:
        port = self.settings.read_text(encoding="utf-8").partition("private_port = ")[2].partition("\n")[0]
        words = {"Authorization": f"Basic {b64encode(f'admin:{PASSWORD}'.encode()).decode()}"}
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/owner", headers=words)
        with urllib.request.urlopen(asked) as answer:  # noqa: S310  the same
            answer.read()

    def _run(self, *words: str, settings: Path | None = None, may_find: bool = False) -> float:
        """Return the processor time of a command, which `may_find` something broken."""
        command = deployed(settings or self.settings, *words)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603  our own
        _, code, used = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(code) > may_find:
            raise RuntimeError(f"{' '.join(words)} ended with {os.waitstatus_to_exitcode(code)}.")
        return used.ru_utime + used.ru_stime


def _figure(what: str, sales: int, seconds: float) -> Figure:
    limit = DAILY if sales <= MANY and what not in _SELDOM and not _is_slow(what.strip("`")) else None
    return Figure(_named(what, sales), seconds, "s", limit=limit)


def _is_slow(command: str) -> bool:
    return command.startswith(tuple(f"orrery {one}" for one in commands.SLOW))


def _named(what: str, sales: int) -> str:
    return f"{what}: {sales:,} sales"


def measure(
    sizes: Sequence[int] = SIZES, webhooks: int = 50, rest: float = 5.0, forms: int | None = None
) -> Round:
    """Let a store grow to each of these sizes, and measure there: of the commands all forms, or the first ones."""
    found, before = list[Figure](), 0
    sessions = {size: [f"cs_test_{size}_{number}" for number in range(webhooks)] for size in sizes}
    with scratch() as folder, listing() as processor:
        settings = prepare(folder / "service", more=UNDELIVERABLE)
        (settings.parent / "secrets/admin_password_hash").write_text(hashed(PASSWORD.encode()))
        reconciling, store = settings.with_name("reconciling.toml"), settings.with_name("orrery.db")
        reconciling.write_text(settings.read_text().replace(NO_PROCESSOR, processor.url))
        asyncio.run(offer_sessions(settings, [PATTERN, *chain(*sessions.values())]))
        with serving(settings) as service:
            sell(service, [PATTERN])
        for size in sizes:
            asyncio.run(multiply(store, size, before))
            processor.sales = before = size
            found += _Deployment(settings, reconciling).costs(size, sessions[size], rest, forms)
    return found


def drawn(medians: Mapping[str, float]) -> str:
    """Return the curves of all that takes time, over the number of sales."""
    lines = dict[str, list[tuple[float, float]]]()
    for name, median in medians.items():
        what, _, sales = name.partition(": ")
        if what in _DRAWN:
            point = float(sales.removesuffix(" sales").replace(",", "")), median
            lines.setdefault(what.replace("`", ""), []).append(point)
    return curves("Seconds of processor time, by the sales in the store", [Line(*one) for one in lines.items()])


MEASUREMENT = Measurement(
    measure, short={"sizes": (20,), "webhooks": 2, "rest": 0.0, "forms": 1}, rounds=1, drawn=drawn
)
