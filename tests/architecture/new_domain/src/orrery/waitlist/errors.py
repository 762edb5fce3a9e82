"""The errors of the waitlist; each has its status and its tag."""

from orrery.errors import Invalid


class WaitlistFull(Invalid):
    """No more entries fit."""

    http_status = 409
    tag = "waitlist-full"


class WaitlistRefused(Invalid):
    """The entry cannot be used."""

    http_status = 422
    tag = "invalid-field"
