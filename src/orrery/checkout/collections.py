"""The collections of checkout: which records there are, how they are indexed, and how long they are kept."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from orrery.checkout import keys, records
from orrery.checkout.records import AccessRecord, Offer, PreflightTrial, WithheldSession
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.collection import FOR_EVER, Collection
from orrery.runtime.raw_values import RawValues


class CheckoutRecords:
    """Everything that checkout keeps in one store."""

    def __init__(self, store: Store, clock: Clock, index_key: bytes) -> None:
        self.store, self.clock, self.index_key = store, clock, index_key
        # By session; indexed by their time, and by the buyer while one is known.
        self.access = Collection(store, clock, AccessRecord, keys.ACCESS, self._index_of_access, life=FOR_EVER)
        # The latest ends of access, by buyer and product (`keys.buyer_and_product`).
        self.ends = Collection(store, clock, records.AccessEnd, keys.ACCESS_END, life=FOR_EVER)
        # Which sessions were erased, by `keys.erasure_id`.
        self.erased = Collection(store, clock, records.ErasedSession, keys.ERASED, life=FOR_EVER)
        # The session ids of imported lines, by `keys.line_id`.
        self.imported_lines = RawValues(store, keys.IMPORTED, FOR_EVER)
        # By session; indexed by their time while they have a client address.
        self.offers = Collection(store, clock, Offer, keys.OFFER, _index_of_offers, life=records.KEEP_OFFERS)
        # The completed sessions without access: those that wait are kept until decided (decision 49).
        self.pending = Collection(store, clock, WithheldSession, keys.PENDING, life=_life_of_pending)
        # What went back to buyers, by payment.
        self.reversals = Collection(
            store,
            clock,
            records.Reversal,
            keys.REVERSAL,
            life=lambda one: None if one.session_id else records.KEEP_FOREIGN,
        )
        # The bodies of events, by event.
        self.events = RawValues(store, keys.EVENT, records.KEEP_EVENTS)
        # By event.
        self.unreadable_events = Collection(
            store, clock, records.UnreadableEvent, keys.UNREADABLE_EVENT, life=records.KEEP_EVENTS
        )
        # The owner's own changes, by their time.
        self.journal = Collection(store, clock, records.JournalEntry, keys.JOURNAL, life=FOR_EVER)
        self.refused_webhooks = Collection(
            store, clock, records.RefusedWebhooks, keys.REFUSED_WEBHOOKS, life=FOR_EVER
        )
        self.reconciled = Collection(store, clock, records.LastReconciliation, keys.RECONCILED, life=FOR_EVER)
        self.unknown_sales = Collection(store, clock, records.UnknownSales, keys.UNKNOWN_SALES, life=FOR_EVER)
        # The visitors' idempotency keys, by the digest of their scope.
        self.attempts = Collection(store, clock, records.Attempt, keys.ATTEMPT, life=records.KEEP_ATTEMPTS)
        # The last receipts, by `keys.product_id`.
        self.receipts = Collection(store, clock, records.Receipt, keys.RECEIPT, life=FOR_EVER)
        # The trials of preflights, by run and product; a trial is indexed while it needs attention.
        self.trials = Collection(store, clock, PreflightTrial, keys.TRIAL, life=records.KEEP_TRIALS)
        # The sessions that preflights and verifications created.
        self.own_sessions = Collection(
            store, clock, records.OwnSession, keys.OWN_SESSION, life=records.KEEP_TRIALS
        )
        # The result of the last check for drift.
        self.drift = Collection(store, clock, records.DriftResult, keys.DRIFT, derived=True, life=FOR_EVER)

    def kept(self) -> list[Collection[Any]]:
        """Return every collection whose records Orrery cannot make again."""
        return [one for one in vars(self).values() if isinstance(one, Collection) and not one.derived]

    def _index_of_access(self, record: AccessRecord) -> Iterable[str]:
        yield keys.access_by_time(record.granted_at, record.session_id)
        if record.email:
            yield keys.access_by_email(keys.email_digest(record.email, self.index_key), record.session_id)


def _index_of_offers(offer: Offer) -> Iterable[str]:
    if offer.client_address is not None:
        yield keys.offer_address(offer.created_at, offer.session_id)


def _life_of_pending(pending: WithheldSession) -> timedelta | None:
    if pending.failed_at:
        # As long as the offer: of that alone the processor would say that the session is completed.
        return records.KEEP_OFFERS
    return records.KEEP_REFUSED if pending.state == "refused" else None
