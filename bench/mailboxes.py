"""The cockpit over real mailboxes: a refresh of four beside each alone, its calls, and 50,000 messages.

The servers are the sandbox's Microsoft Graph and Debian's dovecot. Over a network the waits of the mailboxes
overlap; without one there is nothing to wait for, and what the cockpit and the servers compute adds up.
"""

import os
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.cockpit import cockpit
from bench.mail_relay import Relay, relayed
from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import megabytes
from tests.support.all_kinds import KINDS, AllKinds, Kind
from tests.support.cockpit import Client
from tests.support.dovecot import running_dovecot
from tests.support.graph import graph
from tests.support.imap import mail
from tests.support.tracks import ANN_A, ANN_B

NETWORK = 0.1
"""Seconds that an answer takes over a network, where it is measured with one."""


@contextmanager
def servers() -> Generator[tuple[AllKinds, Relay]]:
    """Run a Microsoft Graph and a mail server, with Ann signed in to both tracks."""
    with ExitStack() as stack:
        folder = stack.enter_context(scratch())
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


def of_refresh(kinds: AllKinds, relay: Relay, delay: float, new: int, single: Sequence[Kind]) -> Iterator[Figure]:
    """Yield how long a refresh takes of some mailboxes, each alone, and of all four."""
    sides: dict[str, Sequence[Kind]] = {f"{kind} alone": (kind,) for kind in single}
    sides["all four"] = KINDS
    kinds.receive(1)
    with ExitStack() as stack:
        running = {
            name: stack.enter_context(_running(kinds, each, f"{name} {delay}", new))
            for name, each in sides.items()
        }
        relay.delay = delay
        if delay:
            kinds.box.fault("graph_lost_answer", value=delay, count=1_000_000)
        kinds.receive(new)
        taken = {name: _refreshed(one) * 1000 for name, one in running.items()}
    kinds.box.clear_faults()
    relay.delay = 0.0
    where = "over a network" if delay else "on one machine"
    alone = {name: took for name, took in taken.items() if name != "all four"}
    yield from (Figure(f"a refresh {where}, {name}", took, "ms") for name, took in alone.items())
    slowest = f"a refresh {where}, the slowest alone"
    yield Figure(slowest, max(alone.values()), "ms")
    yield Figure(f"a refresh {where}, all four", taken["all four"], "ms", slowest, aim=1.2)


@contextmanager
def _running(kinds: AllKinds, several: Sequence[Kind], name: str, sample: int) -> Generator[Client]:
    """Run a cockpit over some mailboxes that were read once."""
    settings = kinds.settings(several, sample=sample, name=name)
    with cockpit(settings.parent, "--config", str(settings)) as (client, _, _):
        _ = _refreshed(client)
        yield client


def of_calls(kinds: AllKinds, relay: Relay, new: int) -> Iterator[Figure]:
    """Yield how often a refresh asks each server when nothing is new."""
    with _running(kinds, KINDS, "calls", new) as one:
        before = {account: sum(kinds.box.calls(account).values()) for account in (ANN_A, ANN_B)}
        relay.commands.clear()
        _ = _refreshed(one)
        for kind, account in (("microsoft A", ANN_A), ("microsoft B", ANN_B)):
            asked = sum(kinds.box.calls(account).values()) - before[account]
            yield Figure(f"nothing new: requests to {kind}", asked, "calls")
        yield Figure("nothing new: commands to the mail server", relay.commands.total(), "calls")


def of_many(kinds: AllKinds, kind: Kind, rest: float) -> Iterator[Figure]:
    """Yield how soon a mailbox with many messages is listed, and what its cockpit weighs."""
    settings = kinds.settings((kind,), days=0, name=f"many {kind}")
    begin = time.perf_counter()
    with cockpit(settings.parent, "--config", str(settings)) as (one, process, first):
        while (now := one.listed()["mailboxes"][0])["state"] == "loading":
            time.sleep(min(1, rest))  # noqa: TID251  about as often as the page does
        _require_fresh([now])
        whole, what = time.perf_counter() - begin, f"{kind} with {now['count']:,} messages"
        time.sleep(rest)  # noqa: TID251  at rest means left alone
        yield Figure(f"{what}: start to the first row", first, "s", limit=2)
        yield Figure(f"{what}: start to the last row", whole, "s")
        yield Figure(f"{what}: memory, PSS", megabytes(process.pid), "MB", limit=150)
        yield Figure(f"{what}: memory at most until then, RSS", _peak(process.pid), "MB")
        yield Figure(f"{what}: a refresh without anything new", _refreshed(one), "s")


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


def measure(
    new: int = 125,
    many: int = 50_000,
    rest: float = 3.0,
    delays: Sequence[float] = (0.0, NETWORK),
    single: Sequence[Kind] = KINDS,
    full: Sequence[Kind] = ("microsoft A", "imap"),
) -> Round:
    """Measure refreshes with `new` rows a mailbox, and the `full` mailboxes with `many` messages."""
    with servers() as (kinds, relay):
        found = [figure for delay in delays for figure in of_refresh(kinds, relay, delay, new, single)]
        found += of_calls(kinds, relay, new)
        kinds.box.fill(ANN_A, many)
        _fill(kinds, many)
        for kind in full:
            found += of_many(kinds, kind, rest)
    return found


_SHORT = {"new": 1, "many": 5, "rest": 0.1, "delays": (NETWORK,), "single": ("sample",), "full": ("imap",)}
MEASUREMENT = Measurement(measure, short=_SHORT, rounds=3, programs=("dovecot",))
