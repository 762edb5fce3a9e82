"""Orrery's three public operations, as an outside site calls them: over HTTP, each with a deadline."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from http import HTTPStatus
from typing import Literal

import httpx2
import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from orrery.sandbox.site.config import SiteConfig, SiteProduct

CHECKOUT_DEADLINE = 15.0
"""Seconds that the site waits for a checkout, which takes Orrery at most 10."""

_log = structlog.get_logger()


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Session(_Answer):
    """A started checkout: `url` is the hosted payment page."""

    id: str
    url: str


class Problem(_Answer):
    """Why the checkout operation said no: `message` is one sentence for the visitor."""

    error: str
    message: str


class Access(_Answer):
    """The state of a session: not completed, payment outstanding, access open or ended, or payment failed."""

    state: Literal["open", "pending", "granted", "ended", "failed"]
    expires_at: datetime | None


class Check(_Answer):
    """Whether a visitor may practise now."""

    granted: bool
    expires_at: datetime | None


class Unreachable(Exception):
    """Orrery gave no answer that the site understands."""


class Refused(Exception):
    """The checkout operation said no, with this status and perhaps a `Retry-After`."""

    def __init__(self, status: int, problem: Problem, retry_after: str | None) -> None:
        super().__init__(problem.message)
        self.status = status
        self.message = problem.message
        self.headers = {"Retry-After": retry_after} if retry_after else {}


class Operations:
    """The three public operations. Each raises `Unreachable` when there is no usable answer."""

    def __init__(self, config: SiteConfig, transport: httpx2.AsyncBaseTransport | None) -> None:
        self._deadline = config.access_deadline
        self._bearer = {"Authorization": f"Bearer {config.service_token}"}
        # No connection outlives its call, so nothing is left to close. `_answer_within` is the one deadline.
        self._http = httpx2.AsyncClient(
            base_url=config.base_url,
            transport=transport,
            timeout=None,
            limits=httpx2.Limits(max_keepalive_connections=0),
            trust_env=False,
        )

    async def start_checkout(self, product: SiteProduct, key: str) -> Session:
        """Start a checkout under an idempotency key, or raise `Refused`."""
        body = {"productType": "cert", "certCode": product.cert_code, "vendorSlug": product.vendor_slug}
        async with _answer_within(CHECKOUT_DEADLINE):
            answer = await self._http.post("/guided/api/checkout", json=body, headers={"Idempotency-Key": key})
            if answer.is_success:
                return Session.model_validate_json(answer.content)
            problem = Problem.model_validate_json(answer.content)
        raise Refused(answer.status_code, problem, answer.headers.get("Retry-After"))

    async def read_access(self, session_id: str) -> Access | None:
        """Return the access of a session, or None when Orrery does not know the session."""
        async with _answer_within(self._deadline):
            answer = await self._http.get(f"/guided/api/access/{session_id}")
            if answer.status_code == HTTPStatus.NOT_FOUND:
                return None
            return Access.model_validate_json(answer.raise_for_status().content)

    async def check_access(self, session_id: str, product: SiteProduct) -> Check:
        """Ask whether the buyer of a session may practise for a product."""
        body = {"sessionId": session_id, "certCode": product.cert_code, "vendorSlug": product.vendor_slug}
        async with _answer_within(self._deadline):
            answer = await self._http.post("/guided/api/access/check", json=body, headers=self._bearer)
            return Check.model_validate_json(answer.raise_for_status().content)


@asynccontextmanager
async def _answer_within(seconds: float) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except (httpx2.HTTPError, TimeoutError, ValidationError) as error:
        _log.warning("site-got-no-answer", reason=type(error).__name__)
        raise Unreachable from error
