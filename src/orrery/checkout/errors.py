"""The errors that only checkout raises."""

from http import HTTPStatus
from typing import ClassVar

from orrery.errors import DependencyFailed, Invalid, NotFound
from orrery.ports.processor import ProcessorUnreachable


class UnknownProduct(NotFound):
    """The catalogue has no such product."""

    tag: ClassVar[str] = "unknown-product"


class KeyReused(Invalid):
    """An idempotency key came back with another body than the first time (decision 2)."""

    http_status: ClassVar[int] = 409
    tag: ClassVar[str] = "idempotency-key-reused"


class EventIdReused(Invalid):
    """The id of a stored event came again with other contents: the first one stays (decision 44)."""


class NotPreflighted(DependencyFailed):
    """The processor has never accepted this product's parameters: it is not sold yet (change rule 1)."""

    tag: ClassVar[str] = "not-preflighted"


class SessionMismatch(ProcessorUnreachable):
    """The processor's new session is not what was asked for: no visitor may be sent there.

    The processor would repeat the session under its idempotency key, so a repeat must carry another one.
    """

    def __init__(self, what: str) -> None:
        sentence = f"The processor's new session is not what was asked for: {what}."
        super().__init__(sentence, same_key=False, status=HTTPStatus.OK)
