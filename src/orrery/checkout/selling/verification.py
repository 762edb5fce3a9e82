"""What visitors really get (change rule 2): checked by a command, and unattended by reading.

`orrery checkout verify` creates a session by the public operation and compares it with the rule as it is written.
The workers only read: they compare the newest visitor's session with the accepted parameters, and send one push
for each kind of drift and one when all drift is over.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus

import structlog

from orrery.checkout.access.rules import bought
from orrery.checkout.catalogue import Product
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import DriftResult, OwnSession, Receipt
from orrery.checkout.selling.products import Selling
from orrery.checkout.selling.receipts import (
    SessionCondition,
    catalogue_conditions,
    failed,
    rule_conditions,
    sold_conditions,
)
from orrery.checkout.selling.sessions import Expiry
from orrery.errors import NotConfigured, NotFound
from orrery.ports.panels import Panel, utc_text
from orrery.ports.processor import CheckoutSession, Parameters, Processor, ProcessorReads
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused, ProcessorUnreachable
from orrery.ports.shop import Shop, Started
from orrery.ports.store import Delete, Write
from orrery.runtime import outbox
from orrery.runtime.collection import indexed_id, sortable, write
from orrery.runtime.lasting import all_clear, push

EVERY = timedelta(hours=6)
"""How often the workers check the newest visitor's session (issue 4, item 2)."""

WINDOW = timedelta(days=7)
"""How far back the newest visitor's session is searched."""

SLACK = timedelta(minutes=1)
"""A session this soon after a receipt may have been created with the previous one: clocks differ."""

_LEFT = "This session was left by a verification that came to no end: have it expired, and verify again."

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """The result of a verification. Without a session `why` is the reason.

    `rule` are the three conditions of change rule 2, `catalogue` those that compare with the catalogue;
    `intent_id` is the intent that expires the session once the owner approves it.
    """

    product: str
    session_id: str | None = None
    rule: tuple[SessionCondition, ...] = ()
    catalogue: tuple[SessionCondition, ...] = ()
    intent_id: str | None = None
    why: str = ""

    @property
    def is_well(self) -> bool:
        """Return whether there is a session and every condition holds."""
        return self.session_id is not None and not failed([*self.rule, *self.catalogue]) and not self.why


