"""The processor as a test steers it: one account, as an adapter of the three ports, with what goes wrong next."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from anyio.lowlevel import checkpoint

from orrery.errors import OrreryError
from orrery.ports.processor import (
    Charge,
    ChargeEvent,
    CheckoutSession,
    EventSummary,
    Parameter,
    Parameters,
    Price,
    ProcessorAccount,
    WebhookEndpoint,
)
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused, ProcessorUnreachable
from tests.support.clock import ManualClock
from tests.support.killed import Fuse

T = TypeVar("T", CheckoutSession, Charge, ChargeEvent, EventSummary)


@dataclass(frozen=True, slots=True)
class Call:
    """One request for a session."""

    parameters: Parameters
    idempotency_key: str
    deadline: float
    api_version: str | None = None


@dataclass
class ScriptedProcessor:
    """An account that keeps what it is asked, and what goes wrong with the next calls.

    `before` and `after` are raised, one a call, before a call is carried out and after it, by operation: `create`,
    `read`, `expire`, `price`. Each that is raised `takes` these seconds. `refusals` are for prices. While it is
    `away`, it tells nothing of a session; with `answering` it takes its time.
    """

    clock: ManualClock
    livemode: bool = False
    fuse: Fuse = field(default_factory=Fuse)
    sessions: dict[str, CheckoutSession] = field(default_factory=dict[str, CheckoutSession])
    created: dict[str, CheckoutSession] = field(default_factory=dict[str, CheckoutSession])
    """What was made under each key, as it was then."""
    calls: list[Call] = field(default_factory=list[Call])
    charges: list[Charge] = field(default_factory=list[Charge])
    charge_events: list[ChargeEvent] = field(default_factory=list[ChargeEvent])
    """Refunds and disputes, the oldest first."""
    unreadable: list[ItemUnreadable] = field(default_factory=list[ItemUnreadable])
    """What comes first in each list, and when it is asked for by its id."""
    asked_for: list[str] = field(default_factory=list[str])
    payments_asked_for: list[str] = field(default_factory=list[str])
    events: list[EventSummary] = field(default_factory=list[EventSummary])
    """What happened, the newest first."""
    bodies: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """The events as they are fetched."""
    expiries: list[str] = field(default_factory=list[str])
    expired_since: list[datetime] = field(default_factory=list[datetime])
    before: dict[str, list[Exception]] = field(default_factory=lambda: defaultdict[str, list[Exception]](list))
    after: dict[str, list[Exception]] = field(default_factory=lambda: defaultdict[str, list[Exception]](list))
    takes: float = 0
    refusals: dict[str, ProcessorRefused] = field(default_factory=dict[str, ProcessorRefused])
    away: OrreryError | None = None
    answering: asyncio.Event | None = None
    making: asyncio.Event | None = None
    """Until it is set, sessions are under way, and a key of one is in use."""
    in_use: set[str] = field(default_factory=set[str])
    active_price: Price | None = None
    account: ProcessorAccount = field(default_factory=lambda: ProcessorAccount("acct_tests", "nzd", "NZ"))
    endpoints: list[WebhookEndpoint | ItemUnreadable] = field(
        default_factory=list["WebhookEndpoint | ItemUnreadable"]
    )
    makes: dict[str, Any] = field(default_factory=dict[str, Any])
    """Other fields of the sessions that are made."""

    def add(self, *sessions: CheckoutSession) -> None:
        """Let these sessions be there, in the place of those with their ids."""
        self.sessions |= {one.id: one for one in sessions}

    @property
    def asked(self) -> list[tuple[Parameters, str | None]]:
        """Return what was asked for, and in which version."""
        return [(call.parameters, call.api_version) for call in self.calls]

    def open(self) -> list[str]:
        """Return the sessions that can be paid."""
        return [one.id for one in self.sessions.values() if one.status == "open"]

    async def create_session(
        self, parameters: Parameters, *, idempotency_key: str, deadline: float, api_version: str | None = None
    ) -> CheckoutSession:
        """Make a session, or return the one that was made under the key, as it was then."""
        assert deadline > 0
        await checkpoint()
        self.calls.append(Call(deepcopy(parameters), idempotency_key, deadline, api_version))
        if idempotency_key in self.in_use:
            raise ProcessorUnreachable("The processor answered 409.", same_key=True, status=409)
        if self.making:
            self.in_use.add(idempotency_key)
            await self.making.wait()
            self.in_use.discard(idempotency_key)
        self._meet(self.before, "create")
        if refusal := self.refusals.get(str(_at(parameters, "line_items", 0, "price"))):
            raise refusal
        if idempotency_key not in self.created:
            self.created[idempotency_key] = made = self._made(parameters)
            self.add(made)
        sent = {str(call.parameters) for call in self.calls if call.idempotency_key == idempotency_key}
        assert sent == {str(parameters)}, "other parameters under a used key"
        self._meet(self.after, "create")
        return self.created[idempotency_key]

    async def get_session(self, session_id: str) -> CheckoutSession:
        """Return a session as it is, once `answering` is set; or raise why the processor is `away`."""
        self.asked_for.append(session_id)
        if self.answering:
            await self.answering.wait()
        self._meet(self.before, "read")
        if self.away:
            raise self.away
        for one in self.unreadable:
            if one.item_id == session_id:
                raise one
        if session_id not in self.sessions:
            raise ProcessorRefused("No such session.", status=404)
        return self.sessions[session_id]

    async def expire_session(self, session_id: str, *, idempotency_key: str) -> CheckoutSession:
        """Expire an open session."""
        assert idempotency_key
        await checkpoint()
        self._meet(self.before, "expire")
        session = self.sessions[session_id]
        if session.status != "open":
            raise ProcessorRefused("Only open sessions can be expired.", status=400)
        self.expiries.append(session_id)
        self.add(replace(session, status="expired", url=None))
        self._meet(self.after, "expire")
        return self.sessions[session_id]

    async def first_active_price(self) -> Price | None:
        """Return the price that a test has put there."""
        self._meet(self.before, "price")
        return self.active_price

    async def list_prices(self, *, active: bool | None = None) -> AsyncIterator[Price | ItemUnreadable]:
        """Yield what cannot be read, and the price that a test has put there."""
        assert active
        self._meet(self.before, "price")
        for one in (*self.unreadable, self.active_price):
            if one:
                yield one

    def page_of_payment(self, payment_intent: str, *, livemode: bool) -> str:
        """Return the address of a payment's page, whatever its mode."""
        assert livemode == self.livemode
        return f"https://processor.example/payments/{payment_intent}"

    async def list_sessions(
        self, since: datetime | None = None, *, payment_intent: str | None = None
    ) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield the sessions, the newest first, behind what cannot be read; or those of a payment."""
        if payment_intent is not None:
            self.payments_asked_for.append(payment_intent)
            found = [one for one in self.sessions.values() if one.payment_intent == payment_intent]
        else:
            found = sorted(self.sessions.values(), key=lambda one: one.created, reverse=True)
        async for one in self._listed("" if payment_intent else "checkout.session", found, since):
            yield one

    async def list_completed_sessions(self, since: datetime) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield the completed sessions created since."""
        async for one in self._listed("checkout.session", self._with_status("complete"), since):
            yield one

    async def list_expired_sessions(self, since: datetime) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield the expired sessions created since, and keep how far back was asked."""
        self.expired_since.append(since)
        async for one in self._listed("expired session", self._with_status("expired"), since):
            yield one

    async def list_charges_of(self, payment_intent: str) -> AsyncIterator[Charge | ItemUnreadable]:
        """Yield the charges of one payment."""
        self.payments_asked_for.append(payment_intent)
        async for one in self._listed(
            "charge", [one for one in self.charges if one.payment_intent == payment_intent], None
        ):
            yield one

    async def list_charges(self, since: datetime) -> AsyncIterator[Charge | ItemUnreadable]:
        """Yield the charges created since."""
        async for one in self._listed("charge", self.charges, since):
            yield one

    async def list_charge_events(self, since: datetime) -> AsyncIterator[ChargeEvent | ItemUnreadable]:
        """Yield refunds and disputes of 30 days at most, the newest first."""
        kept = max(since, self.clock.now() - timedelta(days=30))
        async for one in self._listed("dispute", self.charge_events[::-1], kept):
            yield one

    async def get_account(self) -> ProcessorAccount:
        """Return the account."""
        return self.account

    async def list_webhook_endpoints(self) -> AsyncIterator[WebhookEndpoint | ItemUnreadable]:
        """Yield the endpoints."""
        for one in self.endpoints:
            yield one

    async def list_events(
        self, since: datetime | None = None, *, undelivered: bool = False
    ) -> AsyncIterator[EventSummary | ItemUnreadable]:
        """Yield the events created since, or of these the ones with a delivery that was not accepted."""
        if self.away:
            raise self.away
        wanted = [one for one in self.events if one.pending or not undelivered]
        async for one in self._listed("event", wanted, since):
            yield one

    async def get_event(self, event_id: str) -> bytes:
        """Return the body of an event."""
        if self.away:
            raise self.away
        if event_id not in self.bodies:
            raise ProcessorRefused("No such event.", status=404)
        return self.bodies[event_id]

    def _with_status(self, status: str) -> list[CheckoutSession]:
        return [one for one in self.sessions.values() if one.status == status]

    async def _listed(
        self, kind: str, items: Iterable[T], since: datetime | None
    ) -> AsyncIterator[T | ItemUnreadable]:
        for odd in self.unreadable:
            if odd.kind == kind:
                yield odd
        for one in items:
            if since is None or one.created >= since:
                yield one

    def _meet(self, troubles: dict[str, list[Exception]], operation: str) -> None:
        self.fuse.burn()
        if troubles.get(operation):
            self.clock.advance(self.takes)
            raise troubles[operation].pop(0)

    def _made(self, parameters: Parameters) -> CheckoutSession:
        metadata = parameters["metadata"]
        assert isinstance(metadata, dict)
        methods = parameters["payment_method_types"]
        assert isinstance(methods, list)
        number = len(self.created) + 1
        made = CheckoutSession(
            id=f"cs_{number}",
            status="open",
            payment_status="unpaid",
            created=self.clock.now(),
            livemode=self.livemode,
            url=f"https://pay.example/{number}",
            amount_total=4900,
            currency="usd",
            metadata={name: str(value) for name, value in metadata.items()},
            price_ids=(str(_at(parameters, "line_items", 0, "price")),),
            quantities=(1,),
            mode="payment",
            payment_method_types=tuple(map(str, methods)),
            three_d_secure=str(_at(parameters, "payment_method_options", "card", "request_three_d_secure")),
            submit_message=str(_at(parameters, "custom_text", "submit", "message")),
            success_url=str(parameters["success_url"]),
            cancel_url=str(parameters["cancel_url"]),
            expires_at=self.clock.now() + timedelta(hours=24),
        )
        return replace(made, **self.makes)


def _at(value: Parameter, *path: str | int) -> Parameter:
    for step in path:
        if isinstance(step, int):
            assert isinstance(value, list)
            value = value[step]
        else:
            assert isinstance(value, dict)
            value = value[step]
    return value
