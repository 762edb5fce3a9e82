"""The processor's objects as rows: the columns that a person sees, and the further fields for machines."""

from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Generic, TypeVar

from orrery.ports.processor import (
    BRANDING,
    Balance,
    Charge,
    CheckoutSession,
    Configuration,
    Customer,
    EventSummary,
    ItemUnreadable,
    ListEntry,
    Price,
    ProcessorAccount,
    ProcessorReads,
    Review,
    ValueList,
)
from orrery.ports.processor.lists import by_alias
from orrery.runtime.console.tables import Row
from orrery.syntax.money import money

T = TypeVar("T")

BALANCE = ("currency", "available", "pending")


@dataclass(frozen=True, slots=True)
class ObjectList(Generic[T]):
    """How objects of one kind are listed: what they are called, their columns, and the text of an empty list."""

    what: str
    columns: tuple[str, ...]
    empty: str
    row: Callable[[T], Row]


def session(found: CheckoutSession) -> Row:
    """Return a session's row; `price` is the amount as text, `product` is from our metadata."""
    metadata = found.metadata
    product = "/".join(part for part in (metadata.get("vendorSlug"), metadata.get("certCode")) if part) or None
    return asdict(found) | {"price": _money(found.amount_total, found.currency), "product": product}


def charge(found: Charge) -> Row:
    """Return a charge's row; `state` includes refunds and disputes."""
    return asdict(found) | {"price": _money(found.amount, found.currency), "state": _state(found)}


def balance(found: Balance) -> list[Row]:
    """Return a row for each currency; amounts are in its smallest unit."""
    return [
        {"currency": one, "available": found.available.get(one, 0), "pending": found.pending.get(one, 0)}
        for one in sorted({*found.available, *found.pending})
    ]


def in_words(row: Row) -> Row:
    """Return such a row with its amounts for people."""
    currency = str(row["currency"])
    amounts = {name: money(value, currency) for name, value in row.items() if isinstance(value, int)}
    return {**row, **amounts, "currency": currency.upper()}


def account(found: ProcessorAccount) -> Row:
    """Return what buyers see of the account, one field each."""
    row: dict[str, object] = {
        "id": found.id,
        "country": found.country,
        "default_currency": found.default_currency,
    }
    return row | {name: found.branding.get(name) for name in BRANDING}


def configuration(found: Configuration) -> Row:
    """Return a configuration's row; `on` names the methods that are on."""
    return asdict(found) | {"on": ", ".join(found.enabled)}


def price(found: Price) -> Row:
    return asdict(found) | {"price": _money(found.amount, found.currency)}


async def entries(
    reads: ProcessorReads, alias: str, *, since: datetime | None = None
) -> AsyncIterator[ListEntry | ItemUnreadable]:
    """Yield the entries of the list with this alias: all, or those created since; raise `NotFound`."""
    found = await by_alias(reads, alias)
    async for entry in reads.list_entries(found.id, since=since):
        yield entry


def _money(amount: int | None, currency: str | None) -> str | None:
    return None if amount is None or currency is None else money(amount, currency)


def _state(found: Charge) -> str:
    if found.disputed:
        return "disputed"
    if found.amount_refunded:
        return "refunded" if found.amount_refunded >= found.amount else "partly refunded"
    return found.status


SESSIONS: ObjectList[CheckoutSession] = ObjectList(
    "sessions",
    ("created", "status", "payment_status", "price", "product", "email", "payment_intent", "id"),
    "No session in that time.",
    session,
)
CHARGES: ObjectList[Charge] = ObjectList(
    "charges",
    (
        *("created", "state", "price", "decline", "network_status", "risk"),
        *("method", "wallet", "three_d_secure", "email", "id"),
    ),
    "No charge in that time.",
    charge,
)
CUSTOMERS: ObjectList[Customer] = ObjectList(
    "customers", ("created", "email", "name", "id"), "No buyer record.", asdict
)
REVIEWS: ObjectList[Review] = ObjectList(
    "reviews",
    ("created", "reason", "client_address", "charge", "payment_intent", "id"),
    "No review is open.",
    asdict,
)
CONFIGURATIONS: ObjectList[Configuration] = ObjectList(
    "configurations", ("id", "name", "is_default", "active", "parent", "on"), "No configuration.", configuration
)
PRICES: ObjectList[Price] = ObjectList("prices", ("id", "price", "active", "product"), "No price.", price)
VALUE_LISTS: ObjectList[ValueList] = ObjectList("lists", ("alias", "name", "item_type", "id"), "No list.", asdict)
EVENTS: ObjectList[EventSummary] = ObjectList(
    "events",
    ("created", "type", "api_version", "pending", "object_id", "id"),
    "No event in that time.",
    asdict,
)


def entries_of(alias: str) -> ObjectList[ListEntry]:
    return ObjectList("entries", ("value", "created", "created_by", "id"), f"{alias} is empty.", asdict)
