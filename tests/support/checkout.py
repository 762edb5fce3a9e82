"""One small shop over a store: the services of checkout, composed for a test, and what they are given."""

import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from orrery.adapters.memory import MemoryStore
from orrery.adapters.stripe.objects import read_event
from orrery.approvals.privacy import intents_source
from orrery.checkout import collections, keys
from orrery.checkout.access.desk import Desk
from orrery.checkout.access.fulfilment import Fulfilment
from orrery.checkout.access.lookup import Lookup
from orrery.checkout.access.notifications import Notifications
from orrery.checkout.access.privacy import BuyerData
from orrery.checkout.access.raw_events import RawEvents
from orrery.checkout.access.reconcile import Reconciliation
from orrery.checkout.access.refunds import Refunds
from orrery.checkout.access.refusals import Refusals
from orrery.checkout.access.rules import one_year_after
from orrery.checkout.access.session_states import SessionStates
from orrery.checkout.access.unknown_sales import UnknownSalesWatch
from orrery.checkout.access.webhook import Webhook
from orrery.checkout.catalogue import Catalogue, Product
from orrery.checkout.records import AccessEnd, AccessRecord, Offer
from orrery.checkout.selling import collections as sold
from orrery.checkout.selling.creation_health import CreationHealth
from orrery.checkout.selling.params import SessionTerms
from orrery.checkout.selling.products import Selling
from orrery.checkout.selling.service import Checkout, Purchase
from orrery.ports.processor import CheckoutSession
from orrery.ports.store import Entry, Put, Store, Write
from orrery.runtime.outbox import Outbox, Row
from orrery.runtime.outbox_privacy import notifications_source
from orrery.runtime.privacy import Privacy
from orrery.runtime.tasks import Tasks
from tests.support.approving import DEPLOYMENT
from tests.support.approving import Desk as ApprovalDesk
from tests.support.clock import START, ManualClock
from tests.support.processor import ScriptedProcessor, ScriptedReads

SIGNING_SECRET = b"whsec_of_the_tests"
INDEX_KEY = b"the tests' own index key"
BUYER = "ann@example.org"
API_VERSION = "2026-08-26.dahlia"

PRODUCT = Product("isc2", "cissp", "CISSP", "price_cissp")
OTHER = Product("isc2", "ccsp", "CCSP", "price_ccsp")
TERMS = SessionTerms(
    "https://shop.example/done?s={CHECKOUT_SESSION_ID}", "https://shop.example/{vendorSlug}/{certCode}"
)


def metadata_of(product: Product) -> dict[str, str]:
    """Return the metadata that a session for `product` carries."""
    return {"productType": "cert", "certCode": product.cert_code, "vendorSlug": product.vendor_slug}


def session(session_id: str = "cs_1", **other: Any) -> CheckoutSession:  # noqa: ANN401  any field of a session
    """Return a paid session for `PRODUCT`, as a webhook reports it, with other fields where given."""
    fields: dict[str, Any] = {
        "status": "complete",
        "payment_status": "paid",
        "created": START,
        "livemode": False,
        "amount_total": 4900,
        "currency": "usd",
        "email": BUYER,
        "payment_intent": f"pi_{session_id}",
        "metadata": metadata_of(PRODUCT),
    }
    return CheckoutSession(session_id, **(fields | other))


def offer(session_id: str = "cs_1", **other: Any) -> Offer:  # noqa: ANN401  any field of an offer
    """Return the offer that `session()` answers, with other fields where given."""
    fields: dict[str, Any] = {
        "product_type": "cert",
        "cert_code": "cissp",
        "vendor_slug": "isc2",
        "price_id": "price_cissp",
        "amount_total": 4900,
        "currency": "usd",
        "client_address": "203.0.113.7",
        "created_at": START,
    }
    return Offer(session_id=session_id, **(fields | other))


def record(session_id: str = "cs_1", **other: Any) -> AccessRecord:  # noqa: ANN401  any field of a record
    """Return an access record for `PRODUCT`, with other fields where given."""
    fields: dict[str, Any] = {
        "product_type": "cert",
        "cert_code": "cissp",
        "vendor_slug": "isc2",
        "email": BUYER,
        "granted_at": START,
        "expires_at": one_year_after(START),
        "amount_total": 4900,
        "currency": "usd",
        "livemode": False,
        "payment_intent": f"pi_{session_id}",
        "event_id": None,
        "granted_by": "webhook",
        "marketing_consent": None,
    }
    return AccessRecord(session_id=session_id, **(fields | other))


