"""The HTTP client of the owner's commands for the service that runs on this machine."""

import asyncio
from typing import Annotated

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orrery.bounded import BOUNDED

SECONDS = 5.0
"""How long one question may take."""

Fingerprint = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]


class RunningSecrets(BaseModel):
    """The fingerprints of the running service's secrets, null for a missing one, and the id of their key."""

    model_config = ConfigDict(frozen=True)

    keyed_by: Fingerprint
    secrets: dict[str, Fingerprint | None]


class Refusal(BaseModel):
    """An error as every operation answers it."""

    status: int = 0
    error: str = ""
    message: str = ""


class RunningService:
    """Asks the two listeners. None means that no service of ours answers there."""

    def __init__(self, public_url: str, private_url: str) -> None:
        self._public = public_url
        self._private = private_url

    async def held_secrets(self) -> RunningSecrets | None:
        """Return the fingerprints of the service's secrets."""
        answer = await self._ask("GET", f"{self._private}/secrets")
        try:
            return RunningSecrets.model_validate_json(answer.content) if answer is not None else None
        except ValidationError:
            return None

    async def deliver(self, path: str, body: bytes, signature: str) -> Refusal | None:
        """Post a body to the webhook as the processor does, and return how it was refused."""
        headers = {"Content-Type": "application/json", "Stripe-Signature": signature}
        answer = await self._ask("POST", self._public + path, body, headers)
        if answer is None:
            return None
        try:
            return Refusal.model_validate_json(answer.content).model_copy(update={"status": answer.status_code})
        except ValidationError:
            return Refusal(status=answer.status_code)

    async def _ask(
        self, method: str, url: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> httpx2.Response | None:
        try:
            # A proxy of the environment is not on the way to this machine.
            async with (
                asyncio.timeout(SECONDS),
                httpx2.AsyncClient(event_hooks=BOUNDED, timeout=SECONDS, trust_env=False) as client,
            ):
                return await client.request(method, url, content=body, headers=headers)
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError):
            return None
