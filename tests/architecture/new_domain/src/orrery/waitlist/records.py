"""What the waitlist stores."""

from typing import Literal

from pydantic import AwareDatetime

from orrery.record import Record


class WaitlistEntry(Record):
    """A person's entry."""

    v: Literal[1] = 1
    email: str
    since: AwareDatetime


class WaitlistBegun(Record):
    """When the first entry could be made, and whether no more can."""

    v: Literal[1] = 1
    at: AwareDatetime
    closed: bool = False
