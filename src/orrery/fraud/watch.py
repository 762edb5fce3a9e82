"""The workers' check for clusters, every five minutes, with one push for each cluster (decision 18)."""

from collections.abc import Sequence
from datetime import timedelta

from orrery.fraud.clusters import NAMES, Cluster
from orrery.fraud.reading import ClusterReader
from orrery.fraud.records import LastSearch, last_search, without_values
from orrery.fraud.sentences import incident, lasting, together
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.panels import Panel, utc_text
from orrery.ports.store import Conflict, Store
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, commit

EVERY = timedelta(minutes=5)
"""How often the workers search (issue: every 5 minutes)."""

BACK = timedelta(hours=24)
"""How far back they read, so that clusters during an outage of the workers are found, too."""

OVERDUE = 3 * EVERY
"""The owner's page does not trust a last search that is older than this."""

COMMAND = "orrery fraud clusters"


class FraudWatch:
    """Searches, notifies the owner, and stores the result for the owner's page, without personal data."""

    JOB = "look for fraud clusters"

    def __init__(self, store: Store, clock: Clock, reader: ClusterReader, *, watches: bool) -> None:
        self._store = store
        self._clock = clock
        self._last = last_search(store, clock)
        self._reader = reader
        self._watches = watches

    async def run(self) -> None:
        """Search, and enqueue a push about each new cluster in the commit that stores the result."""
        last, unchanged = await self._last.replaceable()
        before = last or LastSearch(looked_at=self._clock.now())
        search = await self._reader.search(BACK)
        known_ids = {one.id for one in before.clusters}
        new = [one for one in search.clusters if one.id not in known_ids]
        kept = (*map(without_values, search.clusters), *before.beyond(search.clusters, search.since))
        found = LastSearch(looked_at=search.until, unasked=search.unasked, clusters=kept)
        pushes = outbox.enqueue([_push(group) for group in together(new)], search.until)
        changes = Changes([self._last.put(found), *pushes], [unchanged])
        if isinstance(await commit(self._store, changes), Conflict):
            log.info("another process looked at the declines meanwhile")
        elif new:
            log.warning("fraud clusters", new=len(new), known=len(known_ids))

    async def panel(self) -> Panel:
        """Return the panel of the owner's page: kinds and counts."""
        if not self._watches:
            return Panel(
                "Fraud clusters", "Payments are not searched: nothing is sold, or the processor's key is missing."
            )
        found, _ = await self._last.replaceable()
        if found is None:
            return Panel("Fraud clusters", "Not looked yet.")
        late = self._clock.now() - found.looked_at
        if late > OVERDUE:
            return Panel(
                "Fraud clusters", f"The last look was {lasting(late)} ago.", "bad", "Look: `orrery doctor`"
            )
        if not found.clusters:
            headline = f"None in the {BACK // timedelta(hours=1)} hours before {utc_text(found.looked_at)}."
            return Panel("Fraud clusters", headline, "good")
        return _panel(found)


def _panel(found: LastSearch) -> Panel:
    count = len(found.clusters)
    return Panel(
        title="Fraud clusters",
        headline=f"{count} in the {BACK // timedelta(hours=1)} hours before {utc_text(found.looked_at)}.",
        tone="attention",
        todo=f"Look: `{COMMAND}`",
        columns=("cluster", "share one", "declines", "stopped by the processor", "first", "last"),
        rows=tuple(
            (
                one.id,
                NAMES[one.trait],
                str(one.declines),
                str(one.stopped),
                utc_text(one.first),
                utc_text(one.last),
            )
            for one in sorted(found.clusters, key=lambda one: (one.last, one.id), reverse=True)
        ),
    )


def _push(group: Sequence[Cluster]) -> outbox.OutboxDraft:
    stopped = all(one.stopped == len(one.declines) for one in group)
    return outbox.OutboxDraft(
        id=f"fraud-{group[0].id}",
        channel="push",
        title="Declined payments in a cluster",
        body=f"{incident(group)} Look: `{COMMAND}`",
        priority="default" if stopped else "high",
        tags=("warning",),
    )
