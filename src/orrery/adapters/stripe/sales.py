"""Selling, over Stripe."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from orrery.adapters.stripe.connection import StripeConnection, created_since
from orrery.adapters.stripe.objects import Page, Session
from orrery.adapters.stripe.payments import ChargeObject
from orrery.adapters.stripe.reads import StripeReads
from orrery.adapters.stripe.settings import Endpoint
from orrery.ports.processor import (
    Charge,
    CheckoutSession,
    ItemUnreadable,
    Parameters,
    ProcessorAccount,
    WebhookEndpoint,
)


class StripeProcessor:
    """The port `Processor` over Stripe's API."""

    def __init__(self, connection: StripeConnection) -> None:
        self._connection = connection
        self._reads = StripeReads(connection)

    async def create_session(
        self, parameters: Parameters, *, idempotency_key: str, deadline: float, api_version: str | None = None
    ) -> CheckoutSession:
        """Create a hosted payment session: one call, no repeats."""
        version = api_version or self._connection.api_version
        options: Any = {"idempotency_key": idempotency_key, "stripe_version": version}
        body: Any = parameters
        created = await self._connection.call(
            lambda client: client.v1.checkout.sessions.create(body, options), Session, deadline
        )
        return created.to_value()

    async def get_session(self, session_id: str) -> CheckoutSession:
        """Return one session with its line items' prices."""
        return await self._reads.get_session(session_id)

    def list_completed_sessions(self, since: datetime) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield every completed session created at or after `since`, newest first, with prices."""
        query: dict[str, Any] = {"status": "complete", "expand": ["data.line_items"], **created_since(since)}
        return self._connection.pages(
            lambda client, asked: client.v1.checkout.sessions.list(asked), query, Page[Session], Session.to_value
        )

    def list_expired_sessions(self, since: datetime) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield every expired session created at or after `since`, newest first, without prices."""
        query: dict[str, Any] = {"status": "expired", **created_since(since)}
        return self._connection.pages(
            lambda client, asked: client.v1.checkout.sessions.list(asked), query, Page[Session], Session.to_value
        )

    def list_charges_of(self, payment_intent: str) -> AsyncIterator[Charge | ItemUnreadable]:
        """Yield the charges of one payment, newest first."""
        return self._connection.pages(
            lambda client, asked: client.v1.charges.list(asked),
            {"payment_intent": payment_intent},
            Page[ChargeObject],
            ChargeObject.to_value,
        )

    async def get_account(self) -> ProcessorAccount:
        """Return the account that the key belongs to."""
        return await self._reads.get_account()

    def list_webhook_endpoints(self) -> AsyncIterator[WebhookEndpoint | ItemUnreadable]:
        """Yield the account's webhook endpoints."""
        return self._connection.pages(
            lambda client, asked: client.v1.webhook_endpoints.list(asked), {}, Page[Endpoint], Endpoint.to_value
        )
