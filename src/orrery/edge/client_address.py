"""Who is asking: the peer, or what a trusted proxy says (decision 14)."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.requests import Request

UNKNOWN = "unknown"
"""What stands for a client whose address can not be told."""

_IPV6_BLOCK = 64

Address = IPv4Address | IPv6Address


class ClientAddresses:
    """Tells client addresses. `trusted_proxies` are networks whose `X-Forwarded-For` is believed."""

    def __init__(self, trusted_proxies: Sequence[str] = ()) -> None:
        self._trusted = [ip_network(network) for network in trusted_proxies]

    def of(self, request: Request) -> str:
        """Return the client's address: the last one that no trusted proxy of ours stands behind."""
        address = _parse(request.client.host) if request.client else None
        hops = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
        while address and self._trusts(address) and hops:
            forwarded = _parse(hops.pop())
            if forwarded is None:
                break
            address = forwarded
        return str(address) if address else UNKNOWN

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def rate_scope(address: str) -> str:
    """Return what shares one rate limit: an IPv4 address, an IPv6 /64 (decision 14)."""
    parsed = _parse(address)
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((parsed, _IPV6_BLOCK), strict=False))
    return str(parsed or address)


def _parse(text: str) -> Address | None:
    try:
        address = ip_address(text.strip())
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
