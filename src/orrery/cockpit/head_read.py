"""A message's head as the page gets it: names on one line each, and no more of them than a person looks at."""

from collections.abc import Sequence
from dataclasses import dataclass

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
    """Return a head in the form of the answer, in which each object with words of the account has its track."""
    return _Reading(track).head(head)


@dataclass(frozen=True, slots=True)
class _Reading:
    track: Track

    def head(self, head: Head) -> HeadRead:
        named = self._recipients(Recipients(head.to, head.cc))
        return HeadRead(
            sender=self._person(head.sender),
            to=named.to,
            cc=named.cc,
            more=named.more,
            warnings=self._warnings(head.warnings),
            answer=self._answer(head.answer) if head.answer else None,
            track=self.track,
        )

    def _answer(self, answer: Answer) -> AnswerRead:
        return AnswerRead(
            sender=self._person(answer.sender),
            received_at=answer.received_at,
            is_newer=answer.is_newer,
            alone=self._recipients(answer.recipients),
            all=self._recipients(answer.to_all) if answer.to_all else None,
            warnings=self._warnings(answer.warnings),
            track=self.track,
        )

    def _recipients(self, found: Recipients) -> RecipientsRead:
        to, cc = self._people(found.to), self._people(found.cc)
        return RecipientsRead(to=to, cc=cc, more=len(found.to) + len(found.cc) - len(to) - len(cc))

    def _people(self, several: Sequence[Person]) -> list[PersonRead]:
        return [self._person(one) for one in several[:MOST_NAMED]]

    def _person(self, one: Person) -> PersonRead:
        name, address = one_line(one.name, _LONGEST), one_line(one.address, _LONGEST)
        return PersonRead(name=name, address=address, track=self.track)

    def _warnings(self, several: Sequence[SenderWarning]) -> list[WarningRead]:
        return [WarningRead(kind=one.kind, words=one.words, track=self.track) for one in several]
