"""Reads the processor's fraud lists, which are found by their exact alias."""

from orrery.errors import NotConfigured, NotFound
from orrery.fraud.entries import Blocklist, known_address
from orrery.ports.processor import ListEntry, ProcessorReads, ValueList, split_unreadable
from orrery.ports.processor.lists import by_alias
from orrery.syntax.email_address import normal_email


async def blocklist(reads: ProcessorReads, wanted: Blocklist) -> ValueList:
    """Return one of the lists that block; raise `NotConfigured` when it is missing or of another type."""
    try:
        found = await by_alias(reads, wanted.alias)
    except NotFound:
        raise NotConfigured(
            f"The account has no list {wanted.alias}: make it in the processor's dashboard, "
            f"with items of type {wanted.item_type}."
        ) from None
    if found.item_type != wanted.item_type:
        raise NotConfigured(
            f"The list {wanted.alias} holds items of type {found.item_type}, not {wanted.item_type}: "
            "it cannot be used."
        )
    return found


async def entries_with(reads: ProcessorReads, list_id: str, value: str) -> list[ListEntry]:
    """Return the entries of a list with this value: the processor may answer similar ones.

    An IPv6 address is compared with the whole list: it may be there in another spelling. Raises `ItemUnreadable`
    when no readable entry has it, but an unreadable one might.
    """
    asked = None if ":" in value else value
    found, unread = split_unreadable([one async for one in reads.list_entries(list_id, asked)])
    same = [one for one in found if same_value(one.value, value)]
    if unread and not same:
        raise unread[0]
    return same


def same_value(listed: str, value: str) -> bool:
    """Return whether two values are equal; the spelling of e-mail and IPv6 addresses does not count."""
    if ":" in value and (address := known_address(value)):
        return known_address(listed) == address
    return listed == value or ("@" in value and normal_email(listed) == normal_email(value))
