"""A processor that answers as a test tells it to: an adapter of the port."""

import asyncio
from collections.abc import AsyncIterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from orrery.errors import OrreryError
from orrery.ports.processor import (
    Charge,
    ChargeEvent,
    CheckoutSession,
    Parameters,
    ProcessorAccount,
    ProcessorReads,
    WebhookEndpoint,
)
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused
from tests.support.clock import ManualClock


@dataclass(frozen=True, slots=True)
class Call:
    """One request for a session."""

    parameters: Parameters
    idempotency_key: str
    deadline: float
    api_version: str | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error that comes after `seconds`."""

    error: OrreryError
    seconds: float = 0


@dataclass(slots=True)
class ScriptedProcessor:
    """Keeps what it is asked; `troubles` come first, one a request, then sessions, one for each key.

    While it is `away`, it tells nothing of a session; with `answering` it takes its time.
    """

    clock: ManualClock
    troubles: list[Trouble] = field(default_factory=list[Trouble])
    calls: list[Call] = field(default_factory=list[Call])
    created: dict[str, CheckoutSession] = field(default_factory=dict[str, CheckoutSession])
    sessions: list[CheckoutSession] = field(default_factory=list[CheckoutSession])
    charges: list[Charge] = field(default_factory=list[Charge])
    charge_events: list[ChargeEvent] = field(default_factory=list[ChargeEvent])
    """Refunds and disputes, the oldest first."""
    unreadable: list[ItemUnreadable] = field(default_factory=list[ItemUnreadable])
    """What comes first in each list, and when it is asked for by its id."""
    asked_for: list[str] = field(default_factory=list[str])
    payments_asked_for: list[str] = field(default_factory=list[str])
    away: OrreryError | None = None
    answering: asyncio.Event | None = None
    expired_since: list[datetime] = field(default_factory=list[datetime])
    account: ProcessorAccount = field(default_factory=lambda: ProcessorAccount("acct_tests", "nzd", "NZ"))
    endpoints: list[WebhookEndpoint | ItemUnreadable] = field(
        default_factory=list["WebhookEndpoint | ItemUnreadable"]
    )
    url: str | None = "https://pay.example/1"
    answers_with: dict[str, Any] = field(default_factory=dict[str, Any])
    """Other fields of the sessions that are created."""

    async def create_session(
        self, parameters: Parameters, *, idempotency_key: str, deadline: float, api_version: str | None = None
    ) -> CheckoutSession:
        """Return the session of that key, or the trouble that is next."""
        self.calls.append(Call(deepcopy(parameters), idempotency_key, deadline, api_version))
        if self.troubles:
            trouble = self.troubles.pop(0)
            self.clock.advance(trouble.seconds)
            raise trouble.error
        return self.created.setdefault(idempotency_key, self._new(parameters))

    async def get_session(self, session_id: str) -> CheckoutSession:
        """Return one of the sessions, once `answering` is set; or raise why the processor is `away`."""
        self.asked_for.append(session_id)
        if self.answering:
            await self.answering.wait()
        if self.away:
            raise self.away
        for one in self.unreadable:
            if one.item_id == session_id:
                raise one
        for session in self.sessions:
            if session.id == session_id:
                return session
        raise ProcessorRefused("No such session.", status=404)

    async def list_completed_sessions(self, since: datetime) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield the completed sessions created since."""
        for one in self.unreadable:
            if one.kind == "checkout.session":
                yield one
        for session in self.sessions:
            if session.status == "complete" and session.created >= since:
                yield session

    async def list_expired_sessions(self, since: datetime) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield the expired sessions created since, and keep how far back was asked."""
        self.expired_since.append(since)
        for one in self.unreadable:
            if one.kind == "expired session":
                yield one
        for session in self.sessions:
            if session.status == "expired" and session.created >= since:
                yield session

    async def list_charges_of(self, payment_intent: str) -> AsyncIterator[Charge | ItemUnreadable]:
        """Yield the charges of one payment."""
        self.payments_asked_for.append(payment_intent)
        for one in self.unreadable:
            if one.kind == "charge":
                yield one
        for charge in self.charges:
            if charge.payment_intent == payment_intent:
                yield charge

    async def list_charges(self, since: datetime) -> AsyncIterator[Charge | ItemUnreadable]:
        """Yield the charges created since."""
        for one in self.unreadable:
            if one.kind == "charge":
                yield one
        for charge in self.charges:
            if charge.created >= since:
                yield charge

    async def get_account(self) -> ProcessorAccount:
        """Return the account, or the trouble that is next."""
        if self.troubles:
            raise self.troubles.pop(0).error
        return self.account

    async def list_webhook_endpoints(self) -> AsyncIterator[WebhookEndpoint | ItemUnreadable]:
        """Yield the endpoints."""
        for one in self.endpoints:
            yield one

    def _new(self, parameters: Parameters) -> CheckoutSession:
        metadata = parameters["metadata"]
        assert isinstance(metadata, dict)
        made = CheckoutSession(
            id=f"cs_{len(self.created) + 1}",
            status="open",
            payment_status="unpaid",
            created=self.clock.now(),
            livemode=False,
            url=self.url,
            amount_total=4900,
            currency="usd",
            metadata={name: str(value) for name, value in metadata.items()},
            mode="payment",
            expires_at=self.clock.now() + timedelta(hours=24),
        )
        return replace(made, **self.answers_with)


@dataclass(frozen=True, slots=True)
class ScriptedReads(ProcessorReads):
    """What the same processor tells of sessions and charges, and of what became of these for 30 days."""

    of: ScriptedProcessor

    async def list_sessions(
        self, since: datetime | None = None, *, payment_intent: str | None = None
    ) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield the sessions of a payment."""
        self.of.payments_asked_for.append(payment_intent or "")
        for session in self.of.sessions:
            if session.payment_intent == payment_intent and (since is None or session.created >= since):
                yield session

    async def list_charges(self, since: datetime) -> AsyncIterator[Charge | ItemUnreadable]:
        """Yield the charges created since."""
        async for charge in self.of.list_charges(since):
            yield charge

    async def list_charge_events(self, since: datetime) -> AsyncIterator[ChargeEvent | ItemUnreadable]:
        """Yield refunds and disputes, the newest first."""
        for one in self.of.unreadable:
            if one.kind == "dispute":
                yield one
        kept = max(since, self.of.clock.now() - timedelta(days=30))
        for event in reversed(self.of.charge_events):
            if event.created >= kept:
                yield event
