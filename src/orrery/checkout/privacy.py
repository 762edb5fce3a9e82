"""A person's data: what is kept about an address, and its erasure (decisions 8 and 10)."""

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from orrery.checkout import keys
from orrery.checkout.desk import JOURNAL, JournalEntry, checked_reason
from orrery.checkout.fulfilment import stored_access
from orrery.checkout.lookup import Lookup
from orrery.checkout.mentions import Sought
from orrery.checkout.raw_events import ERASED_EVENT, KEEP_EVENTS
from orrery.checkout.records import (
    KEEP_OFFERS,
    AccessRecord,
    ErasedSession,
    Offer,
    Pending,
    TakenBack,
    UnreadableEvent,
)
from orrery.errors import Invalid, NotFound, RecordUnreadable
from orrery.owner import outbox
from orrery.owner.approvals import Approvals, Proposal, kept_reason
from orrery.owner.commits import write
from orrery.owner.steps import INTENT
from orrery.owner.stored import read, readable, unreadable
from orrery.ports.clock import Clock
from orrery.ports.store import MINIMUM_TTL, Check, Committed, Delete, Entry, Put, Store, Unchanged, Write
from orrery.record import Record
from orrery.syntax.email_address import normal_email
from orrery.syntax.lines import is_line

KEEP_ADDRESSES = timedelta(days=30)
"""How long an offer keeps the client address (decision 8)."""

LONGEST_ADDRESS = 1000
"""Characters of an address that is looked for."""

_OTHERS: tuple[tuple[type[Record], str], ...] = (
    (AccessRecord, keys.ACCESS),
    (Offer, keys.OFFER),
    (Pending, keys.PENDING),
    (TakenBack, keys.TAKEN_BACK),
    (UnreadableEvent, keys.UNREADABLE_EVENT),
)
"""What may name a person besides what is theirs, by where it is kept."""

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
    """What was there before, and why intents that name the address are kept, by their ids.

    `former` are the former addresses that went with it. `is_scrubbed`: nothing of it lingers in the store's log.
    """

    data: PersonalData
    kept: Mapping[str, str]
    former: tuple[str, ...] = ()
    is_scrubbed: bool = True


