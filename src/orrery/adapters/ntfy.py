"""Push messages by ntfy's HTTP interface."""

from collections.abc import Mapping
from http import HTTPStatus

import httpx2

from orrery.bounded import BOUNDED
from orrery.errors import DeliveryFailed
from orrery.ports.notifier import Message
from orrery.tls import unreachable
from orrery.trust import WELL_KNOWN, Trust

SECONDS = 10.0
"""How long one request may take."""

TITLE_MAXIMUM, BODY_MAXIMUM = 250, 3500
"""Longest title and message in bytes: the service turns longer messages into attachments, or refuses them."""

_PRIORITIES = {"low": 2, "default": 3, "high": 4, "urgent": 5}
_TRY_AGAIN = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.TOO_EARLY,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
)
"""Refusals that the owner can lift (a wrong token, a full quota); any other status below 500 is permanent."""


class NtfyNotifier:
    """Publishes JSON messages to one topic."""

    def __init__(self, base_url: str, topic: str, token: str | None = None, trust: Trust = WELL_KNOWN) -> None:
        self._base_url = base_url
        self._topic = topic
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._trust = trust

    async def send(self, message: Message) -> None:
        body = {
            "topic": self._topic,
            "title": _cut(message.title, TITLE_MAXIMUM),
            "message": _cut(message.body, BODY_MAXIMUM),
            "priority": _PRIORITIES[message.priority],
            "tags": list(message.tags),
        }
        await self._ask("POST", self._base_url, body)

    async def check(self) -> None:
        """Ask for the service's health."""
        await self._ask("GET", f"{self._base_url.rstrip('/')}/v1/health")

    async def _ask(self, method: str, url: str, body: Mapping[str, object] | None = None) -> None:
        try:
            async with (
                httpx2.AsyncClient(
                    event_hooks=BOUNDED, timeout=SECONDS, headers=self._headers, verify=self._trust.web
                ) as client,
                client.stream(method, url, json=body) as answer,
            ):
                # The status accepts a message: if the rest of the answer could fail it, it would be sent again.
                if body is None:
                    _ = await answer.aread()
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeEncodeError) as error:
            raise DeliveryFailed(unreachable("The push service", error), permanent=False) from None
        if not answer.is_success:
            permanent = answer.is_client_error and answer.status_code not in _TRY_AGAIN
            raise DeliveryFailed(f"The push service answered {answer.status_code}.", permanent=permanent)


def _cut(text: str, maximum: int) -> str:
    return text.encode()[:maximum].decode(errors="ignore")
