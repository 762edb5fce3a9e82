"""The webhook: check the signature, store the event, act on the one type that we handle (decision 7).

Change rule 5: before another event type is added to the switch, this module and `fulfilment` are read whole.
"""

import re
from collections.abc import Sequence
from typing import Literal

from orrery.checkout import probe
from orrery.checkout.fulfilment import Fulfilment, Source
from orrery.checkout.raw_events import RawEvents
from orrery.checkout.refusals import Refusals
from orrery.checkout.signature import verify
from orrery.errors import EventIdReused, Invalid, NotConfigured
from orrery.ports.clock import Clock
from orrery.ports.processor import Event, PartialEvent

Result = Literal[
    "granted", "already", "waiting", "refused", "foreign", "ignored", "duplicate", "unreadable", "conflict"
]


_CAN_BE_SIGNED = re.compile(r"(?=.*t=[0-9]).*v1=[0-9a-f]{64}", re.DOTALL)
"""What a header holds under which the check accepts anything at all."""


class Webhook:
    """Receives the processor's events."""

    def __init__(
        self,
        clock: Clock,
        fulfilment: Fulfilment,
        raw_events: RawEvents,
        refusals: Refusals,
        secrets: Sequence[bytes],
    ) -> None:
        self._clock = clock
        self._fulfilment = fulfilment
        self._raw_events = raw_events
        self._secrets = secrets
        self.refusals = refusals

    async def require_signature(self, signature: str) -> None:
        """Refuse by its header alone, before its body is read, what cannot be signed; raises as `receive` does.

        An old time is not refused here: over the body it tells whether this machine's clock is wrong.
        """
        if not self._secrets:
            raise NotConfigured("The webhook has no signing secret.")
        if not _CAN_BE_SIGNED.match(signature):
            await self.refusals.refused(b"", signature)
            raise Invalid("The webhook carries no signature.")

    async def receive(self, body: bytes, signature: str) -> Result:
        """Check and store one event, and grant what it completes; a duplicate changes nothing.

        What is well signed is stored: `unreadable` is what cannot be read, and `conflict` an event id that came
        before with other contents, which stand (decision 44). Raises `NotConfigured` without a signing secret,
        `Invalid` when the signature is wrong or the body is our own probe (nothing is stored then),
        `StoreUnavailable` or `OutcomeUnknown` when the event must come again.
        """
        if not self._secrets:
            raise NotConfigured("The webhook has no signing secret.")
        try:
            verify(body, signature, self._secrets, self._clock.now())
        except Invalid:
            if body != probe.BODY:
                await self.refusals.refused(body, signature)
            raise
        if body == probe.BODY:
            raise Invalid(probe.NOT_AN_EVENT)
        result = await self.take_in(body)
        await self.refusals.accepted()
        return result

    async def take_in(self, body: bytes) -> Result:
        """Store one event that is known to be the processor's, and grant what it completes; once is once.

        Two may call this (change rule 5): `receive`, when it has found the signature good, and the owner's replay,
        which has fetched the body from the processor with our own key, or found it stored since its signature was
        found good. Nothing else that comes from outside may.
        """
        event = self._raw_events.read(body)
        try:
            if isinstance(event, PartialEvent):
                return await self._unreadable(event, body)
            return await self._dispatch(event, body)
        except EventIdReused:
            await self._raw_events.tell_reused(event.id or "")
            return "conflict"

    async def _dispatch(self, event: Event, body: bytes) -> Result:
        match event.type:
            case "checkout.session.completed":
                return await self._completed(event, body)
            case _:
                new = await self._fulfilment.store_event(event.id, body)
                return "ignored" if new else "duplicate"

    async def _completed(self, event: Event, body: bytes) -> Result:
        if event.session is None:
            return await self._unreadable(event, body)
        return (await self._fulfilment.settle(event.session, Source("webhook", event.id, body))).result

    async def _unreadable(self, event: Event | PartialEvent, body: bytes) -> Result:
        return "unreadable" if await self._raw_events.keep_unreadable(event, body) else "duplicate"