@dataclass(frozen=True, slots=True)
class ErasedBefore:
    """An erasure in the store that a restore replaces: its journal entry, and what is left of the record."""

    session_id: str
    reason: str
    journal: Put
    record: AccessRecord | None


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
        return await self._exported(await self._sought(normal_email(email)))

    async def erase(self, email: str, reason: str) -> Erasure:
        """Erase `email` everywhere; sales stay, without their buyer, and intents of which something may come.

        The former addresses of its records are erased too, unless another record has one of them now. Access that
        runs stays open by its session id. Raises `Invalid` for an unusable reason, and the store's errors; a
        repeat completes an interrupted erasure.
        """
        address = normal_email(email)
        checked_reason(reason)
        reason = kept_reason(reason)
        sought = await self._sought(address)
        data = await self._exported(sought)
        # The records go last: until then a repeat learns from them which the former addresses were.
        kept = await self._erase_intents(sought, reason)
        # Until nothing is found: a sale, delivery or change meanwhile made its part of the erasure conflict.
        while await self._erase_found(sought, address, reason):
            sought |= await self._sought(address)
        former = sorted(sought.addresses - {address})
        return Erasure(data, kept, tuple(former), is_scrubbed=await self._store.scrub())

    async def erase_again(self, done: Sequence[ErasedBefore]) -> tuple[int, list[RecordUnreadable]]:
        """Repeat in a restored store the erasures that were `done` in the previous one.

        Returns how many sessions were erased, and why others were not. A record that the snapshot does not contain
        is copied without its buyer, so that its session id keeps the access.
        """
        again, left_out = 0, list[RecordUnreadable]()
        for one in done:
            if await self._store.get(keys.erased(one.session_id, self._index_key)):
                continue
            try:
                record = await self._lookup.record(one.session_id)
                if record and record.email:
                    _ = await self.erase(record.email, one.reason)
            except RecordUnreadable as error:
                left_out.append(error)
                continue
            blank = [] if record or one.record is None else stored_access(one.record, self._index_key)
            await write(self._store, [one.journal, self._tombstone(one.session_id), *blank])
            again += 1
        return again, left_out

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
        if erased:
            _ = await self._store.scrub()
        return erased

    async def _sought(self, address: str) -> Sought:
        records, former = await self._records(address), set[str]()
        for one in {former for record in records for former in record.former_emails}:
            if not await self._lookup.found_of(one):
                former.add(one)
        return Sought(frozenset({address} | former), frozenset(record.session_id for record in records))

    async def _exported(self, sought: Sought) -> PersonalData:
        data = PersonalData()
        async for record in self._held_by(sought):
            data.access.append(record.model_dump(mode="json"))
            if offer := await self._store.get(keys.offer(record.session_id)):
                data.offers.append(_kept(offer))
        async for entry in self._events(sought):
            data.events.append(_kept(entry))
        async for entry in self._letters(sought):
            data.notifications.append(_kept(entry))
        data.intents += [_told(proposal) for proposal in await self._proposals(sought)]
        data.intents += [_kept(entry) for entry in await self._damaged_intents(sought)]
        return data

    async def _erase_found(self, sought: Sought, address: str, reason: str) -> bool:
        """Erase what is found now; return whether there was anything."""
        found = False
        async for entry in self._events(sought):
            found = True
            note = Delete(keys.unreadable_event(entry.key.removeprefix(keys.EVENT)))
            await self._replace(entry, [Put(entry.key, ERASED_EVENT, KEEP_EVENTS), note])
        async for entry in self._letters(sought):
            found = True
            await self._replace(entry, outbox.removed(entry))
        for record in await self._records(address):
            found = True
            await self._erase_record(record, reason)
        for kind, prefix in _OTHERS:
            async for entry in self._scanned(prefix):
                left = _without(sought, kind, entry, self._clock.now())
                if left is not None:
                    found = True
                    await self._replace(entry, [left])
        return found

    async def _erase_intents(self, sought: Sought, reason: str) -> dict[str, str]:
        """Erase the intents that name the person; return why others are kept, by their ids."""
        damaged = await self._damaged_intents(sought)
        kept = {entry.key.removeprefix(INTENT): str(unreadable(entry)) for entry in damaged}
        for proposal in await self._proposals(sought):
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
        async for record in self._held_by(Sought(frozenset({address}))):
            found[record.session_id] = record
        return list(found.values())

    async def _held_by(self, sought: Sought) -> AsyncIterator[AccessRecord]:
        async for entry in self._scanned(keys.ACCESS):
            if sought.addressed_in(entry.value) and sought.is_address((record := read(AccessRecord, entry)).email):
                yield record

    async def _events(self, sought: Sought) -> AsyncIterator[Entry]:
        async for entry in self._scanned(keys.EVENT):
            if sought.named_in(entry.value):
                yield entry

    async def _letters(self, sought: Sought) -> AsyncIterator[Entry]:
        """Yield what is written to the person; a push to the owner names a session and nobody."""
        async for entry in self._scanned(outbox.ROW):
            if sought.addressed_in(entry.value) or (outbox.is_email(entry) and sought.named_in(entry.value)):
                yield entry

    async def _proposals(self, sought: Sought) -> list[Proposal]:
        proposals = await self._approvals.proposals()
        return [one for one in proposals if sought.addressed_in(json.dumps(_told(one)).encode())]

    async def _damaged_intents(self, sought: Sought) -> list[Entry]:
        return [one for one in await self._approvals.unreadable() if sought.addressed_in(one.value)]

    async def _erase_record(self, record: AccessRecord, reason: str) -> None:
        entry = await self._store.get(keys.access(record.session_id))
        if entry is None or readable(AccessRecord, entry) != record:
            return
        digest = keys.email_digest(record.email, self._index_key)
        blank = record.without_unknown_fields().change(email="", former_emails=(), marketing_consent=None)
        now = self._clock.now()
        journal = JournalEntry(at=now, action="erase", session_id=record.session_id, reason=reason)
        writes: list[Write] = [
            Put(entry.key, blank.to_bytes()),
            Delete(keys.access_by_email(digest, record.session_id)),
            Delete(keys.access_end(digest, record.product)),
            Put(f"{JOURNAL}{keys.stamp(now)}:{record.session_id}", journal.to_bytes()),
            self._tombstone(record.session_id),
        ]
        blanked, unchanged = await self._without_address(record.session_id)
        await self._replace(entry, [*writes, *blanked], unchanged)

    def _tombstone(self, session_id: str) -> Put:
        erased = ErasedSession(erased_at=self._clock.now())
        return Put(keys.erased(session_id, self._index_key), erased.to_bytes())

    async def _without_address(self, session_id: str) -> tuple[list[Write], list[Check]]:
        entry = await self._store.get(keys.offer(session_id))
        if entry is None:
            return [], []
        unchanged: list[Check] = [Unchanged(entry.key, entry.version)]
        offer = readable(Offer, entry)
        if offer is None:  # it may contain the address, and every reader treats it as missing
            return [Delete(entry.key)], unchanged
        blank = offer.without_unknown_fields().change(client_address=None)
        return [Put(entry.key, blank.to_bytes(), KEEP_OFFERS)], unchanged

    async def _scanned(self, prefix: str) -> AsyncIterator[Entry]:
        after = None
        while page := await self._store.scan(prefix, after=after, limit=200):
            after = page[-1].key
            for entry in page:
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
    except (ValueError, RecursionError):
        return entry.value.decode(errors="replace")


def _told(proposal: Proposal) -> Mapping[str, object]:
    """Return what is kept of an intent, and of what became of it, ready for JSON."""
    progress = proposal.progress
    return proposal.intent.model_dump(mode="json") | {
        "progress": progress.model_dump(mode="json") if progress else None
    }


def _without(sought: Sought, kind: type[Record], entry: Entry, now: datetime) -> Write | None:
    """Return what takes the person out of a record that others need; None where it names nobody.

    The address is a former one, or stands in a field that this release does not know. A record that names it
    still, or cannot be read, goes; of an access record, which is the proof of a sale, only the address does.
    """
    if not sought.addressed_in(entry.value):
        return None
    record = readable(kind, entry)
    left = record.without_unknown_fields() if record else None
    if isinstance(left, AccessRecord):
        left = left.change(former_emails=tuple(one for one in left.former_emails if not sought.is_address(one)))
        return Put(entry.key, left.to_bytes()) if left != record else None
    if left is None or sought.addressed_in(left.to_bytes()):
        return Delete(entry.key)
    return Put(entry.key, left.to_bytes(), max(entry.expires_at - now, MINIMUM_TTL) if entry.expires_at else None)


async def erased_before(store: Store) -> list[ErasedBefore]:
    """Return the erasures that a store tells of, the oldest first."""
    found: list[ErasedBefore] = []
    after = None
    while page := await store.scan(JOURNAL, after=after):
        after = page[-1].key
        for entry in page:
            told = readable(JournalEntry, entry)
            if told and told.action == "erase":
                record = readable(AccessRecord, await store.get(keys.access(told.session_id)))
                blank = record if record and not record.email else None
                journal = Put(entry.key, entry.value)
                found.append(ErasedBefore(told.session_id, told.reason, journal, blank))
    return found
