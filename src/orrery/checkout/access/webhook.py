"""The webhook: check the signature, store the event, act on the one type that we handle (decision 7).

Change rule 5: before another event type is added to the switch, this module and `fulfilment` are read whole.
"""

import re
from collections.abc import Sequence

from orrery.checkout import probe
from orrery.checkout.access.fulfilment import Fulfilment, FulfilmentSource
from orrery.checkout.access.raw_events import RawEvent, RawEvents, ReceivedResult
from orrery.checkout.access.refusals import Refusals
from orrery.checkout.errors import EventIdReused
from orrery.checkout.signature import verify
from orrery.errors import Invalid, NotConfigured
from orrery.ports.clock import Clock
from orrery.ports.processor import PartialEvent, ProcessorEvent

_CAN_BE_SIGNED = re.compile(r"(?=.*t=[0-9]).*v1=[0-9a-f]{64}", re.DOTALL)
"""The least that a header needs for the check to accept any body."""


class WebhookReceiver:
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
        """Refuse a request without a usable header before its body is read; raises as `receive` does.

        An old time is not refused here: with the body it shows whether this machine's clock is wrong.
        """
        if not self._secrets:
            raise NotConfigured("The webhook has no signing secret.")
        if not _CAN_BE_SIGNED.match(signature):
            await self.refusals.refused(b"", signature)
            raise Invalid("The webhook carries no signature.")

    async def receive(self, body: bytes, signature: str) -> ReceivedResult:
        """Check and store one event, and grant what it completes; a duplicate changes nothing.

        A body with a valid signature is stored: `unreadable` means that it cannot be read, and `conflict` that the
        event id came before with other contents, which stay (decision 44). Raises `NotConfigured` without a
        signing secret, `Invalid` when the signature is wrong or the body is our own probe (nothing is stored
        then), `StoreUnavailable` or `OutcomeUnknown` when the event must come again.
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
        result = await self.receive_verified(self._raw_events.read(body))
        await self.refusals.accepted()
        return result

    async def receive_verified(self, event: RawEvent) -> ReceivedResult:
        """Store one verified event of the processor, and grant what it completes; a repeat changes nothing.

        Only two callers are permitted (change rule 5): `receive`, after a valid signature, and the owner's replay,
        whose body Orrery fetched from the processor with its own key, or stored after a valid signature. No other
        input from outside may come here.
        """
        try:
            if isinstance(event.read, PartialEvent):
                return await self._unreadable(event)
            return await self._dispatch(event, event.read)
        except EventIdReused:
            await self._raw_events.notify_reused(event.read.id or "")
            return "conflict"

    async def _dispatch(self, event: RawEvent, read: ProcessorEvent) -> ReceivedResult:
        match read.type:
            case "checkout.session.completed":
                return await self._completed(event, read)
            case _:
                return "ignored" if await self._raw_events.keep(event) else "duplicate"

    async def _completed(self, event: RawEvent, read: ProcessorEvent) -> ReceivedResult:
        if read.session is None:
            return await self._unreadable(event)
        source = FulfilmentSource("webhook", event, read.livemode)
        return (await self._fulfilment.settle(read.session, source)).result

    async def _unreadable(self, event: RawEvent) -> ReceivedResult:
        return "unreadable" if await self._raw_events.keep_unreadable(event) else "duplicate"
