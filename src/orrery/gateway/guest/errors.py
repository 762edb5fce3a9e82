"""The errors of the guest."""

from orrery.errors import Invalid, OrreryError


class OptionsUnreadable(Invalid):
    """The file that keeps the options of a recovery is not as `install` writes it."""


class GuestFailed(OrreryError):
    """The gateway's host refused or failed: a file cannot be written, or systemd did not do what it was asked."""
