"""The session of a reference (decision 46), which is derived and never stored, and the offer of a payment."""

import structlog

from orrery.checkout import keys
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import Offer
from orrery.errors import NotFound, ProcessorRefused, RecordUnreadable
from orrery.ports.processor import ProcessorReads, split_unreadable
from orrery.runtime.collection import Walk
from orrery.runtime.references import References, as_reference

_KNOWN = (keys.ACCESS, keys.PENDING, keys.OFFER, keys.OWN_SESSION)
"""Every kind of record that is kept under a session's id."""


class Sessions:
    """Finds sessions by their references."""

    def __init__(self, stored: CheckoutRecords, references: References) -> None:
        self._stored = stored
        self._references = references

    async def named(self, text: str) -> str:
        """Return the session id of a reference, and any other text as it is.

        Raises `NotFound` for a reference of no session here, and the store's errors.
        """
        reference = as_reference(text)
        if reference is None:
            return text
        for prefix in _KNOWN:
            if found := await self._under(prefix, reference):
                return found
        raise NotFound("No session here has this reference.")

    async def _under(self, prefix: str, reference: str) -> str | None:
        async for entry in Walk(prefix).entries(self._stored.store, self._stored.clock):
            session_id = entry.key.removeprefix(prefix)
            if self._references.of(session_id) == reference:
                return session_id
        return None


_NOT_THERE = "resource_missing"

log = structlog.get_logger()


class Offers:
    """Reads offers."""

    def __init__(self, stored: CheckoutRecords, reads: ProcessorReads) -> None:
        self._stored = stored
        self._reads = reads

    async def address_of(self, payment_intent: str) -> str | None:
        """Return the client address that asked for the session of a payment (decision 18).

        None: the session is not ours, its address has been erased, or its offer cannot be read. Raises the errors
        of the processor.
        """
        try:
            sessions, unread = split_unreadable(
                [one async for one in self._reads.list_sessions(payment_intent=payment_intent)]
            )
        except ProcessorRefused as error:
            if error.code == _NOT_THERE:
                return None
            raise
        for error in unread:
            log.warning("client address not known", why=str(error))
        offers = [await self._offer(session.id) for session in sessions]
        return next((offer.client_address for offer in offers if offer and offer.client_address), None)

    async def _offer(self, session_id: str) -> Offer | None:
        try:
            found = await self._stored.offers.get(session_id)
        except RecordUnreadable as error:
            log.warning("client address not known", session=session_id, why=str(error))
            return None
        return found.record if found else None
