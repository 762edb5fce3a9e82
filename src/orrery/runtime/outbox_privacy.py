"""What the outbox keeps about people."""

from collections.abc import AsyncIterator

from orrery.ports.clock import Clock
from orrery.ports.store import Entry, Store, Unchanged
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, Walk
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
            removed = Changes(outbox.removed(entry), [Unchanged(entry.key, entry.version)])
            await commit_erasure(store, removed)
        return ErasureRound(found)

    return PersonalDataSource("notifications", 40, find, erase)


async def _notifications(store: Store, clock: Clock, terms: SearchTerms) -> AsyncIterator[Entry]:
    async for entry in Walk(outbox.ROW).entries(store, clock):
        if terms.addressed_in(entry.value) or (outbox.is_email(entry) and terms.named_in(entry.value)):
            yield entry
