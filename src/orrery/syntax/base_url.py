"""The address of a service, as a command is given it and a ready file holds it."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address

from orrery.errors import Invalid

LONGEST = 300
"""Characters."""

THIS_MACHINE = ("127.0.0.1", "::1", "localhost")
"""The host names that lead to no other machine, where plain http:// may be used."""

_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_SEGMENT = r"/(?!\.{1,2}(/|$))[a-z0-9._~-]+"
_ADDRESS = re.compile(
    rf"(?P<scheme>https?)://(?P<host>{_LABEL}(\.{_LABEL})*|\[[0-9a-f:.]+\])(:(?P<port>[0-9]{{1,5}}))?({_SEGMENT})*/?",
    re.IGNORECASE | re.ASCII,
)


def checked_base_url(text: str) -> str:
    """Return the address of a service without a slash at its end.

    Raises `Invalid` for a text that is no plain web address, for characters with a meaning in a unit, a workflow
    or a script, and for http:// to another machine, since the password would be sent in clear.
    """
    found = _ADDRESS.fullmatch(text) if len(text) <= LONGEST else None
    if found is None or not _is_port(found["port"]) or not _is_host(found["host"]):
        raise Invalid(
            "The address must be like https://example.org or https://example.org/path: ASCII, without user name, "
            f"query and fragment, at most {LONGEST} characters."
        )
    if found["scheme"].lower() != "https" and not _is_this_machine(found["host"]):
        raise Invalid("The address must begin with https:// (http:// only for this machine).")
    return text.rstrip("/")


def _is_port(text: str | None) -> bool:
    return text is None or 0 < int(text) < 1 << 16


def _is_host(host: str) -> bool:
    return not host.startswith("[") or _ip(host) is not None


def _is_this_machine(host: str) -> bool:
    address = _ip(host)
    return address.is_loopback if address else host.lower() == "localhost"


def _ip(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None
