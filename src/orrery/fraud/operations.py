"""The processor's fraud lists: read by their exact alias, changed with the owner's signature (change rule 4).

An intent contains one or two entries. Each is one call; when only the first was made, the outcome reports it.
"""

from collections.abc import Awaitable, Callable, Sequence

from orrery.approvals.approvals import Operation
from orrery.errors import DependencyFailed, NotFound, PartlyDone
from orrery.fraud.entries import Blocklist, known_address
from orrery.fraud.records import EntriesBody, ListedEntry
from orrery.ports.processor import (
    ListEntry,
    ProcessorReads,
    ProcessorRefused,
    ProcessorWrites,
    ValueList,
    split_unreadable,
)
from orrery.ports.processor.lists import by_alias
from orrery.runtime.operations import Intent
from orrery.syntax.email_address import normal_email

BLOCK = "block-entries"
UNBLOCK = "unblock-entries"

EntryChange = Callable[[ListedEntry, str], Awaitable[object]]


def body_of(intent: Intent) -> EntriesBody:
    """Return which entries an intent is about."""
    return EntriesBody.model_validate(intent.body)


_REMAINS = "The processor's fraud lists are not changed by this: see `orrery fraud lists`."


class ListOperations:
    """Adds and removes entries; only an approval calls it."""

    def __init__(self, reads: ProcessorReads, writes: ProcessorWrites) -> None:
        self._reads = reads
        self._writes = writes

    def both(self) -> list[Operation]:
        return [
            Operation(BLOCK, self.block, self.blocked, remains=_REMAINS),
            Operation(UNBLOCK, self.unblock, self.unblocked, remains=_REMAINS),
        ]

    async def block(self, intent: Intent, _target: str) -> str:
        """Add the entries; a repeat of one under its key is answered as the first time."""
        return await _each(intent, self._add, "added to")

    async def unblock(self, intent: Intent, _target: str) -> str:
        """Remove the entries."""
        return await _each(intent, self._remove, "removed from")

    async def blocked(self, intent: Intent, _target: str) -> bool:
        """Return whether every entry is there; raise `PartlyDone` when only one is."""
        entries = body_of(intent).entries
        listed = [bool(await entries_with(self._reads, one.list_id, one.value)) for one in entries]
        return _all_or_none(entries, listed, "is in", "is not in")

    async def unblocked(self, intent: Intent, _target: str) -> bool:
        """Return whether every entry is gone; raise `PartlyDone` when only one is."""
        entries = body_of(intent).entries
        left = [await entries_with(self._reads, one.list_id, one.value) for one in entries]
        gone = [
            one.entry_id not in {found.id for found in there} for one, there in zip(entries, left, strict=True)
        ]
        return _all_or_none(entries, gone, "is no longer in", "is still in")

    async def _add(self, entry: ListedEntry, key: str) -> object:
        return await self._writes.add_entry(entry.list_id, entry.value, idempotency_key=key)

    async def _remove(self, entry: ListedEntry, _key: str) -> None:
        await self._writes.remove_entry(entry.entry_id or "")


async def _each(intent: Intent, change: EntryChange, done: str) -> str:
    """Make one change after the other; a refusal of the first one ends it with nothing changed."""
    entries = body_of(intent).entries
    for number, entry in enumerate(entries, 1):
        try:
            _ = await change(entry, f"orrery-{intent.id}-{number}")
        except ProcessorRefused as error:
            if number == 1:
                raise
            why = str(error).replace(entry.value, "the value")
            raise PartlyDone(
                f"Entry 1 was {done} {entries[0].list}; entry {number}, for {entry.list}, was refused: {why}"
            ) from error
    return f"{done[0].upper()}{done[1:]} {' and '.join(one.list for one in entries)}."


def _all_or_none(entries: Sequence[ListedEntry], done: Sequence[bool], well: str, not_yet: str) -> bool:
    if len(set(done)) > 1:
        found = [
            f"entry {number} {well if one else not_yet} {entry.list}"
            for number, (entry, one) in enumerate(zip(entries, done, strict=True), 1)
        ]
        raise PartlyDone(f"Reading shows that {' and '.join(found)}.")
    return all(done)


async def blocklist(reads: ProcessorReads, wanted: Blocklist) -> ValueList:
    """Return one of the lists that block; raise `DependencyFailed` when it is missing or of another type."""
    try:
        found = await by_alias(reads, wanted.alias)
    except NotFound:
        raise DependencyFailed(
            f"The account has no list {wanted.alias}: make it in the processor's dashboard, "
            f"with items of type {wanted.item_type}."
        ) from None
    if found.item_type != wanted.item_type:
        raise DependencyFailed(
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
