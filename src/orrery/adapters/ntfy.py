"""Push messages by ntfy's HTTP interface."""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from http import HTTPStatus
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from orrery.outside import Answer, NoAnswer, Outside
from orrery.ports.notifier import PUSH_BYTES, DeliveryFailed, OutgoingMessage, Received
from orrery.trust import WELL_KNOWN, Trust

SECONDS = 10.0
"""How long one request may take."""

TITLE_MAXIMUM = 250
"""Longest title in bytes."""

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

_ASK_AGAIN = _TRY_AGAIN - {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
"""Refusals of a question that end by themselves; a token does not change while it is in use."""

_SEQUENCE = re.compile(r"[-_A-Za-z0-9]{1,64}")
"""What ntfy takes as a sequence id; it refuses a message with any other."""

_UNREADABLE = "A push may come twice after a crash: let push_token read the topic, too."


class _Cached(BaseModel):
    """One line of a topic's cache. Servers before 2.16 ignore sequence ids, and have none in it."""

    event: str
    sequence_id: str


class NtfyNotifier:
    """Publishes JSON messages to one topic."""

    def __init__(self, base_url: str, topic: str, token: str | None = None, trust: Trust = WELL_KNOWN) -> None:
        self._base_url = base_url
        self._topic = topic
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._service = Outside("The push service", SECONDS, trust)

    async def send(self, message: OutgoingMessage) -> None:
        body = {
            "topic": self._topic,
            "title": _cut(message.title, TITLE_MAXIMUM),
            "message": _cut(message.body, PUSH_BYTES),
            "priority": _PRIORITIES[message.priority],
            "tags": list(message.tags),
        }
        if _SEQUENCE.fullmatch(message.sequence):
            body["sequence_id"] = message.sequence
        async with self._asked("POST", self._base_url, body):
            pass  # the status accepts a message: if the rest of the answer could fail it, it would be sent again

    async def received(self, since: datetime) -> Received:
        """Read the topic's cache, which is 12 hours long by default; the token must be allowed to read it."""
        found = set[str]()
        async with self._asked("GET", self._cache(str(int(since.timestamp()))), again=_ASK_AGAIN) as answer:
            async for line in answer.aiter_lines():
                with suppress(ValidationError):
                    cached = _Cached.model_validate_json(line)
                    found |= {cached.sequence_id} if cached.event == "message" else set()
        return lambda message: message.sequence in found

    async def check(self) -> str:
        """Ask for the service's health, and whether it lists what it has."""
        async with self._asked("GET", f"{self._base_url.rstrip('/')}/v1/health") as answer:
            _ = await answer.aread()
        try:
            async with self._asked("GET", self._cache("none")) as answer:
                _ = await answer.aread()
        except DeliveryFailed as error:
            return f"{_UNREADABLE} {error}"
        return ""

    def _cache(self, since: str) -> str:
        return f"{self._base_url.rstrip('/')}/{quote(self._topic, safe='')}/json?poll=1&since={since}"

    @asynccontextmanager
    async def _asked(
        self,
        method: str,
        url: str,
        body: Mapping[str, object] | None = None,
        again: frozenset[HTTPStatus] = _TRY_AGAIN,
    ) -> AsyncGenerator[Answer]:
        """Yield a successful answer, whose body has not been read; raise `DeliveryFailed` for any other."""
        try:
            async with self._service.answer(method, url, json=body, headers=self._headers) as answer:
                if answer.is_success:
                    yield answer
        except NoAnswer as error:
            raise DeliveryFailed(str(error), permanent=False, refused=False) from None
        if not answer.is_success:
            status = answer.status_code
            permanent, refused = answer.is_client_error and status not in again, not answer.is_server_error
            raise DeliveryFailed(f"The push service answered {status}.", permanent=permanent, refused=refused)


def _cut(text: str, maximum: int) -> str:
    return text.encode()[:maximum].decode(errors="ignore")
