"""Notifications, as a port: one message to one place, accepted or not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

Priority = Literal["low", "default", "high", "urgent"]


@dataclass(frozen=True, slots=True)
class Message:
    """What to say. `id` is stable across repeats, so that a receiver can drop one it has seen.

    `to` is an e-mail address for the buyer's mail and empty for the owner's push, whose topic is a setting.
    """

    id: str
    title: str
    body: str
    to: str = ""
    priority: Priority = "default"
    tags: tuple[str, ...] = field(default=())


class Notifier(Protocol):
    """A way to deliver messages."""

    async def send(self, message: Message) -> None:
        """Return once the message was accepted; raise `DeliveryFailed` otherwise."""
        ...

    async def check(self) -> None:
        """Return if the receiver can be reached, sending nothing; raise `DeliveryFailed` otherwise."""
        ...


@dataclass(frozen=True, slots=True)
class Notifiers:
    """The configured notifiers, by the channel of their messages: `push` or `email`."""

    by_channel: Mapping[str, Notifier]
