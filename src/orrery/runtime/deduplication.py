"""Messages that may have been sent before: their receiver is asked whether it has them (decision record 76).

No state is stored for it. The caller knows whether another process can have tried a message; this process
remembers what it tried itself.
"""

import asyncio
from datetime import datetime, timedelta
from typing import Literal

from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.notifier import DeliveryFailed, Notifier, OutgoingMessage, Received

ASK_DEADLINE = 5.0
"""Seconds that one question may take; the push goes out without an answer then."""

FURTHEST = timedelta(hours=12)
"""How far back is asked: as long as ntfy keeps messages by default."""

SLACK = timedelta(minutes=10)
"""How far the receiver's clock may be behind ours."""


class Deduplication:
    """Sends the messages of one channel; one that its receiver has already counts as sent."""

    def __init__(self, notifier: Notifier, clock: Clock) -> None:
        self._notifier = notifier
        self._clock = clock
        self._since = 0
        self._outcomes: dict[str, Literal["accepted", "refused", "unknown"]] = {}
        self._answer: tuple[datetime, Received] | None = None
        self._may_ask = self._is_answered = True

    def begin(self, since: int) -> None:
        """Begin to send what is due. Since this version of the store no other process has sent on this channel."""
        self._may_ask = self._is_answered
        if since != self._since:
            self._since, self._answer = since, None
            self._outcomes = {one: what for one, what in self._outcomes.items() if what == "accepted"}

    async def send(self, message: OutgoingMessage, created_at: datetime, *, untried: bool) -> None:
        """Send a message unless its receiver has it. `untried`: no other process can have tried it."""
        key = message.sequence
        outcome = self._outcomes.get(key, "refused" if untried else "unknown")
        if outcome == "accepted" or (outcome == "unknown" and await self._has(message, created_at)):
            self._outcomes[key] = "accepted"
            log.info("notification had arrived before", id=message.id)
            return
        self._outcomes[key] = "unknown"
        try:
            await self._notifier.send(message)
            self._outcomes[key] = "accepted"
        except DeliveryFailed as error:
            if error.refused:
                self._outcomes[key] = "refused"
            raise
        finally:
            if self._outcomes[key] == "unknown":
                self._answer = None  # it is older than this attempt

    def marked(self, message: OutgoingMessage) -> None:
        """Forget a message that is marked in the store."""
        _ = self._outcomes.pop(message.sequence, None)

    async def _has(self, message: OutgoingMessage, created_at: datetime) -> bool:
        now = self._clock.now()
        wanted = max(min(created_at, now) - SLACK, now - FURTHEST)
        if self._may_ask and (self._answer is None or wanted < self._answer[0]):
            # Twice as far back as this message needs: few questions cover a queue, in whatever order it comes.
            await self._ask(max(wanted - (now - wanted), now - FURTHEST))
        return self._answer is not None and self._answer[1](message)

    async def _ask(self, since: datetime) -> None:
        """Ask what has arrived. A receiver that does not answer is asked again with the next batch, if ever."""
        try:
            async with asyncio.timeout(ASK_DEADLINE):
                self._answer = since, await self._notifier.received(since)
        except Exception as error:  # noqa: BLE001  whatever fails here must stop no message
            self._may_ask = False
            self._is_answered = not (isinstance(error, DeliveryFailed) and error.permanent)
            log.warning("cannot ask what has arrived", kind=type(error).__name__, why=str(error))
