"""The records of fraud screening: the last search, without personal data, and the bodies of intents."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from orrery.fraud.clusters import Cluster, Trait
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.record import Id, Record, RecordPart
from orrery.runtime.collection import FOR_EVER, Collection

FOUND = "fraud:found"
"""The key of the last search."""


class FoundCluster(RecordPart):
    """A cluster without the value that its declines share. By `newest_charge` the next search recognises it."""

    id: Id
    trait: Trait
    first: datetime
    last: datetime
    declines: int
    stopped: int
    newest_charge: Id


class LastSearch(Record):
    """The result of the workers' last search."""

    looked_at: datetime
    unasked: int = 0
    clusters: tuple[FoundCluster, ...] = ()

    def newest_first(self) -> list[FoundCluster]:
        return sorted(self.clusters, key=lambda one: (one.last, one.id), reverse=True)

    def recognised(self, found: Sequence[Cluster]) -> list[Cluster]:
        """Return clusters under the ids by which they were known; two that became one take that of the oldest.

        A cluster is known by its newest charge of then, also when its beginning is gone.
        """
        oldest_first = sorted(self.clusters, key=lambda one: (one.first, one.id))
        return [replace(one, id=_known_id(one, oldest_first) or one.id) for one in found]

    def beyond(self, clusters: Sequence[Cluster], since: datetime) -> list[FoundCluster]:
        """Return the clusters of before that none of `clusters` holds and that did not end before `since`."""
        held = {(one.trait, charge) for one in clusters for charge in one.charge_ids}
        return [one for one in self.clusters if one.last >= since and (one.trait, one.newest_charge) not in held]


def _known_id(cluster: Cluster, known: Sequence[FoundCluster]) -> str | None:
    charges = cluster.charge_ids
    return next((one.id for one in known if one.trait == cluster.trait and one.newest_charge in charges), None)


def last_search(store: Store, clock: Clock) -> Collection[LastSearch]:
    """Return the collection of the last search."""
    return Collection(store, clock, LastSearch, FOUND, life=FOR_EVER)


def without_values(cluster: Cluster) -> FoundCluster:
    """Return the part of a cluster that is stored."""
    return FoundCluster(
        id=cluster.id,
        trait=cluster.trait,
        first=cluster.first,
        last=cluster.last,
        declines=len(cluster.declines),
        stopped=cluster.stopped,
        newest_charge=cluster.declines[-1].charge_id,
    )


class ListedEntry(BaseModel):
    """One entry to be added, or with an `entry_id` to be removed; `list` is the list's alias."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    list: str
    list_id: str
    value: str
    entry_id: str | None = None


class EntriesBody(BaseModel):
    """The body of an intent about fraud lists."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entries: tuple[ListedEntry, ...]

    @property
    def lists(self) -> tuple[str, ...]:
        """The aliases of the lists that it changes, in its order."""
        return tuple(one.list for one in self.entries)
