"""What is stored of the numbers of sales: see `access/numbering.py`."""

import re

from pydantic import AwareDatetime

from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.record import Code, Record
from orrery.runtime.collection import FOR_EVER, Collection

SALE_NUMBER = re.compile(r"[A-Z0-9]{1,3}-[0-9]{4}-[0-9]{4,}")
"""The number of a sale in a series, such as `NW-2026-0017`."""


class LastNumber(Record):
    """The last number of one series in one year. `confirmed_at` is when the owner named it after a restore."""

    last: int
    confirmed_at: AwareDatetime | None = None


class KnownNumber(Record):
    """The number that a sale had in the store that a restore replaced: it gets no other."""

    number: Code


class NumbersUnknown(Record):
    """When a restore could not show which numbers had been given."""

    since: AwareDatetime


def last_numbers_of(store: Store, clock: Clock) -> Collection[LastNumber]:
    """Return the last numbers, by series and year."""
    return Collection(store, clock, LastNumber, "sale-number-last:", life=FOR_EVER)


def known_numbers_of(store: Store, clock: Clock) -> Collection[KnownNumber]:
    """Return the numbers that a restore took over, by session."""
    return Collection(store, clock, KnownNumber, "sale-number-known:", life=FOR_EVER)


def numbers_unknown_of(store: Store, clock: Clock) -> Collection[NumbersUnknown]:
    """Return the one record of a restore that could not take over the numbers."""
    return Collection(store, clock, NumbersUnknown, "sale-numbers-unknown", life=FOR_EVER)
