"""`orrery processor`: what a row shows, and what is refused before anybody is asked."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from orrery.account.cli import processor, processor_rows
from orrery.errors import Invalid, NotFound
from orrery.ports.processor import (
    BRANDING,
    Balance,
    Charge,
    CheckoutSession,
    Customer,
    EventSummary,
    ListEntry,
    Price,
    ProcessorAccount,
    ProcessorReads,
    Review,
    ValueList,
)
from orrery.runtime.console.runner import Runner
from tests.account.one_account import configuration
from tests.support.items import gathered
from tests.support.tables import each_case


class NobodyAsked(Runner):
    """A runner that has no service."""


NO_PERSON = NobodyAsked()  # pyright: ignore[reportAbstractUsage]  what is refused asks nobody


AT = datetime(2026, 11, 21, 12, tzinfo=UTC)


def charge(**other: object) -> Charge:
    """Return a paid charge, with other fields where given."""
    fields: dict[str, object] = {
        "payment_intent": "pi_1",
        "amount": 4900,
        "amount_refunded": 0,
        "currency": "usd",
        "paid": True,
        "disputed": False,
        "status": "succeeded",
    }
    return Charge("ch_1", AT, **(fields | other))  # pyright: ignore[reportArgumentType]  any field of a charge


@each_case(
    ("other", "state"),
    [
        ({}, "succeeded"),
        ({"status": "failed"}, "failed"),
        ({"amount_refunded": 900}, "partly refunded"),
        ({"amount_refunded": 4900}, "refunded"),
        ({"disputed": True, "amount_refunded": 4900}, "disputed"),
    ],
)
def test_the_state_of_a_charge(other: dict[str, object], state: str) -> None:
    """A row tells a dispute before a refund, and a refund before what the charge was."""
    assert processor_rows.charge(charge(**other))["state"] == state


@pytest.mark.parametrize(
    ("amount", "currency", "words"),
    [(4900, "usd", "49.00 USD"), (4900, "jpy", "4900 JPY"), (4900, "kwd", "4.900 KWD"), (5, "eur", "0.05 EUR")],
)
def test_amounts_in_words(amount: int, currency: str, words: str) -> None:
    """Amounts are told with their currency, by its own smallest unit, for charges, prices and sessions alike."""
    session = CheckoutSession("cs_1", "open", "unpaid", AT, livemode=False, amount_total=amount, currency=currency)
    assert processor_rows.charge(charge(amount=amount, currency=currency))["price"] == words
    assert processor_rows.session(session)["price"] == words
    assert processor_rows.price(Price("price_1", True, amount, currency, None))["price"] == words  # noqa: FBT003  the fields of a price


def test_the_balance_by_currency() -> None:
    """A currency has a row where anything of it is available or pending; a debt is negative."""
    found = processor_rows.balance(Balance({"nzd": -250}, {"nzd": 100, "jpy": 7}))
    assert found == [
        {"currency": "jpy", "available": 0, "pending": 7},
        {"currency": "nzd", "available": -250, "pending": 100},
    ]
    assert [tuple(processor_rows.in_words(row).values()) for row in found] == [
        ("JPY", "0 JPY", "7 JPY"),
        ("NZD", "-2.50 NZD", "1.00 NZD"),
    ]


LISTED = {
    processor_rows.SESSIONS: CheckoutSession("cs_1", "open", "unpaid", AT, livemode=False),
    processor_rows.CHARGES: charge(),
    processor_rows.CUSTOMERS: Customer("cus_1", AT, None, None),
    processor_rows.REVIEWS: Review("prv_1", AT, True, "rule", None, None, None),  # noqa: FBT003  the fields of a review
    processor_rows.CONFIGURATIONS: configuration(),
    processor_rows.PRICES: Price("price_1", True, 1, "usd", None),  # noqa: FBT003  the fields of a price
    processor_rows.VALUE_LISTS: ValueList("rsl_1", "email_blocklist", "E-mail", "email"),
    processor_rows.EVENTS: EventSummary("evt_1", "charge.failed", AT, None, 0, None),
}


@each_case(("listed", "one"), LISTED.items())
def test_every_column_has_a_value(listed: processor_rows.ObjectList[object], one: object) -> None:
    """What a person sees is in the row: no column is empty by a typing error."""
    assert set(listed.columns) <= set(listed.row(one))


def test_the_account_has_its_branding() -> None:
    """What buyers see of the account is in its fields."""
    assert set(BRANDING) <= set(processor_rows.account(ProcessorAccount("acct_1", "nzd", "NZ")))


def test_the_columns_of_charges() -> None:
    """A charge shows what the specification asks for: decline, wallet, 3-D Secure, network status."""
    assert {"decline", "wallet", "three_d_secure", "network_status", "risk"} <= set(processor_rows.CHARGES.columns)


class Lists(ProcessorReads):
    """A processor with two lists."""

    async def list_value_lists(self, since: datetime | None = None) -> AsyncIterator[ValueList]:
        """Yield the lists."""
        assert since is None, "a list is older than its entries"
        yield ValueList("rsl_1", "email_blocklist", "E-mail", "email")
        yield ValueList("rsl_2", "card_bin_blocklist", "Banks", "card_bin")

    async def list_entries(
        self, list_id: str, value: str | None = None, *, since: datetime | None = None
    ) -> AsyncIterator[ListEntry]:
        """Yield one entry, of the list that is asked for."""
        del value
        if since is None or since <= AT:
            yield ListEntry("rsli_1", list_id, "400000", AT, "the owner")


async def entries(alias: str, since: datetime | None = None) -> list[ListEntry]:
    """Return the entries of a list."""
    lists = Lists()  # pyright: ignore[reportAbstractUsage]  only its lists are asked for
    return await gathered(processor_rows.entries(lists, alias, since=since))


def test_entries_are_found_by_the_alias() -> None:
    """A list is named by its alias; one that is not there is told with those that are."""
    assert [one.list_id for one in asyncio.run(entries("card_bin_blocklist"))] == ["rsl_2"]
    with pytest.raises(NotFound, match=r"no list nope; there are: card_bin_blocklist, email_blocklist"):
        asyncio.run(entries("nope"))


def test_entries_since() -> None:
    """The entries of a time are those of any list, however old the list is."""
    assert len(asyncio.run(entries("card_bin_blocklist", AT))) == 1
    assert asyncio.run(entries("card_bin_blocklist", AT + timedelta(seconds=1))) == []


@each_case("email", ["", " ", "ann", "ann@example.org,bob@example.org", "\udcff@example.org"])
def test_addresses_that_are_none(email: str) -> None:
    """An empty one would list everybody, and a mistyped one say that there is nobody."""
    with pytest.raises(Invalid, match="not an e-mail address"):
        processor.customers(email, runner=NO_PERSON)


@each_case("session_id", ["", "foo", "cs_", "../charges", "cs_1/expire", "cs_ü", "cs_1?x=1", "cs_1\n"])
def test_ids_that_are_none(session_id: str) -> None:
    """What names no session is refused before the settings are read."""
    with pytest.raises(Invalid, match="Name a session by its reference"):
        processor.session(session_id, runner=NO_PERSON)


@each_case("since", ["", "x", "0d", "-1d", "1w", "30"])
def test_times_that_are_none(since: str) -> None:
    """What is no duration is refused by every list that takes one."""
    commands = (
        processor.sessions,
        processor.charges,
        processor.customers,
        processor.reviews,
        processor.prices,
        processor.value_lists,
        processor.events,
    )
    for command in commands:
        with pytest.raises(Invalid, match="is not a duration"):
            command(since=since, runner=NO_PERSON)


def test_rules_ask_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    """Where the screening's rules live is said without settings, key or network; unit tests open no sockets."""
    processor.screening_rules()
    said = capsys.readouterr().out
    assert "404" in said
    assert "Radar > Rules" in said
