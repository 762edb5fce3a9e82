"""Folders of a mail server, opened to be read only: nothing is ever marked as read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

from orrery.adapters.imap_mailbox.connection import ImapConnection, NotImapError, quoted
from orrery.adapters.imap_mailbox.responses import (
    Item,
    day_of,
    fetched,
    folder_name,
    lines,
    number_of,
    numbers_of,
    sets_of,
)
from orrery.ports.comms.errors import MailboxRefused


def examine(connection: ImapConnection, folder: str) -> int:
    """Open a folder to read only; return its UIDVALIDITY, which changes when the folder is renumbered."""
    connection.opened = None
    refusal = f"The mail server has no folder {folder} that can be read"
    validity = _examine(connection, folder_name(folder), refusal)
    connection.opened = (folder, validity)
    return validity


def stay_in(connection: ImapConnection, folder: str) -> int:
    """Open a folder unless it was the last one that was examined: a large one takes a server long."""
    if connection.opened and connection.opened[0] == folder:
        return connection.opened[1]
    return examine(connection, folder)


def examine_encoded(connection: ImapConnection, encoded: str, what: str) -> int:
    """Do the same with a name as the server writes it; a refusal names it as `what`."""
    connection.opened = None
    return _examine(connection, encoded, f"{what} cannot be read")


def next_number(connection: ImapConnection, encoded: str, what: str) -> tuple[int, int]:
    """Return a folder's UIDVALIDITY and the number that its next message gets, without opening it."""
    kind, found = connection.status(encoded, "(UIDVALIDITY UIDNEXT)")
    if kind != "OK":
        raise MailboxRefused(f"{what} cannot be read: look at the mailbox in the settings.")
    for line in lines(found):
        held = line[-1] if isinstance(line[-1], list) else []
        values = {
            one.upper(): value for one, value in zip(held[::2], held[1::2], strict=False) if isinstance(one, bytes)
        }
        validity, following = number_of(values.get(b"UIDVALIDITY")), number_of(values.get(b"UIDNEXT"))
        if validity is not None and following is not None:
            return validity, following
    raise NotImapError


def _examine(connection: ImapConnection, name: str, refusal: str) -> int:
    if connection.select(name, readonly=True)[0] != "OK":
        raise MailboxRefused(f"{refusal}: look at the mailbox in the settings.")
    number = number_of(connection.response("UIDVALIDITY")[1][-1])
    if number is None:
        raise NotImapError
    return number


def search(connection: ImapConnection, *criteria: str) -> set[int]:
    """Return the UIDs of the messages in the open folder that are so."""
    kind, found = connection.uid("SEARCH", *criteria)
    if kind != "OK":
        raise MailboxRefused("The mail server does not search this folder.")
    return numbers_of(found)


def there_since(connection: ImapConnection, day: date) -> tuple[set[int], set[int]]:
    """Return the UIDs of the messages that came since a day and are not deleted, and the answered of these."""
    period = ("SINCE", day_of(day), "UNDELETED")
    return search(connection, *period), search(connection, *period, "ANSWERED")


def fetch(
    connection: ImapConnection, uids: Iterable[int], items: Sequence[str]
) -> Iterator[tuple[int, Mapping[bytes, Item]]]:
    """Yield what was asked for of the messages that are there, with their UIDs, in any order."""
    wanted = {*uids}
    for numbers in sets_of([*wanted]):
        kind, found = connection.uid("FETCH", numbers, f"({' '.join(('UID', *items))})")
        if kind != "OK":
            raise MailboxRefused("The mail server does not return these messages.")
        for one in fetched(found):
            uid = number_of(one.get(b"UID"))
            if uid in wanted:
                yield uid, one


def drafts_folder(connection: ImapConnection, named: str | None) -> str:
    """Return the folder for drafts as the protocol writes it; raise `MailboxRefused` without one."""
    if found := folder_named(connection, named, b"\\drafts"):
        return found
    raise MailboxRefused("The mail server names no folder for drafts: set drafts_folder of this mailbox.")


def folder_named(connection: ImapConnection, named: str | None, mark: bytes) -> str | None:
    """Return a folder as the protocol writes it: that of the settings, or the one marked so (RFC 6154)."""
    if named:
        return folder_name(named)
    options = " RETURN (SPECIAL-USE)" if connection.offers("SPECIAL-USE") else ""
    kind, found = connection.list('""', f'"*"{options}')
    for line in lines(found) if kind == "OK" else ():
        marks, name = line[0], line[-1]
        if isinstance(name, bytes) and mark in [one.lower() for one in marks if isinstance(one, bytes)]:
            return quoted(name.decode("ascii"))
    return None
