"""Messages to systemd for a service with `Type=notify`; the protocol is that of sd_notify(3)."""

import os
import socket

from orrery.logs import log

VARIABLE = "NOTIFY_SOCKET"
"""The variable with the path of systemd's socket; without it systemd expects no messages."""


def manager_address() -> str:
    """Return the path of the service manager's socket, or "" when no one manages this process."""
    return os.environ.get(VARIABLE, "")  # noqa: TID251  a fact about this process, not a setting


READY = "READY=1"
"""The service answers: `systemctl start` returns."""


def closing(seconds: float) -> str:
    """Return the message that the service is closing, for which the unit's own patience may be too short."""
    return f"STOPPING=1\nEXTEND_TIMEOUT_USEC={seconds * 1e6:.0f}"


def notify(message: str) -> None:
    """Send a message to systemd, if it expects any."""
    if not (address := manager_address()):
        return
    # "@" replaces the null byte at the beginning of names that are no files.
    name = f"\0{address[1:]}" if address.startswith("@") else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            _ = manager.sendto(message.encode(), name)
    except OSError as error:
        # A shell may have inherited the variable from a service long ended.
        log.warning("systemd did not get the message of the service", message=message, why=error.strerror)
