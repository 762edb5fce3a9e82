"""Drafts in the mailbox itself, found again by their key (decision 0070)."""

import re

from orrery.adapters.imap_mailbox.connection import ImapConnection
from orrery.adapters.imap_mailbox.folders import examine_encoded, fetch, search
from orrery.adapters.imap_mailbox.headers import headers_of
from orrery.adapters.imap_mailbox.replies import KEY_HEADER
from orrery.ports.comms.errors import MailboxRefused
from orrery.ports.comms.mailboxes import MailboxDraft

KEY = re.compile(r"[A-Za-z0-9_-]{1,100}")

_APPENDED = re.compile(rb"(?P<validity>\d{1,10}) (?P<uid>\d{1,10})")
_REFUSALS = {
    "OVERQUOTA": "The mailbox is full: delete something in it, then ask again.",
    "TRYCREATE": "The folder for drafts is not there: look at drafts_folder of this mailbox.",
    "NOPERM": "The mail server allows no drafts in the folder for drafts.",
    "TOOBIG": "The message is too large to be quoted in a draft.",
}
"""What a server's reasons mean (RFC 3501, RFC 5530, RFC 9208)."""


def find(connection: ImapConnection, folder: str, key: str) -> MailboxDraft | None:
    """Open the folder for drafts and return the draft with this key, the oldest of several."""
    validity = examine_encoded(connection, folder, "The folder for drafts")
    uids = _with_key(connection, key)
    return MailboxDraft(f"{validity}.{uids[0]}", "", is_new=False) if uids else None


def keep(connection: ImapConnection, folder: str, key: str, draft: bytes) -> MailboxDraft:
    """Put a draft into its folder; return it, or the one that another process put there at the same time.

    The server numbers drafts in their order, so both processes see which came first; the other one takes its own
    away.
    """
    kind, _ = connection.append(folder, r"(\Draft \Seen)", "", draft)
    if kind != "OK":
        reasons = (sentence for code, sentence in _REFUSALS.items() if connection.gave(code))
        raise MailboxRefused(next(reasons, "The mail server takes no draft."))
    appended = _APPENDED.match(connection.response("APPENDUID")[1][-1] or b"")
    first = find(connection, folder, key)
    if appended is None:
        return MailboxDraft(first.id if first else key, "", is_new=True)
    own = MailboxDraft(f"{int(appended['validity'])}.{int(appended['uid'])}", "", is_new=True)
    if first is None or first.id == own.id:
        return own
    _remove(connection, folder, appended["uid"].decode())
    return first


def _with_key(connection: ImapConnection, key: str) -> list[int]:
    """Return the UIDs of the drafts with exactly this key, in their order: a search finds parts of words, too."""
    found = search(connection, "UNDELETED", "HEADER", KEY_HEADER, key)
    items = [f"BODY.PEEK[HEADER.FIELDS ({KEY_HEADER.upper()})]"]
    heads = ((uid, one.get(b"BODY[HEADER")) for uid, one in fetch(connection, found, items))
    named = ((uid, headers_of(head)) for uid, head in heads if isinstance(head, bytes))
    return sorted(uid for uid, headers in named if headers.get(KEY_HEADER.lower()) == key)


def _remove(connection: ImapConnection, folder: str, uid: str) -> None:
    """Remove one draft that was made just now; who has its number has UIDPLUS, so nothing else goes with it."""
    _ = connection.select(folder)
    _ = connection.uid("STORE", uid, "+FLAGS.SILENT", r"(\Deleted)")
    _ = connection.uid("EXPUNGE", uid)
