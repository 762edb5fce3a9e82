"""Ready files for whatever calls the refresh each minute (spec 2, What the service does 4).

`ready_files` fills package files with one checked address; it writes nothing.
"""

import re
from dataclasses import dataclass
from importlib.resources import files
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Literal

from orrery.errors import Invalid

Kind = Literal["systemd", "worker", "workflow"]

REFRESH_PATH = "/api/stats?refresh=realtime"
"""What is posted to (spec 2, Endpoints)."""

LONGEST_ADDRESS = 300

_FILES: dict[Kind, tuple[str, ...]] = {
    "systemd": ("orrery-refresh.service", "orrery-refresh.timer"),
    "worker": ("refresh-worker.mjs", "wrangler.toml"),
    "workflow": ("refresh.yml",),
}

_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_SEGMENT = r"/(?!\.{1,2}(/|$))[a-z0-9._~-]+"
_ADDRESS = re.compile(
    rf"(?P<scheme>https?)://(?P<host>{_LABEL}(\.{_LABEL})*|\[[0-9a-f:.]+\])(:(?P<port>[0-9]{{1,5}}))?({_SEGMENT})*/?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class ReadyFile:
    """A file to put in place as it is."""

    name: str
    text: str


def ready_files(kind: Kind, base_url: str) -> tuple[ReadyFile, ...]:
    """Return the files of one kind of schedule for a service; raise `Invalid` for an address that is none."""
    base = checked_base_url(base_url)
    folder = files("orrery").joinpath("web", "schedules", kind)
    return tuple(
        ReadyFile(name, _filled(folder.joinpath(name).read_text(encoding="utf-8"), base)) for name in _FILES[kind]
    )


def checked_base_url(text: str) -> str:
    """Return the address of a service without a slash at its end.

    Raises `Invalid` for what is no plain web address, for one whose characters could mean something to a unit, a
    workflow or a script, and for http:// to another machine, since the password would travel in clear.
    """
    found = _ADDRESS.fullmatch(text) if len(text) <= LONGEST_ADDRESS else None
    if found is None or not _is_port(found["port"]) or not _is_host(found["host"]):
        raise Invalid(
            "The address must be like https://example.org or https://example.org/path: ASCII, without user name, "
            f"query and fragment, at most {LONGEST_ADDRESS} characters."
        )
    if found["scheme"].lower() != "https" and not _is_this_machine(found["host"]):
        raise Invalid("The address must begin with https:// (http:// only for this machine).")
    return text.rstrip("/")


def _filled(template: str, base: str) -> str:
    return template.replace("@BASE_URL@", base).replace("@REFRESH_URL@", base + REFRESH_PATH)


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
