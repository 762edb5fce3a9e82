"""What the waiting list stores."""

from typing import Literal

from pydantic import AwareDatetime

from orrery.record import PersonalText, Record


class Waiting(Record):
    """A person who waits."""

    v: Literal[1] = 1
    email: PersonalText
    since: AwareDatetime


class Begun(Record):
    """When the list was begun, and whether it is closed."""

    v: Literal[1] = 1
    at: AwareDatetime
    closed: bool = False
