"""The lists of the processor's fraud screening, which are found by their exact alias."""

from orrery.errors import NotFound
from orrery.ports.processor import ProcessorReads, ValueList, split_unreadable
from orrery.ports.processor.errors import ItemUnreadable


async def value_lists(reads: ProcessorReads) -> list[ValueList | ItemUnreadable]:
    """Return every list of the account, by alias, then why some cannot be read."""
    found, unread = split_unreadable([one async for one in reads.list_value_lists()])
    found.sort(key=lambda one: one.alias)
    return [*found, *unread]


async def by_alias(reads: ProcessorReads, alias: str) -> ValueList:
    """Return any list; raise `NotFound`, or `ItemUnreadable` where it may be one that cannot be read."""
    found, unread = split_unreadable(await value_lists(reads))
    for one in found:
        if one.alias == alias:
            return one
    if unread:
        raise unread[0]
    raise NotFound(f"There is no list {alias}; there are: {', '.join(one.alias for one in found) or 'none'}.")
