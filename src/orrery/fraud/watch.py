"""The workers' check for clusters, every five minutes; each cluster is an item of one problem (decision 18)."""

from datetime import timedelta

from orrery.errors import StoreError
from orrery.fraud.clusters import NAMES
from orrery.fraud.reading import ClusterReader
from orrery.fraud.records import FoundCluster, LastSearch, last_search, without_values
from orrery.fraud.sentences import lasting
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.health import ACT_TODAY, Finding
from orrery.ports.panels import Panel, utc_text
from orrery.ports.store import Conflict, Store
from orrery.runtime.collection import Changes, commit

EVERY = timedelta(minutes=5)
"""How often the workers search (issue: every 5 minutes)."""

BACK = timedelta(hours=24)
"""How far back they read, so that clusters during an outage of the workers are found, too."""

OVERDUE = 3 * EVERY
"""The owner's page does not trust a last search that is older than this."""

PART, MOST = "fraud clusters", 3
"""The part of the findings, and how many clusters its sentence describes."""

_LOOK = "Look: `orrery fraud clusters`."


class FraudWatch:
    """Searches, and stores the result without personal data."""

    JOB = "look for fraud clusters"

    def __init__(self, store: Store, clock: Clock, reader: ClusterReader, *, watches: bool) -> None:
        self._store = store
        self._clock = clock
        self._last = last_search(store, clock)
        self._reader = reader
        self._watches = watches

    async def run(self) -> None:
        """Search, and store the result."""
        last, unchanged = await self._last.replaceable()
        before = last or LastSearch(looked_at=self._clock.now())
        search = await self._reader.search(BACK)
        known_ids = {one.id for one in before.clusters}
        new = [one for one in search.clusters if one.id not in known_ids]
        kept = (*map(without_values, search.clusters), *before.beyond(search.clusters, search.since))
        found = LastSearch(looked_at=search.until, unasked=search.unasked, clusters=kept)
        changes = Changes([self._last.put(found)], [unchanged])
        if isinstance(await commit(self._store, changes), Conflict):
            log.info("another process looked at the declines meanwhile")
        elif new:
            log.warning("fraud clusters", new=len(new), known=len(known_ids))

    async def findings(self) -> list[Finding]:
        """Return whether the last search found clusters; nothing where none is due, or when the store fails."""
        try:
            found = (await self._last.replaceable())[0] if self._watches else None
        except StoreError:
            return []
        if found is None:
            return []
        late = self._clock.now() - found.looked_at
        if late > OVERDUE:
            why, cause = f"The last look was {lasting(late)} ago.", f"job: {self.JOB}"
            return [Finding(PART, "broken", why, _LOOK, essential=False, cause=cause)]
        return [_finding(found)]

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
            return Panel("Fraud clusters", f"The last look was {lasting(late)} ago.", todo=_LOOK)
        if not found.clusters:
            headline = f"None in the {BACK // timedelta(hours=1)} hours before {utc_text(found.looked_at)}."
            return Panel("Fraud clusters", headline, "good")
        return _panel(found)


def _panel(found: LastSearch) -> Panel:
    count = len(found.clusters)
    return Panel(
        title="Fraud clusters",
        headline=f"{count} in the {BACK // timedelta(hours=1)} hours before {utc_text(found.looked_at)}.",
        todo=_LOOK,
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
            for one in found.newest_first()
        ),
    )


def _finding(found: LastSearch) -> Finding:
    if not found.clusters:
        return Finding(PART, "ok", "No cluster was found.", essential=False, settled=True)
    newest, count = found.newest_first(), len(found.clusters)
    more = f" And {count - MOST} more." if count > MOST else ""
    return Finding(
        PART,
        "broken",
        "Declined payments: " + "; ".join(map(_described, newest[:MOST])) + f".{more}",
        _LOOK,
        essential=False,
        settled=True,
        severity=3 if all(one.stopped == one.declines for one in newest) else ACT_TODAY,
        items=tuple(one.id for one in newest),
    )


def _described(one: FoundCluster) -> str:
    stopped = f", {one.stopped} of them stopped by the processor" if one.stopped else ""
    return f"{one.declines} within {lasting(one.last - one.first)} share one {NAMES[one.trait]}{stopped}"
