"""What the outbox keeps about people, and how it is removed or reworded."""

from collections.abc import AsyncIterator, Callable
from datetime import datetime

from orrery.ports.clock import Clock
from orrery.ports.store import MINIMUM_TTL, Delete, Store, StoreEntry, Unchanged, Write
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, Walk, parse
from orrery.runtime.outbox_lanes import former_key
from orrery.runtime.privacy import ErasureRequest, ErasureRound, PersonalDataSource, commit_erasure, stored_json
from orrery.runtime.search_terms import SearchTerms


def notifications_source(store: Store, clock: Clock) -> PersonalDataSource:
    """Return the notifications to a person; a push to the owner names a session and no person."""

    async def find(terms: SearchTerms) -> list[object]:
        return [stored_json(entry) async for entry in _notifications(store, clock, terms)]

    async def erase(request: ErasureRequest) -> ErasureRound:
        found = False
        async for entry in _notifications(store, clock, request.terms):
            found = True
            gone = Changes(removed(entry), [Unchanged(entry.key, entry.version)])
            await commit_erasure(store, gone)
        return ErasureRound(found)

    return PersonalDataSource("notifications", 40, find, erase, prefixes=(outbox.ROW,))


async def _notifications(store: Store, clock: Clock, terms: SearchTerms) -> AsyncIterator[StoreEntry]:
    async for entry in Walk(outbox.ROW).entries(store, clock):
        if terms.named_in(entry.value) and (is_email(entry) or terms.addressed_in(entry.value)):
            yield entry


def is_email(entry: StoreEntry) -> bool:
    """Return whether an entry is an e-mail; one that cannot be read counts as none."""
    row = parse(outbox.Notification, entry.value)
    return row is not None and row.channel == "email"


def removed(entry: StoreEntry) -> list[Write]:
    """Return the writes that remove a stored notification in any state, with its index.

    The index of an unreadable one is not known; it is removed when the outbox next follows it.
    """
    row = parse(outbox.Notification, entry.value)
    index = outbox.index_of(row) if row else [f"{outbox.UNREADABLE}{entry.key.removeprefix(outbox.ROW)}"]
    return [Delete(key) for key in (entry.key, *index)]


def reworded(entry: StoreEntry, change: Callable[[str], str], now: datetime) -> list[Write]:
    """Return the writes that change the id and the texts of a notification; none for one that cannot be read."""
    row = parse(outbox.Notification, entry.value)
    if row is None:
        return []
    changed = row.change(id=change(row.id), title=change(row.title), body=change(row.body))
    writes = outbox.stored(changed, max(entry.expires_at - now, MINIMUM_TTL) if entry.expires_at else None)
    written = {write.key for write in writes}
    keys = entry.key, former_key(row.due_at, row.id), *outbox.index_of(row)
    return [*(Delete(key) for key in keys if key not in written), *writes]
