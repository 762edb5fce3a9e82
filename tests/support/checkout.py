"""One small shop over a store: the services of checkout, composed for a test, and what they are given."""

import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from functools import cached_property
from typing import Any, cast

from orrery.adapters.memory import MemoryStore
from orrery.adapters.stripe.objects import read_event
from orrery.approvals.privacy import intents_source
from orrery.checkout.access.imports import ImportedAccess
from orrery.checkout.access.rules import one_year_after
from orrery.checkout.build import CheckoutDomain
from orrery.checkout.catalogue import Product, SessionTerms
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import COMPLETED, AccessEnd, AccessRecord, Offer
from orrery.checkout.selling.service import Purchase
from orrery.checkout.settings import CheckoutPlan, CheckoutSettings, ProductSettings
from orrery.checkout.sites import Site
from orrery.ports.processor import CheckoutSession, EventSummary, Processor, ProcessorReads, ProcessorWrites
from orrery.ports.store import Put, Store, StoreEntry, Write
from orrery.ports.web_sites import SiteAnswer, SiteNotReached, SiteRequest
from orrery.runtime.outbox import Notification, Outbox
from orrery.runtime.outbox_privacy import notifications_source
from orrery.runtime.privacy import Privacy
from orrery.runtime.tasks import Tasks
from tests.support.approving import DEPLOYMENT
from tests.support.approving import Desk as ApprovalDesk
from tests.support.clock import START, ManualClock
from tests.support.processor import ScriptedProcessor

SIGNING_SECRET = b"whsec_of_the_tests"
INDEX_KEY = b"the tests' own index key"
BUYER = "ann@example.org"
TOKEN = "the practice site's token"  # noqa: S105  a token of the tests
STARTS, READS = 3, 5
"""How many sessions an address may start in a minute here, and how often it may ask what became of one."""
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


class NoSites:
    """Sites of which none can be reached."""

    async def ask(self, origin: str, request: SiteRequest) -> SiteAnswer:
        raise SiteNotReached(f"{origin} has no answer to {request.path}.")


class Shop(CheckoutDomain):
    """The checkout over one store, with a clock and a processor that the test steers."""

    def __init__(  # noqa: PLR0913  each may differ in a test
        self,
        clock: ManualClock | None = None,
        over: Store | None = None,
        *,
        livemode: bool = False,
        terms: SessionTerms | None = TERMS,
        products: tuple[Product, ...] = (PRODUCT, OTHER),
        secrets: tuple[bytes, ...] = (SIGNING_SECRET,),
        revoke_on_refund: bool = False,
        api_version: str = API_VERSION,
        deployment: str = DEPLOYMENT,
        account: ScriptedProcessor | None = None,
        sites: tuple[Site, ...] = (),
        seller: Mapping[str, Any] = {},
    ) -> None:
        self.clock = clock or ManualClock()
        self.store = over or MemoryStore(self.clock)
        self.livemode = livemode
        self.secrets = secrets
        given: dict[str, Any] = {"seller": "The sellers", **seller, **(asdict(terms) if terms else {})}
        settings = CheckoutSettings(
            **given,
            api_version=api_version,
            practice_url="https://practise.example/{vendorSlug}/{certCode}",
            sessions_per_minute=STARTS,
            access_reads_per_minute=READS,
            revoke_on_refund=revoke_on_refund,
            products=tuple(ProductSettings(**asdict(one) | {"site": ""}) for one in products),
        )
        self.processor = account or ScriptedProcessor(self.clock, livemode)
        self.approving = ApprovalDesk(self.store, self.clock)
        """The owner's word, over the same store."""
        self.approvals = self.approving.approvals = self.approving.another(deployment=deployment)
        # The account has those methods of the three ports that are called here, and no other.
        super().__init__(
            CheckoutRecords(self.store, self.clock, INDEX_KEY),
            cast("Processor", self.processor),
            cast("ProcessorReads", self.processor),
            cast("ProcessorWrites", self.processor),
            self.approvals,
            read_event,
            CheckoutPlan(settings, livemode, True, secrets, (TOKEN.encode(),), (), sites),  # noqa: FBT003  it has the key
            Tasks(),
            NoSites(),
        )
        self.approvals.allow(*self.expiry.operations())

    async def imported(self, *lines: ImportedAccess) -> int:
        """Import access that was sold elsewhere; return how many lines were new."""
        seen = list[None]()
        done = await self.imports.bring_in(lines, "moved here", seen=lambda: seen.append(None))
        assert len(seen) == len(lines)
        return len(done.new)

    async def was_imported(self, line: ImportedAccess) -> bool:
        """Return whether an import would find this line."""
        return not (await self.imports.bring_in([line], "", dry_run=True, seen=lambda: None)).new

    @cached_property
    def privacy(self) -> Privacy:
        """Export and erasure."""
        intents = intents_source(self.approving.approvals)
        notifications = notifications_source(self.store, self.clock)
        return Privacy(self.store, [notifications, *self.buyer_data.sources(), intents])

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

    def happened(
        self,
        at: datetime,
        event_id: str = "evt_1",
        session_id: str = "cs_1",
        kind: str = COMPLETED,
        pending: int = 1,
        **other: Any,  # noqa: ANN401  any field of a session
    ) -> None:
        """Let an event have happened at the processor, with a delivery that nobody has accepted yet."""
        self.processor.events.insert(0, EventSummary(event_id, kind, at, API_VERSION, pending, session_id))
        self.processor.bodies[event_id] = event_body(event_id, session_json(session_id, **other), kind)

    async def access(self, session_id: str = "cs_1") -> AccessRecord:
        """Return an access record that must be there."""
        found = await self.lookup.record(session_id)
        assert found is not None
        return found

    async def told(self) -> list[Notification]:
        """Return every notification that was enqueued."""
        return [row async for row in self.outbox.rows()]

    async def entries(self, prefix: str = "") -> list[StoreEntry]:
        """Return everything that is stored."""
        return await self.store.scan(prefix, limit=100_000)


def ids(rows: Iterable[Notification]) -> list[str]:
    """Return the ids of notifications."""
    return [row.id for row in rows]


def stored_access(record: AccessRecord) -> list[Write]:
    """Return the writes that store an access record as a sale does."""
    clock = ManualClock()
    stored = CheckoutRecords(MemoryStore(clock), clock, INDEX_KEY)
    writes = stored.access.writes(record, record.session_id)
    if record.email:
        writes.append(stored.ends.put(AccessEnd(expires_at=record.expires_at), stored.end_id(record)))
    return writes
