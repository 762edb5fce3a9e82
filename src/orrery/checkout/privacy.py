"""A person's data: what is kept about an address, and its erasure (decisions 8 and 10)."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast

from orrery.checkout import keys
from orrery.checkout.desk import JOURNAL, JournalEntry, checked_reason
from orrery.checkout.lookup import Lookup
from orrery.checkout.raw_events import ERASED_EVENT, KEEP_EVENTS
from orrery.checkout.records import KEEP_OFFERS, AccessRecord, Offer
from orrery.errors import Invalid, NotFound
from orrery.owner import outbox
from orrery.owner.approvals import Approvals, Proposal, kept_reason
from orrery.owner.steps import INTENT
from orrery.owner.stored import read, readable, unreadable
from orrery.ports.clock import Clock
from orrery.ports.store import Check, Committed, Delete, Entry, Put, Store, Unchanged, Write
from orrery.syntax.email_address import normal_email, without_case
from orrery.syntax.lines import is_line

KEEP_ADDRESSES = timedelta(days=30)
"""How long an offer keeps the client address (decision 8)."""

LONGEST_ADDRESS = 1000
"""Characters of an address that is looked for."""

_SOMEBODY = re.compile(r".*[^\s@]@[^\s@]+\.[^\s@]+")


@dataclass(slots=True)
class PersonalData:
    """Everything that the store holds about one address, ready for JSON."""

    access: list[object] = field(default_factory=list[object])
    offers: list[object] = field(default_factory=list[object])
    events: list[object] = field(default_factory=list[object])
    notifications: list[object] = field(default_factory=list[object])
    intents: list[object] = field(default_factory=list[object])


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was there before, and why intents that name the address are kept, by their ids."""

    data: PersonalData
    kept: Mapping[str, str]


