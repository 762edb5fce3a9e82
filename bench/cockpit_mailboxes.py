"""The cockpit over real mailboxes: a refresh of four beside each alone, its calls, and 50,000 messages.

The servers are the sandbox's Microsoft Graph and Debian's dovecot. Asserts nothing.
"""

import os
import statistics
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from bench.cockpit_page import cockpit
from bench.mail_relay import Relay, relayed
from bench.start import proportional_kilobytes
from orrery.runtime.console.terminal import new_console
from tests.support.all_kinds import KINDS, AllKinds, Kind
from tests.support.cockpit import Client
from tests.support.dovecot import running_dovecot
from tests.support.graph import graph
from tests.support.imap import mail
from tests.support.tracks import ANN_A, ANN_B

NEW = 125
"""New rows of each mailbox: 500 of four."""

TURNS = 7
NETWORK = 0.1
"""Seconds that an answer takes over a network, where it is measured with one."""

MANY = 50_000
LIMIT = 150
REST = 3.0
"""Seconds after the last row at which the memory is read."""


@contextmanager
def servers() -> Generator[tuple[AllKinds, Relay]]:
    """Run a Microsoft Graph and a mail server, with Ann signed in to both tracks."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(dir=Path.cwd(), prefix=".bench-")))
        box = stack.enter_context(graph(folder))
        dovecot = stack.enter_context(running_dovecot())
        relay = stack.enter_context(relayed(dovecot.plain_port))
        found = AllKinds(box, dovecot, folder, "bench@lab.example", relay.port)
        found.sign_in()
        yield found, relay


def _refreshed(one: Client) -> float:
    """Return how many seconds a refresh takes until every mailbox is read."""
    begin = time.perf_counter()
    states = one.ask("GET", "/api/comms/rows?sync=pulse").json()["mailboxes"]
    while any(each["asked_at"] for each in states):
        states = one.listed()["mailboxes"]
    _require_fresh(states)
    return time.perf_counter() - begin


def _require_fresh(states: Sequence[Mapping[str, object]]) -> None:
    if wrong := [f"{one['account']}: {one['why']}" for one in states if one["state"] != "fresh"]:
        raise RuntimeError(", ".join(wrong))


def _of_refresh(kinds: AllKinds, relay: Relay, delay: float) -> Iterator[tuple[str, ...]]:
    """Yield each side's median, and its ratio to the slowest mailbox alone."""
    sides: dict[str, Sequence[Kind]] = {f"{kind} alone": (kind,) for kind in KINDS}
    sides["all four"] = KINDS
    taken: dict[str, list[float]] = {name: [] for name in sides}
    kinds.receive(1)
    with ExitStack() as stack:
        running = {
            name: stack.enter_context(_running(kinds, each, f"{name} {delay}")) for name, each in sides.items()
        }
        relay.delay = delay
        if delay:
            kinds.box.fault("graph_lost_answer", value=delay, count=1_000_000)
        for turn in range(TURNS):
            kinds.receive(NEW)
            names = [*running][turn % len(running) :] + [*running][: turn % len(running)]
            for name in names:
                taken[name].append(_refreshed(running[name]))
    kinds.box.clear_faults()
    relay.delay = 0.0
    medians = {name: statistics.median(each) for name, each in taken.items()}
    slowest = max(value for name, value in medians.items() if name != "all four")
    for name, value in medians.items():
        limit = "1.2" if name == "all four" else ""
        yield name, f"{value * 1000:.0f} ms", f"{value / slowest:.2f}", limit


@contextmanager
def _running(kinds: AllKinds, several: Sequence[Kind], name: str) -> Generator[Client]:
    """Run a cockpit over some mailboxes that were read once."""
    settings = kinds.settings(several, sample=NEW, name=name)
    with cockpit(settings.parent, "--config", str(settings)) as (client, _, _):
        _ = _refreshed(client)
        yield client


