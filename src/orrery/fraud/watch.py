"""The workers' check for clusters, every five minutes, with one push for each cluster (decision 18)."""

from collections.abc import Sequence
from datetime import timedelta

import structlog

from orrery.fraud.clusters import NAMES, Cluster
from orrery.fraud.reading import Reading
from orrery.fraud.records import FOUND, Found, found_in, without_values
from orrery.fraud.words import incident, lasting, together
from orrery.owner import outbox
from orrery.ports.clock import Clock
from orrery.ports.panels import Panel, moment
from orrery.ports.store import Absent, Conflict, Put, Store, Unchanged

EVERY = timedelta(minutes=5)
"""How often the workers look (issue: every 5 minutes)."""

BACK = timedelta(hours=24)
"""How far back they read, so that clusters during an outage of the workers are found, too."""

OVERDUE = 3 * EVERY
"""So long after the last look the owner's page no longer takes it for true."""

COMMAND = "orrery fraud clusters"

log = structlog.get_logger()


class FraudWatch:
    """Looks, tells the owner, and keeps what it found for the owner's page, without anything personal."""

    JOB = "look for fraud clusters"

    def __init__(self, store: Store, clock: Clock, reading: Reading, *, watches: bool) -> None:
        self._store = store
        self._clock = clock
        self._reading = reading
        self._watches = watches

    async def look(self) -> None:
        """Tell of every cluster that was not told of; a push and what it tells of are one commit."""
        entry = await self._store.get(FOUND)
        before = found_in(entry) or Found(looked_at=self._clock.now())
        look = await self._reading.look(BACK)
        told = {one.id for one in before.clusters}
        new = [one for one in look.clusters if one.id not in told]
        kept = (*map(without_values, look.clusters), *before.beyond(look.clusters, look.since))
        found = Found(looked_at=look.until, unasked=look.unasked, clusters=kept)
        pushes = outbox.enqueue([_push(group) for group in together(new)], look.until)
        check = Unchanged(FOUND, entry.version) if entry else Absent(FOUND)
        if isinstance(await self._store.commit([Put(FOUND, found.to_bytes()), *pushes], [check]), Conflict):
            log.info("another process looked at the declines meanwhile")
        elif new:
            log.warning("fraud clusters", new=len(new), known=len(told))

    async def panel(self) -> Panel:
        """Return what the owner's page shows: kinds and counts."""
        if not self._watches:
            return Panel("Fraud clusters", "Nobody looks: nothing is sold, or the processor's key is missing.")
        found = found_in(await self._store.get(FOUND))
        if found is None:
            return Panel("Fraud clusters", "Not looked yet.")
        late = self._clock.now() - found.looked_at
        if late > OVERDUE:
            return Panel(
                "Fraud clusters", f"The last look was {lasting(late)} ago.", "bad", "Look: `orrery doctor`"
            )
        if not found.clusters:
            seen = f"None in the {BACK // timedelta(hours=1)} hours before {moment(found.looked_at)}."
            return Panel("Fraud clusters", seen, "good")
        return _panel(found)


def _panel(found: Found) -> Panel:
    count = len(found.clusters)
    return Panel(
        title="Fraud clusters",
        headline=f"{count} in the {BACK // timedelta(hours=1)} hours before {moment(found.looked_at)}.",
        tone="attention",
        todo=f"Look: `{COMMAND}`",
        columns=("cluster", "share one", "declines", "stopped by the processor", "first", "last"),
        rows=tuple(
            (one.id, NAMES[one.trait], str(one.declines), str(one.stopped), moment(one.first), moment(one.last))
            for one in sorted(found.clusters, key=lambda one: (one.last, one.id), reverse=True)
        ),
    )


def _push(group: Sequence[Cluster]) -> outbox.Draft:
    stopped = all(one.stopped == len(one.declines) for one in group)
    return outbox.Draft(
        id=f"fraud-{group[0].id}",
        channel="push",
        title="Declined payments in a cluster",
        body=f"{incident(group)} Look: `{COMMAND}`",
        priority="default" if stopped else "high",
        tags=("warning",),
    )
