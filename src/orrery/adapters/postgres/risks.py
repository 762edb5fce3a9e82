"""What in the setup of a database could lose commits that were acknowledged, or take leases from their holders."""

from collections.abc import Iterator
from dataclasses import dataclass

from orrery.ports.store import StoreRisk

_MOST_APART = 2_000_000
"""Microseconds by which the clocks of a node and of the database may differ: a lease is judged by the node's."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How the server is set up: whether a commit waits for standbys, how many are connected, its own time."""

    waits_for_standbys: bool
    standbys: int
    flushes: bool
    now: int


def risks(setup: Setup, now: int) -> Iterator[StoreRisk]:
    """Yield each risk, the worst first; `now` is this machine's time in microseconds since 1970."""
    if not setup.flushes:
        yield StoreRisk(
            "The store's database does not flush what it commits: a power cut can lose sales.",
            "Set `fsync = on` in its postgresql.conf, and restart it.",
        )
    if not setup.waits_for_standbys:
        yield StoreRisk(
            "The store's database waits for no standby: the loss of its machine loses sales.",
            "Set `synchronous_standby_names` in its postgresql.conf, and reload it.",
        )
    elif not setup.standbys:
        yield StoreRisk(
            "No standby of the store's database is connected: every sale waits until one is.",
            "Start a standby, or make a new one.",
        )
    if abs(setup.now - now) > _MOST_APART:
        seconds = abs(setup.now - now) / 1_000_000
        yield StoreRisk(
            f"The clocks of this machine and of the store's database differ by {seconds:.0f} s.",
            "Set both by NTP: `timedatectl` shows whether that is on.",
        )
