"""What checkout keeps in its store: under which keys, how it is indexed, and for how long."""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from orrery.checkout import records
from orrery.checkout.browser_records import AccessGeneration, browsers_of, generation_of
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.limit_records import limits_of
from orrery.checkout.number_records import known_numbers_of, last_numbers_of, numbers_unknown_of
from orrery.checkout.outage_records import creation_outage_of, proxy_of
from orrery.checkout.records import AccessRecord, Offer, PreflightTrial, WithheldSession
from orrery.checkout.site_records import checked_sites_of
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.collection import FOR_EVER, Changes, Collection, sortable
from orrery.runtime.raw_values import RawValues
from orrery.runtime.references import References
from orrery.syntax.email_address import normal_email, without_case

ACCESS_BY_TIME = "access-by-time:"
OFFER_ADDRESS = "offer-address:"
BY_REFERENCE, BY_NUMBER = "access-by-reference:", "access-by-number:"
UNNUMBERED = "access-unnumbered:"
TRIAL_LEFT = "preflight-left:"


class CheckoutRecords:
    """Everything that checkout keeps in one store. A person is named in no key, but by a keyed digest.

    `store_time` returns the store's time. It is the clock's until another is known.
    """

    def __init__(self, store: Store, clock: Clock, index_key: bytes) -> None:
        self.store, self.clock, self.index_key, self.store_time = store, clock, index_key, clock.now
        self.references = References.of_store(index_key)
        # By session; indexed by their time, reference and number, and by the buyer while one is known.
        self.access = Collection(store, clock, AccessRecord, "access:", self._index_of_access, life=FOR_EVER)
        # The latest ends of access, by `end_id`.
        self.ends = Collection(store, clock, records.AccessEnd, "access-end:", life=FOR_EVER)
        # The last numbers of series; those that a restore took over, by session; and whether one could not.
        self.last_numbers, self.known_numbers = last_numbers_of(store, clock), known_numbers_of(store, clock)
        self.numbers_unknown = numbers_unknown_of(store, clock)
        self.browsers, self.generation = browsers_of(store, clock), generation_of(store, clock)
        # Which sessions were erased, by `erasure_id`.
        self.erased = Collection(store, clock, records.ErasedSession, "erased-session:", life=FOR_EVER)
        # The session ids of imported lines, by `line_id`.
        self.imported_lines = RawValues(store, "imported:", FOR_EVER)
        # By session; indexed by their time while they have a client address.
        self.offers = Collection(store, clock, Offer, "offer:", _index_of_offers, life=records.KEEP_OFFERS)
        # The completed sessions without access: those that wait are kept until decided (decision 49).
        self.pending = Collection(store, clock, WithheldSession, "pending:", life=_life_of_pending)
        # What went back to buyers, by payment.
        self.reversals = Collection(store, clock, records.Reversal, "taken-back:", life=_life_of_reversal)
        # The bodies of events, by event.
        self.events = RawValues(store, "event:", records.KEEP_EVENTS)
        # By event.
        self.unreadable_events = Collection(
            store, clock, records.UnreadableEvent, "unreadable-event:", life=records.KEEP_EVENTS
        )
        # The owner's own changes, by their time.
        self.journal = Collection(store, clock, records.JournalEntry, "journal:", life=FOR_EVER)
        self.refused_webhooks = Collection(
            store, clock, records.RefusedWebhooks, "refused-webhooks", life=FOR_EVER
        )
        self.refused_on = RawValues(store, "refused-webhooks-on:", timedelta(days=1))
        self.reconciled = Collection(store, clock, records.LastReconciliation, "reconciled", life=FOR_EVER)
        self.unknown_sales = Collection(store, clock, records.UnknownSales, "unknown-sales", life=FOR_EVER)
        self.started, self.links_asked = limits_of(store, clock)
        # The visitors' idempotency keys, by the digest of their scope.
        self.attempts = Collection(store, clock, records.Attempt, "attempt:", life=records.KEEP_ATTEMPTS)
        # The last receipts, by product.
        self.receipts = Collection(store, clock, records.Receipt, "receipt:", life=FOR_EVER)
        # The trials of preflights, by `trial_id`; a trial is indexed while it needs attention.
        self.trials = Collection(store, clock, PreflightTrial, "preflight:", life=records.KEEP_TRIALS)
        # The sessions that preflights and verifications created.
        self.own_sessions = Collection(store, clock, records.OwnSession, "own-session:", life=records.KEEP_TRIALS)
        # The keys of verifications that came to no end, by product.
        self.verifying = RawValues(store, "verifying:", records.KEEP_ATTEMPTS)
        self.creation_outage, self.proxy = creation_outage_of(store, clock), proxy_of(store, clock)
        # The result of the last check for drift.
        self.drift = Collection(store, clock, records.DriftResult, "checkout-drift", derived=True, life=FOR_EVER)
        self.checked_sites = checked_sites_of(store, clock)

    def times(self) -> tuple[datetime, datetime]:
        """Return the time by this machine's clock, and by the store's."""
        return self.clock.now(), self.store_time()

    def kept(self) -> list[Collection[Any]]:
        """Return every collection whose records Orrery cannot make again.

        A damaged note of a trouble is replaced by the next one.
        """
        return [
            one
            for name, one in vars(self).items()
            if isinstance(one, Collection) and not one.derived and name not in {"creation_outage", "proxy"}
        ]

    def taken_back(self) -> Changes:
        """Return what every commit has that takes access back: each node forgets within a second what is open."""
        return Changes([self.generation.put(AccessGeneration(changed_at=self.clock.now()))])

    def end_id(self, record: AccessRecord) -> str:
        """Return the id of the latest end of access of the record's buyer to its product."""
        return self.end_ids(record.email, record.product)[0]

    def end_ids(self, email: str, product: ProductKey) -> list[str]:
        """Return the same by each of the buyer's digests."""
        named = f"{product.product_type}:{product.id}"
        return [f"{digest}:{named}" for digest in _digests_of(self.index_key, email)]

    def of_buyer(self, email: str) -> list[str]:
        """Return the prefixes under which one buyer's access records are indexed."""
        return [f"access-by-email:{digest}:" for digest in _digests_of(self.index_key, email)]

    def erasure_id(self, session_id: str) -> str:
        """Return the id of the note that a session's buyer was erased; it does not contain the session id."""
        return _digest(self.index_key, f"erased {session_id}")

    def line_id(self, former_id: str) -> str:
        """Return the id by which a repeated import finds the record of a line.

        It is computed from the former id, so that an old record is found although its address was changed or
        erased.
        """
        return _digest(self.index_key, f"imported {former_id}")

    def _index_of_access(self, record: AccessRecord) -> Iterable[str]:
        yield f"{ACCESS_BY_TIME}{sortable(record.granted_at)}:{record.session_id}"
        yield f"{BY_REFERENCE}{self.references.of(record.session_id)}"
        if record.sale_number:
            yield f"{BY_NUMBER}{record.sale_number}"
        elif record.sale_series:
            yield f"{UNNUMBERED}{sortable(record.granted_at)}:{record.session_id}"
        if record.email:
            yield f"{self.of_buyer(record.email)[0]}{record.session_id}"