def session_json(session_id: str = "cs_1", **other: Any) -> dict[str, Any]:  # noqa: ANN401  any field of the object
    """Return a session as the processor writes it."""
    fields: dict[str, Any] = {
        "id": session_id,
        "object": "checkout.session",
        "status": "complete",
        "payment_status": "paid",
        "created": int(START.timestamp()),
        "livemode": False,
        "amount_total": 4900,
        "currency": "usd",
        "customer_details": {"email": BUYER},
        "payment_intent": f"pi_{session_id}",
        "metadata": metadata_of(PRODUCT),
    }
    return fields | other


def event_body(
    event_id: str,
    completed: dict[str, Any],
    kind: str = "checkout.session.completed",
    **other: Any,  # noqa: ANN401  any field of an event
) -> bytes:
    """Return the body of a webhook."""
    event: dict[str, Any] = {
        "id": event_id,
        "object": "event",
        "type": kind,
        "created": int(START.timestamp()),
        "livemode": False,
        "api_version": "2026-08-26.dahlia",
        "data": {"object": completed},
    }
    return json.dumps(event | other).encode()


def signed(body: bytes, now: datetime, secret: bytes = SIGNING_SECRET) -> str:
    """Return the signature header of a webhook sent now."""
    at = int(now.timestamp())
    return f"t={at},v1={hmac.digest(secret, b'%d.' % at + body, 'sha256').hex()}"


