"""What the waitlist stores."""

from pydantic import AwareDatetime

from orrery.record import PersonalText, Record


class WaitlistEntry(Record):
    """A person's entry."""

    email: PersonalText
    since: AwareDatetime


class WaitlistBegun(Record):
    """When the first entry could be made, and whether no more can."""

    at: AwareDatetime
    closed: bool = False
