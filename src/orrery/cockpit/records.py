"""What the cockpit stores: the items of the action ledger (decision 35), and what was set aside (decision 57)."""

from datetime import date

from pydantic import AwareDatetime

from orrery.ports.comms.messages import Priority, Source
from orrery.record import Code, Id, PersonalText, Record
from orrery.syntax.track import Track


class LedgerItem(Record):
    """What needs doing, from whom, until when; each of the texts may name a person.

    A task that was made of a row has that row's source and source id, and the score, kind and bucket that the
    mapping tables gave it.
    """

    track: Track
    title: PersonalText
    person: PersonalText = ""
    until: date | None = None
    priority: Priority = "normal"
    source: Source = "action-hub"
    source_id: Id = ""
    score: int | None = None
    kind: Code = ""
    bucket: Code = ""
    created_at: AwareDatetime
    dismissed_at: AwareDatetime | None = None


class SetAside(Record):
    """A row is done, or comes back on the day `until`. Its key is a digest of the row's id: it names no person.

    `source_id` is the vendor's own id, by which the row is found.
    """

    track: Track
    source_id: Id
    until: date | None = None
    set_at: AwareDatetime