@dataclass(frozen=True)
class Shop:
    """The services of checkout over one store, with a clock and a processor that the test steers."""

    clock: ManualClock = field(default_factory=ManualClock)
    over: Store | None = None
    livemode: bool = False
    terms: SessionTerms | None = TERMS
    products: tuple[Product, ...] = (PRODUCT, OTHER)
    secrets: tuple[bytes, ...] = (SIGNING_SECRET,)
    revoke_on_refund: bool = False

    @cached_property
    def store(self) -> Store:
        """The store."""
        return self.over or MemoryStore(self.clock)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The products on sale."""
        return Catalogue(self.products)

    @cached_property
    def processor(self) -> ScriptedProcessor:
        """The processor."""
        return ScriptedProcessor(self.clock, answers_with={"livemode": self.livemode})

    @cached_property
    def notifications(self) -> Notifications:
        """What is told."""
        return Notifications("The sellers", "https://practise.example/{vendorSlug}/{certCode}", self.catalogue)

    @cached_property
    def fulfilment(self) -> Fulfilment:
        """Sessions become access."""
        return Fulfilment(
            self.store,
            self.clock,
            self.notifications,
            self.raw_events,
            livemode=self.livemode,
            index_key=INDEX_KEY,
        )

    @cached_property
    def raw_events(self) -> RawEvents:
        """Events as they came."""
        return RawEvents(self.store, self.clock, read_event)

    @cached_property
    def refusals(self) -> Refusals:
        """Webhooks that are refused."""
        return Refusals(self.store, self.clock, self.secrets)

    @cached_property
    def webhook(self) -> Webhook:
        """Events come in."""
        return Webhook(self.clock, self.fulfilment, self.raw_events, self.refusals, self.secrets)

    @cached_property
    def selling(self) -> Selling:
        """What is sold."""
        return Selling(
            self.store,
            self.clock,
            self.catalogue,
            self.terms,
            api_version=API_VERSION,
            livemode=self.livemode,
            deployment=DEPLOYMENT,
        )

    @cached_property
    def checkout(self) -> Checkout:
        """Sessions are created."""
        health, states = self.creation_health, self.session_states
        return Checkout(self.store, self.clock, self.processor, self.selling, health, states, Tasks())

    @cached_property
    def creation_health(self) -> CreationHealth:
        """How that goes."""
        return CreationHealth(self.store, self.clock)

    @cached_property
    def reconciliation(self) -> Reconciliation:
        """What was missed is granted."""
        return Reconciliation(
            self.store,
            self.clock,
            self.processor,
            self.fulfilment,
            self.session_states,
            self.refunds,
            self.catalogue,
            self.unknown_sales,
        )

    @cached_property
    def unknown_sales(self) -> UnknownSalesWatch:
        """Sales of another store."""
        access = collections.access_records(self.store, self.clock, INDEX_KEY)
        kept = [collections.offers(self.store, self.clock), access, sold.own_sessions(self.store, self.clock)]
        return UnknownSalesWatch(self.store, self.clock, self.lookup, kept)

    @cached_property
    def refunds(self) -> Refunds:
        """What went back to buyers."""
        revoke = self.desk.revocation if self.revoke_on_refund else None
        reads = ScriptedReads(self.processor)  # pyright: ignore[reportAbstractUsage]  nothing else is asked
        return Refunds(self.store, self.clock, reads, self.lookup, self.notifications, revoke)

    @cached_property
    def session_states(self) -> SessionStates:
        """What became of a session."""
        return SessionStates(self.store, self.clock, self.processor, self.lookup, self.notifications)

    @cached_property
    def lookup(self) -> Lookup:
        """Who asks."""
        return Lookup(self.store, self.clock, self.catalogue, index_key=INDEX_KEY)

    @cached_property
    def desk(self) -> Desk:
        """The owner's changes."""
        return Desk(self.store, self.clock, self.lookup, self.notifications, livemode=True, index_key=INDEX_KEY)

    @cached_property
    def privacy(self) -> Privacy:
        """Export and erasure."""
        intents = intents_source(self.approving.approvals)
        notifications = notifications_source(self.store, self.clock)
        return Privacy(self.store, [notifications, *self.buyer_data.sources(), intents])

    @cached_property
    def buyer_data(self) -> BuyerData:
        """What checkout keeps about buyers."""
        return BuyerData(self.store, self.clock, self.lookup, index_key=INDEX_KEY)

    @cached_property
    def approving(self) -> ApprovalDesk:
        """The owner's word, over the same store."""
        return ApprovalDesk(self.store, self.clock)

    @cached_property
    def outbox(self) -> Outbox:
        """The notifications, of which none is delivered here."""
        return Outbox(self.store, self.clock, {})

    async def offered(self, *session_ids: str, **other: Any) -> None:  # noqa: ANN401  any field of an offer
        """Store the offers of these sessions, as their creation did."""
        for session_id in session_ids:
            await self.store.commit([Put(f"offer:{session_id}", offer(session_id, **other).to_bytes())])

    async def checkout_session(self) -> str:
        """Create a session as a visitor does; return its id."""
        created = await self.checkout.create(Purchase(PRODUCT.key, "203.0.113.7"))
        return created.id

    async def receive(
        self,
        event_id: str,
        completed: dict[str, Any],
        kind: str = "checkout.session.completed",
        **other: Any,  # noqa: ANN401  any field of an event
    ) -> str:
        """Deliver a well-signed event."""
        body = event_body(event_id, completed, kind, **other)
        return await self.webhook.receive(body, signed(body, self.clock.now()))

    async def access(self, session_id: str = "cs_1") -> AccessRecord:
        """Return an access record that must be there."""
        found = await self.lookup.record(session_id)
        assert found is not None
        return found

    async def told(self) -> list[Row]:
        """Return every notification that was enqueued."""
        return [row async for row in self.outbox.rows()]

    async def entries(self, prefix: str = "") -> list[Entry]:
        """Return everything that is stored."""
        return await self.store.scan(prefix, limit=100_000)


def ids(rows: Iterable[Row]) -> list[str]:
    """Return the ids of notifications."""
    return [row.id for row in rows]


def stored_access(record: AccessRecord) -> list[Write]:
    """Return the writes that store an access record as a sale does."""
    store, clock = MemoryStore(ManualClock()), ManualClock()
    writes = collections.access_records(store, clock, INDEX_KEY).writes(record, record.session_id)
    if record.email:
        end_id = keys.buyer_and_product(keys.email_digest(record.email, INDEX_KEY), record.product)
        writes.append(collections.access_ends(store, clock).put(AccessEnd(expires_at=record.expires_at), end_id))
    return writes