@lru_cache(maxsize=1)  # one commit asks twice for its buyer's
def _digests_of(index_key: bytes, email: str) -> Sequence[str]:
    """Return the digests under which a buyer may be indexed (decision 10): today's comes first.

    Earlier releases stored every letter in lower case, those beyond ASCII too (docs/decisions/0027).
    """
    address = normal_email(email)
    return [_digest(index_key, one) for one in dict.fromkeys((address, without_case(address)))]


def _digest(index_key: bytes, text: str) -> str:
    return hmac.new(index_key, text.encode(), hashlib.sha256).hexdigest()


def _index_of_offers(offer: Offer) -> Iterable[str]:
    if offer.client_address is not None:
        yield f"{OFFER_ADDRESS}{sortable(offer.created_at)}:{offer.session_id}"


def _life_of_reversal(reversal: records.Reversal) -> timedelta | None:
    return FOR_EVER if reversal.session_id else records.KEEP_FOREIGN


def _life_of_pending(pending: WithheldSession) -> timedelta | None:
    if pending.failed_at:
        # As long as the offer: of that alone the processor would say that the session is completed.
        return records.KEEP_OFFERS
    return records.KEEP_REFUSED if pending.state == "refused" else None


def former_import_id(email: str, product: ProductKey, expires_at: datetime) -> str:
    """Return the session id of an imported line in earlier releases, which computed it from the line."""
    line = f"{email}\n{product.vendor_slug}\n{product.cert_code}\n{expires_at.isoformat()}"
    return f"import_{hashlib.sha256(line.encode()).hexdigest()[:24]}"


def trial_id(run_id: str, product: ProductKey) -> str:
    """Return the id of a preflight's trial of one product."""
    return f"{run_id}:{product.id}"
