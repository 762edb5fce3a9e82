"""The rows of the list: their ids, their order, and their form for the page. Pure."""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from heapq import merge
from itertools import product
from json.encoder import encode_basestring_ascii as _quoted
from typing import get_args
from urllib.parse import urlsplit

from orrery.cockpit.errors import NotARow
from orrery.cockpit.waiting import Reason, own_reason_of
from orrery.ports.comms.messages import MailboxMessage, Source
from orrery.syntax.lines import is_line, one_line
from orrery.syntax.track import Track

LEDGER: Source = "action-hub"
LEDGER_ACCOUNT = "ledger"
"""The account of the rows of the action ledger, which is no mailbox."""

LONGEST_ID = 4096
"""Characters of a row's id: vendors' ids have several hundred."""

LONGEST_TEXT = 300
"""Characters of a subject, a sender or a preview in the list."""

LONGEST_LINK = 2000
"""Characters of an address; a longer one is left out."""

_TRACKS: tuple[Track, ...] = get_args(Track)
_SOURCES: tuple[Source, ...] = get_args(Source)


@dataclass(frozen=True, slots=True)
class RowId:
    """What the opaque id of a row holds (decision 35)."""

    track: Track
    account: str
    source: Source
    source_id: str

    def __str__(self) -> str:
        return self.encoded().decode()

    def encoded(self) -> bytes:
        """Return the id as the page has it."""
        held = f'["{self.track}",{_quoted(self.account)},"{self.source}",{_quoted(self.source_id)}]'
        return base64.b64encode(held.encode(), b"-_").rstrip(b"=")


def parse_row_id(text: str) -> RowId:
    """Return what an id holds; raise `NotARow`."""
    match _held(text):
        case [str(track), str(account), str(source), str(source_id)] if account and source_id:
            for known_track, known_source in product(_TRACKS, _SOURCES):
                found = RowId(known_track, account, known_source, source_id)
                if (track, source) == (known_track, known_source) and str(found) == text:
                    return found
        case _:
            pass
    raise NotARow("That is not the id of a row.")


def _held(text: str) -> object:
    if not 0 < len(text) <= LONGEST_ID or not text.isascii():
        return None
    try:
        return json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return None


def digest_of(*parts: str) -> str:
    """Return an id that the same parts always have: 32 hexadecimal digits."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class CockpitRow:
    """One row. `message` is as the mailbox returned it, `link` its address or nothing.

    `whose` are its track and account, the same object for all rows of a mailbox. `until` is when it is due, and
    `own_reason` why it does not wait, by its own fields. `texts` and `rest` are JSON for the page. There are
    `texts` only where those of the message are not one plain line each; the rest is the same for many rows, and
    kept once.
    """

    whose: tuple[Track, str]
    message: MailboxMessage
    score: int
    link: str
    until: date | None
    own_reason: Reason | None
    texts: bytes | None
    rest: bytes

    @property
    def id(self) -> RowId:
        """Made again each time: a list may have 50,000 rows."""
        return RowId(*self.whose, self.message.source, self.message.source_id)

    def shown(self, reason: Reason | None = None, warning: str = "") -> bytes:
        """Return the row as JSON, with why it is not listed, and what to look at about who wrote it.

        What the message has, too, is written again each time: a list may have 50,000 rows.
        """
        return b'{"id":"%b","web_link":%b,%b%b,"reason":%b,"warning":%b}' % (
            self.id.encoded(),
            _quoted(self.link).encode(),
            self.texts or _texts_of(self.message),
            self.rest,
            b'"%b"' % reason.encode() if reason else b"null",
            _quoted(warning).encode() if warning else b'""',
        )

    @property
    def is_replyable(self) -> bool:
        """Whether a draft can be made (decision 35)."""
        return is_replyable(self.message)


def is_replyable(message: MailboxMessage) -> bool:
    """Return whether there is somebody to reply to (decision 35)."""
    return message.source != LEDGER and bool(message.address)


def row_of(
    track: Track,
    account: str,
    message: MailboxMessage,
    score: int,
    until: date | None = None,
    watched: frozenset[str] = frozenset(),
) -> CockpitRow:
    """Return the row of a message. Texts of others become one line each, without invisible characters.

    `watched` are the lists that are watched.
    """
    sent = [message.sender, message.sender_address, message.subject, message.preview]
    plain = [one_line(text, LONGEST_TEXT) for text in sent]
    _ = message.received_at.astimezone(UTC)  # it raises for what no calendar can date
    rest = {
        "source": message.source,
        "priority": message.priority,
        "track": track,
        "account": account,
        "score": score,
        "replyable": is_replyable(message),
        "until": until.isoformat() if until else None,
        "is_all_day": message.is_all_day,
        "ends_at": _stamp(message.ends_at) if message.ends_at else None,
    }
    link = safe_link(message.web_link)
    texts = None if plain == sent else _texts(plain, message.received_at)
    shown = _kept_once(b"," + json.dumps(rest, separators=(",", ":")).encode()[1:-1])
    return CockpitRow(
        _whose(track, account), message, score, link, until, own_reason_of(message, watched), texts, shown
    )


def _texts_of(message: MailboxMessage) -> bytes:
    texts = (message.sender, message.sender_address, message.subject, message.preview)
    return _texts(texts, message.received_at)


def _texts(texts: Sequence[str], received_at: datetime) -> bytes:
    """Return a row's sender, address, subject and preview, each of which is one plain line, as JSON."""
    written = tuple(_quoted(one).encode() for one in (*texts, _stamp(received_at)))
    return b'"sender":%b,"address":%b,"subject":%b,"preview":%b,"received_at":%b' % written


@lru_cache
def _whose(track: Track, account: str) -> tuple[Track, str]:
    """Return the same object for all rows of a mailbox."""
    return track, account


@lru_cache
def _kept_once(text: bytes) -> bytes:
    """Return the same object for the same text."""
    return text


def newest_first(rows: Iterable[CockpitRow]) -> list[CockpitRow]:
    """Return rows as they are kept; `order.py` has the order of the list."""
    return sorted(rows, key=_age)


def merged(several: Iterable[Sequence[CockpitRow]]) -> Iterator[CockpitRow]:
    """Yield rows that are `newest_first` each, as one list, the newest first."""
    return merge(*several, key=_age)


def _age(row: CockpitRow) -> float:
    return -row.message.received_at.timestamp()


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def safe_link(address: str) -> str:
    """Return an address that a browser may open, else nothing: it may begin with `javascript:`."""
    try:
        parts = urlsplit(address)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname) and is_line(address, LONGEST_LINK)
    except ValueError:
        return ""
    return address if is_web else ""
