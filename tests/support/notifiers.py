"""Notifiers that do as a test tells them: adapters of the port."""

import asyncio
from dataclasses import dataclass, field

from orrery.ports.notifier import Message


@dataclass(slots=True)
class ScriptedNotifier:
    """Keeps what it accepts; `troubles` come first, one a message. With a `gate` it waits until that opens."""

    troubles: list[Exception] = field(default_factory=list[Exception])
    accepted: list[Message] = field(default_factory=list[Message])
    tried: int = 0
    gate: asyncio.Event | None = None
    unwell: Exception | None = None

    async def send(self, message: Message) -> None:
        """Accept, or raise the trouble that is next."""
        self.tried += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.troubles:
            raise self.troubles.pop(0)
        self.accepted.append(message)

    async def check(self) -> None:
        """Be well, or not."""
        if self.unwell is not None:
            raise self.unwell

    @property
    def ids(self) -> list[str]:
        """The ids of what was accepted, in the order of its coming."""
        return [message.id for message in self.accepted]
