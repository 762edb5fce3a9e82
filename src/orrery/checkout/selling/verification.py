"""What visitors really get (change rule 2), checked by a command; `drift.py` looks at it unattended.

`orrery checkout verify` creates a session by the public operation and compares it with the rule as it is written.
"""

import secrets
from dataclasses import dataclass
from http import HTTPStatus

from orrery.checkout.catalogue import Product
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import OwnSession
from orrery.checkout.selling.products import Selling
from orrery.checkout.selling.receipts import (
    SessionCondition,
    catalogue_conditions,
    failed,
    rule_conditions,
)
from orrery.checkout.selling.sessions import Expiry
from orrery.ports.processor import Parameters, Processor, ProcessorReads, ProcessorRefused, ProcessorUnreachable
from orrery.ports.shop import Shop, Started
from orrery.ports.store import Delete
from orrery.runtime.collection import indexed_id, write

_LEFT = "This session was left by a verification that came to no end: have it expired, and verify again."


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
