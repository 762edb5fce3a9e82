"""The collections of checkout: which records there are, how they are indexed, and how long they are kept."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from orrery.checkout import keys
from orrery.checkout.records import (
    KEEP_EVENTS,
    KEEP_FOREIGN,
    KEEP_OFFERS,
    KEEP_REFUSED,
    AccessEnd,
    AccessRecord,
    ErasedSession,
    JournalEntry,
    LastReconciliation,
    Offer,
    Pending,
    RefusedWebhooks,
    Reversal,
    UnknownSales,
    UnreadableEvent,
)
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.collection import Collection
from orrery.runtime.raw_values import RawValues


def kept(store: Store, clock: Clock, index_key: bytes) -> list[Collection[Any]]:
    """Return every collection of this module whose records are not made anew by themselves."""
    return [
        access_records(store, clock, index_key),
        *(
            one(store, clock)
            for one in (
                access_ends,
                erased_sessions,
                offers,
                pending_sessions,
                reversals,
                unreadable_events,
                journal,
                refused_webhooks,
                reconciled,
                unknown_sales,
            )
        ),
    ]


def access_records(store: Store, clock: Clock, index_key: bytes) -> Collection[AccessRecord]:
    """Return the access records, by session; indexed by their time, and by the buyer while one is known."""

    def index(record: AccessRecord) -> Iterable[str]:
        yield keys.access_by_time(record.granted_at, record.session_id)
        if record.email:
            yield keys.access_by_email(keys.email_digest(record.email, index_key), record.session_id)

    return Collection(store, clock, AccessRecord, keys.ACCESS, index)


def access_ends(store: Store, clock: Clock) -> Collection[AccessEnd]:
    """Return the latest ends of access, by buyer and product (`keys.buyer_and_product`)."""
    return Collection(store, clock, AccessEnd, keys.ACCESS_END)


def erased_sessions(store: Store, clock: Clock) -> Collection[ErasedSession]:
    """Return which sessions were erased, by `keys.erasure_id`."""
    return Collection(store, clock, ErasedSession, keys.ERASED)


def imported_lines(store: Store) -> RawValues:
    """Return the session ids of imported lines, by `keys.line_id`."""
    return RawValues(store, keys.IMPORTED)


def offers(store: Store, clock: Clock) -> Collection[Offer]:
    """Return the offers, by session: indexed by their time while they have a client address."""

    def index(offer: Offer) -> Iterable[str]:
        if offer.client_address is not None:
            yield keys.offer_address(offer.created_at, offer.session_id)

    return Collection(store, clock, Offer, keys.OFFER, index, life=lambda _: KEEP_OFFERS)


def pending_sessions(store: Store, clock: Clock) -> Collection[Pending]:
    """Return the completed sessions without access: those that wait are kept until decided (decision 49)."""

    def life(pending: Pending) -> timedelta | None:
        if pending.failed_at:
            # As long as the offer: of that alone the processor would say that the session is completed.
            return KEEP_OFFERS
        return KEEP_REFUSED if pending.state == "refused" else None

    return Collection(store, clock, Pending, keys.PENDING, life=life)


def reversals(store: Store, clock: Clock) -> Collection[Reversal]:
    """Return what went back to buyers, by payment."""
    return Collection(
        store, clock, Reversal, keys.REVERSAL, life=lambda one: None if one.session_id else KEEP_FOREIGN
    )


def unreadable_events(store: Store, clock: Clock) -> Collection[UnreadableEvent]:
    """Return the notes of events that could not be read, by event."""
    return Collection(store, clock, UnreadableEvent, keys.UNREADABLE_EVENT, life=lambda _: KEEP_EVENTS)


def journal(store: Store, clock: Clock) -> Collection[JournalEntry]:
    """Return the owner's own changes, by their time."""
    return Collection(store, clock, JournalEntry, keys.JOURNAL)


def refused_webhooks(store: Store, clock: Clock) -> Collection[RefusedWebhooks]:
    """Return since when webhooks are refused."""
    return Collection(store, clock, RefusedWebhooks, keys.REFUSED_WEBHOOKS)


def reconciled(store: Store, clock: Clock) -> Collection[LastReconciliation]:
    """Return the last reconciliation."""
    return Collection(store, clock, LastReconciliation, keys.RECONCILED)


def unknown_sales(store: Store, clock: Clock) -> Collection[UnknownSales]:
    """Return the note of sales that this store does not know."""
    return Collection(store, clock, UnknownSales, keys.UNKNOWN_SALES)
