"""The webhook: check the signature, store the event, act on the one type that we handle (decision 7).

Change rule 5: before another event type is added to the switch, this module and `fulfilment` are read whole.
"""

from collections.abc import Sequence
from typing import Literal

from orrery.checkout.fulfilment import Fulfilment, Outcome, Source
from orrery.checkout.signature import verify
from orrery.errors import Invalid, NotConfigured
from orrery.ports.clock import Clock
from orrery.ports.processor import Event, EventReader

Result = Literal["granted", "already", "waiting", "refused", "foreign", "ignored", "duplicate"]


class Webhook:
    """Receives the processor's events."""

    def __init__(
        self, clock: Clock, fulfilment: Fulfilment, read_event: EventReader, secrets: Sequence[bytes]
    ) -> None:
        self._clock = clock
        self._fulfilment = fulfilment
        self._read_event = read_event
        self._secrets = secrets

    async def receive(self, body: bytes, signature: str) -> Result:
        """Check and store one event, and grant what it completes; a duplicate changes nothing.

        Raises `NotConfigured` without a signing secret, `Invalid` when the signature or the body is wrong (nothing
        is stored then), `StoreUnavailable` or `OutcomeUnknown` when the event must come again.
        """
        if not self._secrets:
            raise NotConfigured("The webhook has no signing secret.")
        verify(body, signature, self._secrets, self._clock.now())
        return await self.take_in(body)

    async def take_in(self, body: bytes) -> Result:
        """Store one event that is known to be the processor's, and grant what it completes; once is once.

        Two may call this (change rule 5): `receive`, when it has found the signature good, and the owner's replay,
        which has fetched the body from the processor with our own key. Nothing else that comes from outside may.
        """
        return await self._dispatch(self._read_event(body), body)

    async def _dispatch(self, event: Event, body: bytes) -> Result:
        match event.type:
            case "checkout.session.completed":
                return (await self._completed(event, body)).result
            case _:
                new = await self._fulfilment.store_event(event.id, body)
                return "ignored" if new else "duplicate"

    async def _completed(self, event: Event, body: bytes) -> Outcome:
        if event.session is None:
            raise Invalid("The completed event carries no checkout session.")
        return await self._fulfilment.settle(event.session, Source("webhook", event.id, body))
