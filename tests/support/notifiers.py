"""Notifiers that do as a test tells them: adapters of the port."""

import asyncio
from dataclasses import dataclass, field
from datetime import datetime

from orrery.ports.notifier import OutgoingMessage, Received


@dataclass(slots=True)
class ScriptedNotifier:
    """Keeps what it accepts; `troubles` come first, one a message. With a `gate` it waits until that opens.

    `asked` are the times since when it was asked what it has, with `deaf` as the trouble of each question; a
    `silent` one never answers.
    """

    troubles: list[Exception] = field(default_factory=list[Exception])
    accepted: list[OutgoingMessage] = field(default_factory=list[OutgoingMessage])
    tried: int = 0
    gate: asyncio.Event | None = None
    unwell: Exception | None = None
    remark: str = ""
    deaf: Exception | None = None
    silent: bool = False
    asked: list[datetime] = field(default_factory=list[datetime])

    async def send(self, message: OutgoingMessage) -> None:
        """Accept, or raise the trouble that is next."""
        self.tried += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.troubles:
            raise self.troubles.pop(0)
        self.accepted.append(message)

    async def received(self, since: datetime) -> Received:
        """Tell what was accepted up to now, or nothing."""
        self.asked.append(since)
        if self.silent:
            await asyncio.Event().wait()
        if self.deaf is not None:
            raise self.deaf
        accepted = [message.sequence for message in self.accepted]
        return lambda message: message.sequence in accepted

    async def check(self) -> str:
        """Be well, or not."""
        if self.unwell is not None:
            raise self.unwell
        return self.remark

    @property
    def ids(self) -> list[str]:
        """The ids of what was accepted, in the order of its coming."""
        return [message.id for message in self.accepted]
