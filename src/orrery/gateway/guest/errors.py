"""The errors of the guest."""

from orrery.errors import OrreryError


class GuestFailed(OrreryError):
    """The gateway's host refused or failed: a file cannot be written, or systemd did not do what it was asked."""
