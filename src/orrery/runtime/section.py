"""The base class of the settings' sections, and the forms of value that several of them have."""

from ipaddress import ip_network
from typing import Annotated, Literal, Protocol, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict

from orrery.syntax.base_url import THIS_MACHINE

Mode = Literal["live", "test", "sandbox"]


class Section(BaseModel):
    """Frozen; refuses unknown keys, and never repeats a value in an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)


S = TypeVar("S")


class Sections(Protocol):
    """The sections of a deployment's settings, by their classes."""

    def __getitem__(self, kind: type[S], /) -> S:
        """Return the section of a class."""
        ...


def _https_or_here(address: str) -> str:
    parts = urlsplit(address)
    if not parts.hostname or (parts.scheme, parts.hostname in THIS_MACHINE) not in _ENCRYPTED_OR_HERE:
        raise ValueError("the address must begin with https:// (http:// only for this machine)")
    return address


_ENCRYPTED_OR_HERE = {("https", False), ("https", True), ("http", True)}

Address = Annotated[str, AfterValidator(_https_or_here)]
"""A web address that a secret may be sent to."""


_MAPPED = ip_network("::ffff:0:0/96")
"""IPv4 addresses in IPv6 form: client addresses are compared without them."""


def _are_networks(networks: tuple[str, ...]) -> tuple[str, ...]:
    try:
        found = list(map(ip_network, networks))
    except ValueError:
        raise ValueError("each must be a network such as 10.0.0.0/8, no bit of it beyond its length") from None
    if any(network.network_address in _MAPPED for network in found):
        raise ValueError("a network of IPv4 is written as one, such as 10.0.0.0/8: its addresses are read so")
    return networks


Networks = Annotated[tuple[str, ...], AfterValidator(_are_networks)]
"""Networks and single addresses, as `ipaddress` reads them."""