class Verification:
    """Checks real sessions."""

    def __init__(
        self,
        stored: CheckoutRecords,
        processor: Processor,
        reads: ProcessorReads,
        selling: Selling,
        expiry: Expiry,
    ) -> None:
        self._stored = stored
        self._processor = processor
        self._reads = reads
        self._selling = selling
        self._expiry = expiry
        self._began = stored.clock.now()

    async def run(self, product: Product, shop: Shop) -> VerificationReport:
        """Create a session as a visitor does, check it, and propose the intent that expires it.

        Raises the store's errors, and `NotConfigured` for a product that cannot be sold.
        """
        today = self._selling.configured_parameters(product)
        interrupted, started = await self._start(product, shop)
        if started.session_id is None:
            if not interrupted and not started.may_exist:
                await self._forget(product)
            return VerificationReport(product.name, why=started.why)
        if interrupted:
            intent_id = await self._to_expire(started.session_id)
            verified = VerificationReport(product.name, started.session_id, intent_id=intent_id, why=_LEFT)
        else:
            verified = await self._compared(product.name, started.session_id, today)
        await self._forget(product)
        return verified

    async def _forget(self, product: Product) -> None:
        await write(self._stored.store, [Delete(self._stored.verifying.key(product.key.id))])

    async def _compared(self, name: str, session_id: str, today: Parameters) -> VerificationReport:
        try:
            session = await self._processor.get_session(session_id)
        except (ProcessorRefused, ProcessorUnreachable) as error:
            if error.status == HTTPStatus.NOT_FOUND:
                why = f"The processor does not show the session: {error} Is the address another deployment's?"
                return VerificationReport(name, session_id, why=why)
            return VerificationReport(
                name, session_id, intent_id=await self._to_expire(session_id), why=str(error)
            )
        setting = self._selling.terms.three_d_secure if self._selling.terms else ""
        return VerificationReport(
            name,
            session_id,
            tuple(rule_conditions(session, setting)),
            tuple(catalogue_conditions(session, today)),
            await self._to_expire(session_id),
        )

    async def _start(self, product: Product, shop: Shop) -> tuple[bool, Started]:
        """Create a session; return with it whether it may be that of an unfinished verification.

        The idempotency key is stored before the request, and deleted when the intent to expire the session exists.
        """
        asked, begun = product.key, product.key.id
        entry = await self._stored.verifying.get(begun)
        key = indexed_id(entry) if entry else f"verify-{secrets.token_hex(16)}"
        if entry is None:
            await write(self._stored.store, [self._stored.verifying.put(begun, key.encode())])
        started = await shop.start(
            product_type=asked.product_type, vendor_slug=asked.vendor_slug, cert_code=asked.cert_code, key=key
        )
        if started.session_id:
            own = OwnSession(session_id=started.session_id, made_by="verify", made_at=self._stored.clock.now())
            await write(self._stored.store, [self._stored.own_sessions.put(own, started.session_id)])
        return entry is not None, started

    async def _to_expire(self, session_id: str) -> str:
        return (await self._expiry.propose(session_id, "It was made to verify the checkout.", "owner")).id

    async def check_newest(self) -> DriftResult | None:
        """Check the newest visitor's session, and enqueue a push about drift that is new since the last check.

        None: there is no such session. Raises the processor's and the store's errors.
        """
        found = await self._newest()
        if found is None:
            return None
        session, conditions = found
        known, now = await self._stored.drift.find(), self._stored.clock.now()
        last = known.record if known else None  # one that cannot be read is replaced
        differing = failed(conditions)
        new = [one for one in differing if last is None or one.name not in last.kinds]
        drift = DriftResult(session_id=session.id, looked_at=now, kinds=tuple(one.name for one in differing))
        pushes = [_drift_push(new, session, now)] if new else []
        if last and last.kinds and not differing:
            pushes.append(_over(now))
        writes: list[Write] = [self._stored.drift.put(drift), *outbox.enqueue(pushes, now)]
        await write(self._stored.store, writes)
        if new:
            log.warning("the checkout drifts", session=session.id, kinds=[one.name for one in new])
        return drift

    async def panel(self) -> Panel:
        """Return the panel of the owner's page with the last check."""
        title, drift = "What visitors get", await self.last_check()
        if drift is None:
            return Panel(title, "No visitor's session was looked at yet")
        checked = f"looked at {utc_text(drift.looked_at)}"
        if not drift.kinds:
            return Panel(title, f"As it was sent, {checked}", "good")
        headline, todo = f"Not as it was sent, {checked}", "Type `orrery checkout verify`."
        return Panel(title, headline, "bad", todo, ("Differs",), tuple((kind,) for kind in drift.kinds))

    async def last_check(self) -> DriftResult | None:
        """Return the result of the last check; raise `RecordUnreadable`."""
        found = await self._stored.drift.get()
        return found.record if found else None

    def _sold_since(self, accepted: Receipt | None) -> datetime:
        """Return since when this is sold; in a future that was undone, since this process found that out."""
        now = self._stored.clock.now()
        self._began = min(self._began, now)
        return accepted.accepted_at if accepted and accepted.accepted_at <= now else self._began

    async def _newest(self) -> tuple[CheckoutSession, list[SessionCondition]] | None:
        """Return the newest visitor's session with the parameters on sale now, and its conditions."""
        async for session in self._reads.list_sessions(self._stored.clock.now() - WINDOW):
            if isinstance(session, ItemUnreadable):
                log.warning("a session was not looked at for drift", why=str(session))
                continue
            product = bought(session)
            if product is None or await self._stored.own_sessions.entry(session.id):
                continue
            try:
                offered = await self._selling.current_offer(product)
            except (NotFound, NotConfigured):
                continue
            since = self._sold_since(offered.accepted)
            if session.created > since + SLACK:
                compared = sold_conditions(session, offered.parameters)
                return session, [*compared, *catalogue_conditions(session, offered.parameters)]
        return None


def _drift_push(
    conditions: Sequence[SessionCondition], session: CheckoutSession, now: datetime
) -> outbox.OutboxDraft:
    differing = "; ".join(
        f"{one.name} = {one.found or 'nothing'}, where {one.wanted or 'nothing'} was sent" for one in conditions
    )
    body = f"Session {session.id} has {differing}. See `orrery checkout verify`."
    return push(f"drift-{conditions[0].name}-{sortable(now)}", "The checkout drifts", body)


def _over(now: datetime) -> outbox.OutboxDraft:
    body = "The newest visitor's session shows nothing that differs."
    return all_clear(f"drift-over-{sortable(now)}", "The checkout is as it was sent again", body)