class Privacy:
    """Exports and erases what is personal."""

    def __init__(
        self, store: Store, clock: Clock, lookup: Lookup, approvals: Approvals, *, index_key: bytes
    ) -> None:
        self._store = store
        self._clock = clock
        self._lookup = lookup
        self._approvals = approvals
        self._index_key = index_key

    async def export(self, email: str) -> PersonalData:
        """Return all that is kept about `email`; raise `RecordUnreadable` for one of its access records."""
        address, data = normal_email(email), PersonalData()
        for record in await self._records(address):
            data.access.append(record.model_dump(mode="json"))
            if offer := await self._store.get(keys.offer(record.session_id)):
                data.offers.append(_kept(offer))
        async for entry in self._mentions(keys.EVENT, address):
            data.events.append(_kept(entry))
        async for entry in self._mentions(outbox.ROW, address):
            data.notifications.append(_kept(entry))
        data.intents += [_told(proposal) for proposal in await self._proposals(address)]
        data.intents += [_kept(entry) for entry in await self._damaged_intents(address)]
        return data

    async def erase(self, email: str, reason: str) -> Erasure:
        """Erase `email` everywhere; sales stay, without their buyer, and intents of which something may come.

        Access that runs goes on for who holds the session id. Raises `Invalid` for an unusable reason, and the
        store's errors; a repeat finishes what an interrupted erasure left.
        """
        address = normal_email(email)
        checked_reason(reason)
        reason = kept_reason(reason)
        data = await self.export(address)
        # Until nothing is found: what was sold, delivered or changed meanwhile refused its part of the erasure.
        while await self._erase_found(address, reason):
            continue
        return Erasure(data, await self._erase_intents(address, reason))

    async def erase_old_addresses(self) -> int:
        """Remove the client address from offers older than 30 days; return how many (decision 8)."""
        limit, erased = keys.stamp(self._clock.now() - KEEP_ADDRESSES), 0
        while indexed := await self._store.scan(keys.OFFER_ADDRESS, limit=200):
            due = [index for index in indexed if index.key[len(keys.OFFER_ADDRESS) :] <= limit]
            for index in due:
                session_id = index.key.rpartition(":")[2]
                writes, unchanged = await self._without_address(session_id)
                outcome = await self._store.commit([Delete(index.key), *writes], unchanged)
                # What changed meanwhile is found again by the next run.
                erased += isinstance(outcome, Committed)
            if len(due) < len(indexed):
                break
        return erased

    async def _erase_found(self, address: str, reason: str) -> bool:
        """Erase what is found now; return whether there was anything."""
        found = False
        async for entry in self._mentions(keys.EVENT, address):
            found = True
            await self._replace(entry, [Put(entry.key, ERASED_EVENT, KEEP_EVENTS)])
        async for entry in self._mentions(outbox.ROW, address):
            found = True
            await self._replace(entry, outbox.removed(entry))
        for record in await self._records(address):
            found = True
            await self._erase_record(record, reason)
        return found

    async def _erase_intents(self, address: str, reason: str) -> dict[str, str]:
        """Erase the intents that name the address; return why others are kept, by their ids."""
        damaged = await self._damaged_intents(address)
        kept = {entry.key.removeprefix(INTENT): str(unreadable(entry)) for entry in damaged}
        for proposal in await self._proposals(address):
            try:
                await self._approvals.erase(proposal.intent.id, reason)
            except NotFound:  # somebody else has erased it meanwhile
                continue
            except Invalid as error:
                kept[proposal.intent.id] = str(error)
        return kept

    async def _records(self, address: str) -> list[AccessRecord]:
        """Return the access records of an address in every spelling, also one in other capitals beyond ASCII."""
        found = {one.session_id: one for one in await self._lookup.records_of(address)}
        async for entry in self._mentions(keys.ACCESS, address):
            record = read(AccessRecord, entry)
            if without_case(record.email) == without_case(address):
                found[record.session_id] = record
        return list(found.values())

    async def _proposals(self, address: str) -> list[Proposal]:
        mentions = _matcher(address)
        return [one for one in await self._approvals.proposals() if any(map(mentions, _strings(_told(one))))]

    async def _damaged_intents(self, address: str) -> list[Entry]:
        mentions = _matcher(address)
        return [one for one in await self._approvals.unreadable() if any(map(mentions, _strings(_kept(one))))]

    async def _erase_record(self, record: AccessRecord, reason: str) -> None:
        stored = await self._store.get(keys.access(record.session_id))
        if stored is None or readable(AccessRecord, stored) != record:
            return
        digest = keys.email_digest(record.email, self._index_key)
        blank = record.without_unknown_fields().change(email="", marketing_consent=None)
        now = self._clock.now()
        entry = JournalEntry(at=now, action="erase", session_id=record.session_id, reason=reason)
        writes: list[Write] = [
            Put(stored.key, blank.to_bytes()),
            Delete(keys.access_by_email(digest, record.session_id)),
            Delete(keys.access_end(digest, record.product)),
            Put(f"{JOURNAL}{keys.stamp(now)}:{record.session_id}", entry.to_bytes()),
        ]
        blanked, unchanged = await self._without_address(record.session_id)
        await self._replace(stored, [*writes, *blanked], unchanged)

    async def _without_address(self, session_id: str) -> tuple[list[Write], list[Check]]:
        entry = await self._store.get(keys.offer(session_id))
        if entry is None:
            return [], []
        unchanged: list[Check] = [Unchanged(entry.key, entry.version)]
        offer = readable(Offer, entry)
        if offer is None:  # it may hold the address, and counts as lost for whoever reads it
            return [Delete(entry.key)], unchanged
        blank = offer.without_unknown_fields().change(client_address=None)
        return [Put(entry.key, blank.to_bytes(), KEEP_OFFERS)], unchanged

    async def _mentions(self, prefix: str, address: str) -> AsyncIterator[Entry]:
        mentions, after = _matcher(address), None
        while page := await self._store.scan(prefix, after=after, limit=200):
            after = page[-1].key
            for entry in page:
                if any(map(mentions, _strings(_kept(entry)))):
                    yield entry

    async def _replace(self, entry: Entry, writes: list[Write], unchanged: Sequence[Check] = ()) -> None:
        # What changed meanwhile is found again: the erasure looks until there is nothing.
        _ = await self._store.commit(writes, [Unchanged(entry.key, entry.version), *unchanged])


def sought_address(text: str) -> str:
    """Return an address as it is stored; raise `Invalid` for what nobody can be kept under.

    More than can be written to: what a buyer typed on the payment page is kept, whatever it was.
    """
    address = normal_email(text)
    if not is_line(address, LONGEST_ADDRESS) or not _SOMEBODY.fullmatch(address):
        raise Invalid("That is not an e-mail address.")
    return address


def _kept(entry: Entry) -> object:
    """Return what an entry holds, ready for JSON; of one that is damaged, its text."""
    try:
        return json.loads(entry.value)
    except ValueError:
        return entry.value.decode(errors="replace")


def _told(proposal: Proposal) -> Mapping[str, object]:
    """Return what is kept of an intent, and of what became of it, ready for JSON."""
    progress = proposal.progress
    return proposal.intent.model_dump(mode="json") | {
        "progress": progress.model_dump(mode="json") if progress else None
    }


def _matcher(address: str) -> Callable[[str], bool]:
    """Return what tells whether a text names `address`, in any spelling."""
    # As a whole word, so that erasing ann@example.org spares joann@example.org and o'ann@example.org.
    spelled = re.escape(without_case(address))
    whole = re.compile(rf"(?<![\w.!#$%&'*+^`{{|}}~-]){spelled}(?![\w-]|\.\w)")
    return lambda text: whole.search(without_case(text)) is not None


def _strings(value: object) -> Iterator[str]:
    """Yield every text in a JSON value: as such, letters are no longer escaped."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in cast("dict[str, object]", value).items():
            yield name
            yield from _strings(one)
    elif isinstance(value, list):
        for one in cast("list[object]", value):
            yield from _strings(one)
