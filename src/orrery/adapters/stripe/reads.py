"""The owner's reads, over Stripe."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from orrery.adapters.stripe.connection import StripeConnection, created_since
from orrery.adapters.stripe.objects import Page, Session
from orrery.adapters.stripe.payments import (
    CHARGE_EVENTS,
    BalanceObject,
    ChargeEventObject,
    ChargeObject,
    CustomerObject,
    PriceObject,
    ReviewObject,
)
from orrery.adapters.stripe.settings import (
    AccountObject,
    ConfigurationObject,
    EventObject,
    ValueListItem,
    ValueListObject,
)
from orrery.ports.processor import (
    Balance,
    Charge,
    ChargeEvent,
    CheckoutSession,
    Configuration,
    Customer,
    EventSummary,
    ItemUnreadable,
    ListEntry,
    Price,
    ProcessorAccount,
    Review,
    Unneeded,
    ValueList,
)


class StripeReads:
    """The port `ProcessorReads` over Stripe's API."""

    def __init__(self, connection: StripeConnection) -> None:
        self._connection = connection

    def page_of_payment(self, payment_intent: str, *, livemode: bool) -> str | None:
        """Return the address at which the owner sees a payment in a browser, or None at a stand-in."""
        if not self._connection.is_vendors_own:
            return None
        return f"https://dashboard.stripe.com/{'' if livemode else 'test/'}payments/{payment_intent}"

    def list_sessions(
        self, since: datetime | None = None, *, payment_intent: str | None = None
    ) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield sessions in any state, with prices: those created since, or the one of a payment."""
        query: dict[str, Any] = {"expand": ["data.line_items"], **created_since(since)}
        if payment_intent:
            query["payment_intent"] = payment_intent
        return self._connection.pages(
            lambda client, asked: client.v1.checkout.sessions.list(asked), query, Page[Session], Session.to_value
        )

    async def get_session(self, session_id: str) -> CheckoutSession:
        """Return one session with its line items' prices."""
        found = await self._connection.call(
            lambda client: client.v1.checkout.sessions.retrieve(session_id, {"expand": ["line_items"]}), Session
        )
        return found.to_value()

    def list_charges(self, since: datetime) -> AsyncIterator[Charge | ItemUnreadable]:
        """Yield every charge created at or after `since`, newest first."""
        return self._connection.pages(
            lambda client, asked: client.v1.charges.list(asked),
            created_since(since),
            Page[ChargeObject],
            ChargeObject.to_value,
        )

    def list_customers(
        self, email: str | None = None, *, since: datetime | None = None
    ) -> AsyncIterator[Customer | ItemUnreadable]:
        """Yield buyer records: all, or those of an address, which the processor compares exactly."""
        query = created_since(since) | ({"email": email} if email else {})
        return self._connection.pages(
            lambda client, asked: client.v1.customers.list(asked),
            query,
            Page[CustomerObject],
            CustomerObject.to_value,
        )

    def list_reviews(self, since: datetime | None = None) -> AsyncIterator[Review | ItemUnreadable]:
        return self._connection.pages(
            lambda client, asked: client.v1.reviews.list(asked),
            created_since(since),
            Page[ReviewObject],
            ReviewObject.to_value,
        )

    async def get_balance(self) -> Balance:
        found = await self._connection.call(lambda client: client.v1.balance.retrieve(), BalanceObject)
        return found.to_value()

    async def get_account(self) -> ProcessorAccount:
        """Return the account that the key belongs to."""
        found = await self._connection.call(lambda client: client.v1.accounts.retrieve_current(), AccountObject)
        return found.to_value()

    def list_configurations(self) -> AsyncIterator[Configuration | ItemUnreadable]:
        """Yield the payment method configurations."""
        return self._connection.pages(
            lambda client, asked: client.v1.payment_method_configurations.list(asked),
            {},
            Page[ConfigurationObject],
            ConfigurationObject.to_value,
        )

    def list_prices(
        self, *, active: bool | None = None, since: datetime | None = None
    ) -> AsyncIterator[Price | ItemUnreadable]:
        query = created_since(since) | ({} if active is None else {"active": active})
        return self._connection.pages(
            lambda client, asked: client.v1.prices.list(asked), query, Page[PriceObject], PriceObject.to_value
        )

    async def first_active_price(self) -> Price | None:
        """Return one active price, or None (`GET /v1/prices?limit=1&active=true`)."""
        found = await self._connection.call(
            lambda client: client.v1.prices.list({"limit": 1, "active": True}), Page[PriceObject]
        )
        price = next(iter(found.items()), None)
        if isinstance(price, ItemUnreadable):
            raise price
        return price.to_value() if price else None

    def list_value_lists(self, since: datetime | None = None) -> AsyncIterator[ValueList | ItemUnreadable]:
        """Yield the fraud screening's lists."""
        return self._connection.pages(
            lambda client, asked: client.v1.radar.value_lists.list(asked),
            created_since(since),
            Page[ValueListObject],
            ValueListObject.to_value,
        )

    def list_entries(
        self, list_id: str, value: str | None = None, *, since: datetime | None = None
    ) -> AsyncIterator[ListEntry | ItemUnreadable]:
        """Yield the entries of a list: all, or those with this value."""
        query = {"value_list": list_id} | created_since(since) | ({} if value is None else {"value": value})
        return self._connection.pages(
            lambda client, asked: client.v1.radar.value_list_items.list(asked),
            query,
            Page[ValueListItem],
            ValueListItem.to_value,
        )

    def list_events(
        self, since: datetime | None = None, *, undelivered: bool = False
    ) -> AsyncIterator[EventSummary | ItemUnreadable]:
        """Yield the events of the last 30 days at most, or those with a delivery that was not accepted."""
        query = created_since(since) | ({"delivery_success": False} if undelivered else {})
        return self._connection.pages(
            lambda client, asked: client.v1.events.list(asked), query, Page[EventObject], EventObject.to_value
        )

    def list_charge_events(self, since: datetime) -> AsyncIterator[ChargeEvent | ItemUnreadable]:
        """Yield refunds, and disputes opened and closed, of at most 30 days, whatever the charge's age."""
        query: dict[str, Any] = {"types": list(CHARGE_EVENTS), **created_since(since)}
        return self._connection.pages(
            lambda client, asked: client.v1.events.list(asked),
            query,
            Page[ChargeEventObject],
            ChargeEventObject.to_value,
        )

    async def get_event(self, event_id: str) -> bytes:
        """Return one event as its webhook's body would be."""
        text = await self._connection.text(lambda client: client.v1.events.retrieve(event_id))
        return text.encode()

    async def first_unneeded(self, kind: Unneeded) -> None:
        """Ask for one object of a kind that Orrery does not need; the answer is ignored."""
        match kind:
            case "invoices":
                _ = await self._connection.text(lambda client: client.v1.invoices.list({"limit": 1}))
            case "payouts":
                _ = await self._connection.text(lambda client: client.v1.payouts.list({"limit": 1}))
            case "subscriptions":
                _ = await self._connection.text(lambda client: client.v1.subscriptions.list({"limit": 1}))
