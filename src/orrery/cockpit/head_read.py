"""A message's head as the page gets it: names on one line each, and no more of them than a person looks at."""

from collections.abc import Sequence

from orrery.cockpit.answers import Recipients
from orrery.cockpit.heads import Answer, Head
from orrery.cockpit.schema import AnswerRead, HeadRead, PersonRead, RecipientsRead, WarningRead
from orrery.cockpit.sender_warnings import SenderWarning
from orrery.ports.comms.messages import Person
from orrery.syntax.lines import one_line
from orrery.syntax.track import Track

MOST_NAMED = 50
"""People of a list that are named; the others are counted."""

_LONGEST = 200


def head_read(head: Head, track: Track) -> HeadRead:
    """Return a head in the form of the answer."""
    named = _recipients(Recipients(head.to, head.cc))
    return HeadRead(
        sender=_person(head.sender),
        to=named.to,
        cc=named.cc,
        more=named.more,
        warnings=_warnings(head.warnings),
        answer=_answer(head.answer) if head.answer else None,
        track=track,
    )


def _answer(answer: Answer) -> AnswerRead:
    return AnswerRead(
        sender=_person(answer.sender),
        received_at=answer.received_at,
        is_newer=answer.is_newer,
        alone=_recipients(answer.recipients),
        all=_recipients(answer.to_all) if answer.to_all else None,
        warnings=_warnings(answer.warnings),
    )


def _recipients(found: Recipients) -> RecipientsRead:
    to, cc = _people(found.to), _people(found.cc)
    return RecipientsRead(to=to, cc=cc, more=len(found.to) + len(found.cc) - len(to) - len(cc))


def _people(several: Sequence[Person]) -> list[PersonRead]:
    return [_person(one) for one in several[:MOST_NAMED]]


def _person(one: Person) -> PersonRead:
    return PersonRead(name=one_line(one.name, _LONGEST), address=one_line(one.address, _LONGEST))


def _warnings(several: Sequence[SenderWarning]) -> list[WarningRead]:
    return [WarningRead(kind=one.kind, words=one.words) for one in several]
