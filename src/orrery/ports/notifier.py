"""Notifications, as a port: one message to one place, accepted or not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from orrery.errors import OrreryError


class DeliveryFailed(OrreryError):
    """A notification was not accepted.

    `permanent` is the caller's next decision: True means that a repeat cannot succeed. `refused`: the receiver
    refused; else it may have taken the notification, and its answer was lost.
    """

    def __init__(self, message: str, *, permanent: bool, refused: bool = True) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.refused = refused


Priority = Literal["low", "default", "high", "urgent"]


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """The text of a notification. `id` is stable across repeats, so that a receiver can drop one it has seen.

    `to` is an e-mail address for the buyer's mail and empty for the owner's push, whose topic is a setting. A text
    with a `language` is sent as a page, too. `sender` and `reply_to` may name other addresses than the settings of
    the mail server.
    `sequence` is the same in every attempt to deliver this message, and in no other message; it is empty for one
    that is tried once.
    """

    id: str
    title: str
    body: str
    to: str = ""
    priority: Priority = "default"
    tags: tuple[str, ...] = field(default=())
    sequence: str = ""
    language: str = ""
    sender: str = ""
    reply_to: str = ""


PUSH_BYTES = 3500
"""Longest text of a push, in bytes: a push service cuts a longer one, or refuses it."""

Received = Callable[[OutgoingMessage], bool]
"""Returns whether the receiver has a message."""


class Notifier(Protocol):
    """A way to deliver messages."""

    async def send(self, message: OutgoingMessage) -> None:
        """Return once the message was accepted; raise `DeliveryFailed` otherwise."""
        ...

    async def received(self, since: datetime) -> Received:
        """Ask the receiver what it has got since then; raise `DeliveryFailed` without an answer.

        That is `permanent` when asking again cannot help. A receiver that can never be asked has nothing.
        """
        ...

    async def check(self) -> str:
        """Return if the receiver can be reached, sending nothing, with a remark or an empty text.

        Raises `DeliveryFailed` otherwise.
        """
        ...


@dataclass(frozen=True, slots=True)
class Notifiers:
    """The configured notifiers, by the channel of their messages: `push` or `email`."""

    by_channel: Mapping[str, Notifier]
