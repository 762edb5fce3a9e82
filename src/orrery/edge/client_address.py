"""The client's address: the peer's, or the one that a trusted proxy reports (decision 14)."""

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request


UNKNOWN = "unknown"
"""The address of a client whose real address is unknown."""

FORWARDING = ("x-forwarded-for", "forwarded", "x-real-ip")
"""Headers by which proxies name their client. The first is read; each of them shows that there is a proxy."""

_FORWARDING = frozenset(name.encode() for name in FORWARDING)

_PRIVATE = tuple(
    map(
        ip_network,
        (
            *("127.0.0.0/8", "::1/128"),  # loopback (RFC 1122, RFC 4291)
            *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),  # private (RFC 1918, RFC 4193)
            *("169.254.0.0/16", "fe80::/10"),  # link-local (RFC 3927, RFC 4291)
            "100.64.0.0/10",  # shared (RFC 6598)
        ),
    )
)
"""Where proxies of one's own are, and no visitor from the internet."""

_IPV6_BLOCKS = (64, 56)
"""What one visitor has of IPv6, and what a provider gives to a household or an office (decisions 14 and 67)."""

_WITH_PORT = re.compile(r"\[([^\[\]]+)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}")

Address = IPv4Address | IPv6Address


class ClientAddresses:
    """Finds client addresses. `trusted_proxies` are networks whose `X-Forwarded-For` header counts."""

    def __init__(self, trusted_proxies: Sequence[str] = ()) -> None:
        self._trusted = [ip_network(network) for network in trusted_proxies]

    def of(self, request: "Request") -> str:
        """Return the client's address: the last one in the chain that is not a trusted proxy's."""
        address, _ = self._walk(request)
        return str(address) if address else UNKNOWN

    def untrusted_proxy(self, request: "Request") -> str | None:
        """Return the client's address when it is that of the owner's own proxy, which is not trusted.

        A visitor from the internet who sends such headers is not taken for a proxy.
        """
        if _FORWARDING.isdisjoint(name for name, _ in request.headers.raw):  # of a request without a proxy
            return None
        address, hops = self._walk(request)
        is_peer = request.client is not None and address == _parse(request.client.host)
        forwards = any(name in request.headers for name in FORWARDING) if is_peer else any(map(_hop, hops))
        if address is None or not forwards or self._trusts(address) or not _is_private(address):
            return None
        return str(address)

    def _walk(self, request: "Request") -> tuple[Address | None, list[str]]:
        """Return the client's address, and the addresses before it in the header."""
        address = _parse(request.client.host) if request.client else None
        hops = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
        while address and self._trusts(address) and hops:
            forwarded = _hop(hops.pop())
            if forwarded is None:
                break
            address = forwarded
        return address, hops

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def rate_scopes(address: str) -> tuple[str, ...]:
    """Return what shares one rate limit: an IPv4 address, or an IPv6 /64 and then its /56 (decisions 14, 67)."""
    parsed = _parse(address)
    if isinstance(parsed, IPv6Address):
        return tuple(str(IPv6Network((parsed, block), strict=False)) for block in _IPV6_BLOCKS)
    return (str(parsed or address),)


def is_private(address: str) -> bool:
    """Return whether an address is of a network of one's own, this machine's included."""
    parsed = _parse(address)
    return parsed is not None and _is_private(parsed)


_LONGEST_HOP = 64
"""Characters of an address with its port; what is longer is none, and is not kept."""


def _is_private(address: Address) -> bool:
    return any(address in network for network in _PRIVATE)


def _hop(text: str) -> Address | None:
    """Return the address in one entry of the header; some proxies add the port."""
    if len(text) > _LONGEST_HOP:
        return None
    found = _WITH_PORT.fullmatch(text.strip())
    return _parse((found[1] or found[2]) if found else text)


@lru_cache(maxsize=1024)
def _parse(text: str) -> Address | None:
    try:
        address = ip_address(text.strip())
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
