"""The errors of the waiting list; each has its status and its tag."""

from orrery.errors import OrreryError


class WaitlistFull(OrreryError):
    """Nobody more can wait."""

    http_status = 409
    tag = "waitlist-full"
