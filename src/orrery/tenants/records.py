"""What the tracks store: the entries of their journal."""

from pydantic import AwareDatetime

from orrery.record import PersonalText, Record
from orrery.syntax.track import Track


class TrackJournalEntry(Record):
    """What was done, for which track; the text may name a person.

    `track` has no default: an entry that lost its label cannot be read, and is not shown as if it were of either.
    """

    track: Track
    account: PersonalText = ""
    text: PersonalText
    created_at: AwareDatetime