def _of_calls(kinds: AllKinds, relay: Relay) -> Iterator[tuple[str, str]]:
    """Yield what a refresh asks of each mailbox when nothing is new."""
    with _running(kinds, KINDS, "calls") as one:
        before = {account: kinds.box.calls(account) for account in (ANN_A, ANN_B)}
        relay.commands.clear()
        _ = _refreshed(one)
        for kind, account in (("microsoft A", ANN_A), ("microsoft B", ANN_B)):
            calls = kinds.box.calls(account) - before[account]
            yield kind, ", ".join(f"{call}: {count}" for call, count in sorted(calls.items()))
        yield "imap", ", ".join(f"{name}: {count}" for name, count in relay.commands.items())
    yield "sample", "none: it is in the process"


def _of_many(kinds: AllKinds, kind: Kind) -> Iterator[tuple[str, ...]]:
    """Yield how soon a mailbox with many messages is listed, and what its cockpit weighs."""
    settings = kinds.settings((kind,), days=0, name=f"many {kind}")
    begin = time.perf_counter()
    with cockpit(settings.parent, "--config", str(settings)) as (one, process, first):
        while (now := one.listed()["mailboxes"][0])["state"] == "loading":
            time.sleep(1)  # noqa: TID251  about as often as the page does
        _require_fresh([now])
        whole, rows = time.perf_counter() - begin, now["count"]
        time.sleep(REST)  # noqa: TID251  at rest means left alone
        weight = proportional_kilobytes(process.pid) / 1024
        yield f"{kind}: start to the first row", f"{first:.2f} s", "2 s", f"{first / 2:.2f}"
        yield f"{kind}: to the last of {rows:,}", f"{whole:.0f} s", "", ""
        yield f"{kind}: memory with them, PSS", f"{weight:.0f} MB", f"{LIMIT} MB", f"{weight / LIMIT:.2f}"
        yield f"{kind}: at most, until then (RSS)", f"{_peak(process.pid):.0f} MB", "", ""
        refreshed = _refreshed(one)
        yield f"{kind}: a refresh without anything new", f"{refreshed:.2f} s", "", ""


def _fill(kinds: AllKinds, count: int) -> None:
    """Put many messages into the inbox at once, as the mail server's own files: one by one takes minutes."""
    kinds.fill_imap(1)
    inbox = kinds.dovecot.folder / "mail" / kinds.imap / "cur"
    owner = inbox.stat()
    for number in range(count):
        file = inbox / f"{number}.bench:2,"
        _ = file.write_bytes(mail(number))
        os.chown(file, owner.st_uid, owner.st_gid)
    with kinds.dovecot.opened(kinds.imap):
        pass  # a server has known its mail for long


def _peak(pid: int) -> float:
    """Return the most that a process has ever had in memory, in megabytes."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def _table(title: str, *headings: str) -> Table:
    made = Table(title=title)
    for heading in headings:
        made.add_column(heading, justify="left" if heading in {"", "calls"} else "right")
    return made


def of_mailboxes() -> Iterator[Table]:
    """Yield the tables."""
    with servers() as (kinds, relay):
        for delay in (0.0, NETWORK):
            title = f"a refresh with {NEW} new rows a mailbox, {delay * 1000:g} ms for each answer"
            made = _table(title, "", "median", "share", "limit")
            for row in _of_refresh(kinds, relay, delay):
                made.add_row(*row)
            yield made
        made = _table("a refresh without anything new", "", "calls")
        for row in _of_calls(kinds, relay):
            made.add_row(*row)
        yield made
    with servers() as (kinds, _):
        made = _table(f"{MANY:,} messages", "", "measured", "limit", "ratio")
        kinds.box.fill(ANN_A, MANY)
        for row in _of_many(kinds, "microsoft A"):
            made.add_row(*row)
        _fill(kinds, MANY)
        for row in _of_many(kinds, "imap"):
            made.add_row(*row)
        yield made


if __name__ == "__main__":
    console = new_console(soft_wrap=False)
    for table in of_mailboxes():
        console.print(table)
