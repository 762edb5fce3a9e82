"""Lists of the processor's, of which a test expects that every object can be read."""

from collections.abc import AsyncIterator
from typing import TypeVar

from orrery.ports.processor import split_unreadable
from orrery.ports.processor.errors import ItemUnreadable

Item = TypeVar("Item")


async def gathered(found: AsyncIterator[Item | ItemUnreadable]) -> list[Item]:
    """Return everything in a list, in which nothing may be unreadable."""
    items, unreadable = split_unreadable([one async for one in found])
    assert unreadable == []
    return items
