"""Proposes changes of the processor's fraud lists; the owner's approval makes them (decisions 15 and 18)."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from pydantic import JsonValue

from orrery.approvals.approvals import Approvals, IntentDraft, KnownIntent
from orrery.errors import Invalid, NotFound
from orrery.fraud.clusters import NAMES, Cluster, Trait
from orrery.fraud.entries import MOST_AT_ONCE, BlocklistValue, Network, checked, normalised
from orrery.fraud.operations import BLOCK, UNBLOCK, blocklist, body_of, entries_with, same_value
from orrery.fraud.reading import ClusterReader
from orrery.fraud.records import EntriesBody, ListedEntry
from orrery.ports.processor import ItemUnreadable, ListEntry, ProcessorReads, ValueList
from orrery.ports.processor.lists import by_alias, value_lists
from orrery.runtime.operations import Intent

PENDING = ("proposed", "started", "unknown")
"""The states of an intent that may still change a list."""

NO_EVIDENCE: Mapping[str, JsonValue] = {}


class Screening:
    """Shows the lists, and proposes one or two entries at a time."""

    def __init__(
        self, reads: ProcessorReads, approvals: Approvals, reading: ClusterReader, own: Sequence[Network]
    ) -> None:
        self._reads = reads
        self._approvals = approvals
        self._reading = reading
        self._own = own

    async def lists(self) -> list[ValueList | ItemUnreadable]:
        """Return the lists of the account, by alias."""
        return await value_lists(self._reads)

    async def entries(self, alias: str) -> list[ListEntry | ItemUnreadable]:
        """Return the entries of a list, the newest first; raise `NotFound`."""
        found = await by_alias(self._reads, alias)
        return [one async for one in self._reads.list_entries(found.id)]

    async def propose(self, cluster_id: str, back: timedelta, traits: Sequence[Trait], reason: str) -> Intent:
        """Propose to block the values that a cluster's declines share: without `traits`, their client address."""
        look = await self._reading.search(back)
        cluster = next((one for one in look.clusters if one.id == cluster_id), None)
        if cluster is None:
            raise NotFound(f"There is no cluster {cluster_id} among these charges: --since looks further back.")
        wanted = [BlocklistValue(trait, _only(cluster, trait)) for trait in traits or ("address",)]
        return await self.block(wanted, reason, {"cluster": _evidence(cluster)})

    async def unblock(self, wanted: Sequence[BlocklistValue], reason: str) -> Intent:
        """Propose that these be removed; raise `Invalid` when one is not there."""
        entries: list[ListedEntry] = []
        for one in normalised(wanted):
            found = await blocklist(self._reads, one.blocklist)
            listed = await entries_with(self._reads, found.id, one.value)
            if not listed:
                raise Invalid(f"That {NAMES[one.trait]} is not in {found.alias}.")
            await self._refuse_twice(UNBLOCK, one)
            entries += [
                ListedEntry(list=found.alias, list_id=found.id, value=entry.value, entry_id=entry.id)
                for entry in listed[:MOST_AT_ONCE]
            ]
        if len(entries) > MOST_AT_ONCE:
            raise Invalid("One of them is there in several spellings: name one at a time.")
        return await self._intent(UNBLOCK, "Unblock", normalised(wanted), entries, reason, {"listed": True})

    async def block(
        self, wanted: Sequence[BlocklistValue], reason: str, evidence: Mapping[str, JsonValue] = NO_EVIDENCE
    ) -> Intent:
        """Propose to add these values; raise `Invalid` with the reason against it."""
        entries: list[ListedEntry] = []
        for one in checked(wanted, self._own):
            found = await blocklist(self._reads, one.blocklist)
            if await entries_with(self._reads, found.id, one.value):
                raise Invalid(f"That {NAMES[one.trait]} is in {found.alias} already.")
            await self._refuse_twice(BLOCK, one)
            entries.append(ListedEntry(list=found.alias, list_id=found.id, value=one.value))
        return await self._intent(
            BLOCK, "Block", normalised(wanted), entries, reason, {"listed": False, **evidence}
        )

    async def _refuse_twice(self, operation: str, wanted: BlocklistValue) -> None:
        for proposal in await self._approvals.proposals():
            intent = proposal.intent
            if intent.operation != operation or not _is_pending(proposal):
                continue
            if any(_is_for(entry, wanted) for entry in body_of(intent).entries):
                raise Invalid(
                    f"That {NAMES[wanted.trait]} waits in intent {intent.id} already: sign, withdraw or settle it."
                )

    async def _intent(
        self,
        operation: str,
        verb: str,
        wanted: Sequence[BlocklistValue],
        entries: Sequence[ListedEntry],
        reason: str,
        before: Mapping[str, JsonValue],
    ) -> Intent:
        body = EntriesBody(entries=tuple(entries))
        named = " and ".join(f"{NAMES[one.trait]} {one.value}" for one in wanted)
        draft = IntentDraft(
            operation=operation,
            target=" and ".join(body.lists),
            body=body.model_dump(mode="json", exclude_none=True),
            summary=f"{verb} {named}",
            reason=reason,
            before=before,
        )
        return await self._approvals.propose(draft)


def _is_pending(proposal: KnownIntent) -> bool:
    """Return whether an intent may still change a list."""
    return proposal.is_intact and not proposal.is_void and proposal.progress.state in PENDING


def _is_for(entry: ListedEntry, wanted: BlocklistValue) -> bool:
    return entry.list == wanted.blocklist.alias and same_value(entry.value, wanted.value)


def _only(cluster: Cluster, trait: Trait) -> str:
    values = cluster.values(trait)
    if len(values) == 1:
        return values[0]
    known = f"{len(values)} different values" if values else "no known value"
    raise Invalid(
        f"The declines of this cluster have {known} for their {NAMES[trait]}: "
        "name what they share, or one or two entries with `orrery fraud block`."
    )


def _evidence(cluster: Cluster) -> dict[str, JsonValue]:
    return {
        "id": cluster.id,
        "shared": NAMES[cluster.trait],
        "declines": len(cluster.declines),
        "first": cluster.first.isoformat(),
        "last": cluster.last.isoformat(),
    }
