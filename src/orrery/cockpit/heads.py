"""What is shown above a message's text: who wrote it to whom, what to look at, and whom an answer would go to.

It is as the page gets it: names on one line each, no more of them than a person looks at, and in each object with
words of the account its track.
"""

from collections.abc import Sequence

from orrery.cockpit.answers import Recipients, newest_of, recipients_of
from orrery.cockpit.correspondents import Correspondents
from orrery.cockpit.inbox import Inbox
from orrery.cockpit.rows import CockpitRow, is_replyable
from orrery.cockpit.schema import AnswerRead, HeadRead, PersonRead, RecipientsRead, WarningRead
from orrery.cockpit.sender_warnings import SenderWarning, warnings_of
from orrery.ports.comms.messages import MailboxMessage, Person
from orrery.syntax.lines import one_line
from orrery.syntax.track import Track

MOST_NAMED = 50
"""People of a list that are named; the others are counted."""

_LONGEST = 200


def head_of(row: CockpitRow, inbox: Inbox, known: Correspondents) -> HeadRead:
    """Return the head of a row of this mailbox; without an `answer` where there is no address."""
    answer = _answer(row, answered(row, inbox), known) if row.is_replyable else None
    return _head(row, warnings_of(row.message, known), answer)


def ledger_head(row: CockpitRow) -> HeadRead:
    """Return the head of an item of the action ledger, which names a sender and no recipient."""
    return _head(row, [], None)


def answered(row: CockpitRow, inbox: Inbox) -> MailboxMessage:
    """Return the message that a draft for this row answers (decision 65)."""
    return newest_of(row.message, (one.message for one in inbox.rows if is_replyable(one.message)))


def _head(row: CockpitRow, warnings: Sequence[SenderWarning], answer: AnswerRead | None) -> HeadRead:
    message, track = row.message, row.id.track
    named = _recipients(Recipients(message.to, message.cc), track)
    return HeadRead(
        sender=_sender(message, track),
        to=named.to,
        cc=named.cc,
        more=named.more,
        warnings=_warnings(warnings, track),
        answer=answer,
        track=track,
    )


def _answer(row: CockpitRow, newest: MailboxMessage, known: Correspondents) -> AnswerRead:
    alone, to_all = (recipients_of(newest, known.own, to_all=one) for one in (False, True))
    return AnswerRead(
        sender=_sender(newest, row.id.track),
        received_at=newest.received_at,
        is_newer=newest is not row.message,
        alone=_recipients(alone, row.id.track),
        all=None if to_all == alone else _recipients(to_all, row.id.track),
        warnings=_warnings(warnings_of(newest, known), row.id.track),
        track=row.id.track,
    )


def _recipients(found: Recipients, track: Track) -> RecipientsRead:
    to, cc = ([_person(one, track) for one in several[:MOST_NAMED]] for several in (found.to, found.cc))
    return RecipientsRead(to=to, cc=cc, more=len(found.to) + len(found.cc) - len(to) - len(cc))


def _sender(message: MailboxMessage, track: Track) -> PersonRead:
    return _person(Person(message.sender, message.sender_address), track)


def _person(one: Person, track: Track) -> PersonRead:
    return PersonRead(name=one_line(one.name, _LONGEST), address=one_line(one.address, _LONGEST), track=track)


def _warnings(several: Sequence[SenderWarning], track: Track) -> list[WarningRead]:
    return [WarningRead(kind=one.kind, words=one.words, track=track) for one in several]
