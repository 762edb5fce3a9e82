"""Who is asking (decision 14)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.edge.client_address import UNKNOWN, ClientAddresses, rate_scopes
from tests.support.requests import request
from tests.support.tables import each_case

PROXY, VISITOR = "10.0.0.1", "203.0.113.7"
TRUSTED = ("10.0.0.0/8", "fd00::/8", "192.0.2.1")


def seen(peer: str | None, *forwarded: str, trusted: tuple[str, ...] = TRUSTED) -> str:
    """Return the client's address as it is told from the peer and the forwarding headers."""
    headers = [("x-forwarded-for", value) for value in forwarded]
    return ClientAddresses(trusted).of(request(*headers, client=(peer, 1) if peer is not None else None))


def test_the_peer() -> None:
    """Without a header the peer is the client, trusted or not."""
    assert seen(VISITOR) == VISITOR
    assert seen(PROXY) == PROXY


def test_nobody_is_believed_unasked() -> None:
    """A forwarding header from a peer that is no trusted proxy counts for nothing."""
    assert seen(VISITOR, "198.51.100.1") == VISITOR
    assert seen(PROXY, "198.51.100.1", trusted=()) == PROXY


def test_a_trusted_proxy_is_believed() -> None:
    """Behind a trusted proxy the client is who the proxy says."""
    assert seen(PROXY, VISITOR) == VISITOR
    assert seen("192.0.2.1", VISITOR) == VISITOR


def test_what_the_visitor_wrote_himself() -> None:
    """Addresses that a visitor put into the header before it reached the proxy are not believed."""
    assert seen(PROXY, f"198.51.100.1, 127.0.0.1, {VISITOR}") == VISITOR
    assert seen(PROXY, f"{PROXY}, {VISITOR}") == VISITOR


def test_several_proxies() -> None:
    """A chain of trusted proxies is followed to the first that is none."""
    assert seen(PROXY, f"198.51.100.1, {VISITOR}, 10.9.9.9, fd00::1") == VISITOR


def test_only_proxies() -> None:
    """When every hop is trusted the outermost is the client."""
    assert seen(PROXY, "10.0.0.3, 10.0.0.2") == "10.0.0.3"


def test_a_header_in_parts() -> None:
    """Several headers count as one, in their order."""
    assert seen(PROXY, "198.51.100.1", f"{VISITOR},10.0.0.2") == VISITOR


@each_case(
    "garbage",
    [
        *("", " ", ",", ",,,", "unknown", "_hidden", "localhost", "999.1.1.1", "1.2.3", "é", "-"),
        *(
            "203.0.113.7:",
            "203.0.113.7:x",
            "[2001:db8::1",
            "2001:db8::1]",
            "[]",
            "[]:80",
            "[203.0.113.7:80]",
            ":80",
        ),
    ],
)
def test_garbage_from_a_proxy(garbage: str) -> None:
    """What cannot be read ends the search at the last address that could."""
    assert seen(PROXY, garbage) == PROXY
    assert seen(PROXY, f"{VISITOR}, {garbage}, 10.0.0.2") == "10.0.0.2"


@each_case(
    ("told", "address"),
    [
        ("203.0.113.7:5678", VISITOR),
        (" 203.0.113.7:5678 ", VISITOR),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("[2001:DB8::1]", "2001:db8::1"),
        ("[::ffff:203.0.113.7]:80", VISITOR),
    ],
)
def test_an_address_with_a_port(told: str, address: str) -> None:
    """Some proxies add the client's port: the address counts, at the end of the header and before others."""
    assert seen(PROXY, told) == address
    assert seen(PROXY, f"198.51.100.1, {told}, 10.0.0.2:80") == address


def untrusted(peer: str | None, *headers: tuple[str, str], trusted: tuple[str, ...] = TRUSTED) -> str | None:
    """Return which untrusted proxy stands between us and the client."""
    return ClientAddresses(trusted).untrusted_proxy(request(*headers, client=(peer, 1) if peer else None))


@each_case("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
@each_case(
    "peer", ["127.0.0.1", "::1", "10.0.0.5", "172.16.9.9", "192.168.1.1", "fd00::5", "169.254.1.1", "100.64.0.1"]
)
def test_an_untrusted_proxy(peer: str, header: str) -> None:
    """A peer of this machine or of a private network that forwards, and is not trusted, is named."""
    assert untrusted(peer, (header.lower(), VISITOR), trusted=()) == peer
    assert untrusted(peer, (header.lower(), VISITOR), trusted=(peer,)) is None
    assert untrusted(peer, trusted=()) is None


@pytest.mark.parametrize("forged", ["10.0.0.9", "1.2.3.4, 10.0.0.9", "127.0.0.1, 192.168.0.1"])
def test_no_visitor_makes_a_proxy_of_himself(forged: str) -> None:
    """Who comes from the internet and sends such a header is none, directly and through a trusted proxy."""
    assert untrusted(VISITOR, ("x-forwarded-for", forged)) is None
    assert untrusted(PROXY, ("x-forwarded-for", f"{forged}, {VISITOR}"), ("x-real-ip", VISITOR)) is None


def test_an_untrusted_proxy_behind_a_trusted_one() -> None:
    """A proxy that a trusted one names, and that names others, is none of a private network's clients."""
    assert untrusted(PROXY, ("x-forwarded-for", f"{VISITOR}, 192.168.0.9, 10.0.0.2")) == "192.168.0.9"
    assert untrusted(PROXY, ("x-forwarded-for", "192.168.0.9, 10.0.0.2")) is None
    assert untrusted(PROXY, ("x-forwarded-for", "192.168.0.9"), ("x-real-ip", "192.168.0.9")) is None


def test_an_unknown_peer_is_no_proxy() -> None:
    """A request without a peer names no proxy."""
    assert untrusted(None, ("x-forwarded-for", VISITOR)) is None


def test_a_header_without_end_is_no_address() -> None:
    """What a visitor wrote is not kept, however much it is."""
    assert seen(PROXY, f"{VISITOR}{' ' * 60_000}") == PROXY
    assert untrusted(PROXY, ("x-forwarded-for", f"{'1' * 60_000}, {VISITOR}")) is None


def test_an_unknown_peer() -> None:
    """A request without a peer, as by a unix socket, is unknown, whatever its header says."""
    assert seen(None, VISITOR) == UNKNOWN
    assert seen("", VISITOR) == UNKNOWN


def test_mapped_addresses() -> None:
    """An IPv4 address that came in by IPv6 is the IPv4 address, as client and as proxy."""
    assert seen(f"::ffff:{VISITOR}") == VISITOR
    assert seen(f"::ffff:{PROXY}", f"::ffff:{VISITOR}") == VISITOR


def test_one_form() -> None:
    """An address is told in its one canonical form."""
    assert seen("2001:DB8:0:0::1") == seen("2001:db8::1") == "2001:db8::1"


@given(st.text(max_size=20), st.lists(st.text(st.characters(max_codepoint=255), max_size=60), max_size=3))
def test_no_header_breaks_it(peer: str, forwarded: list[str]) -> None:
    """Whatever stands in the headers, a text comes out and its scope too."""
    headers = [("x-forwarded-for", value.encode("latin-1")) for value in forwarded]
    for client in (peer, PROXY):
        assert rate_scopes(ClientAddresses(TRUSTED).of(request(*headers, client=(client, 1))))


@each_case(
    ("address", "scopes"),
    [
        (VISITOR, (VISITOR,)),
        ("::ffff:203.0.113.7", (VISITOR,)),
        ("2001:db8:1:2:3:4:5:6", ("2001:db8:1:2::/64", "2001:db8:1::/56")),
        ("2001:db8:1:2::ffff", ("2001:db8:1:2::/64", "2001:db8:1::/56")),
        ("2001:db8:1:ff::1", ("2001:db8:1:ff::/64", "2001:db8:1::/56")),
        ("2001:db8:1:1ff::1", ("2001:db8:1:1ff::/64", "2001:db8:1:100::/56")),
        ("fe80::1%eth0", ("fe80::/64", "fe80::/56")),
        ("fe80::1%eth1", ("fe80::/64", "fe80::/56")),
        (UNKNOWN, (UNKNOWN,)),
    ],
)
def test_what_shares_a_limit(address: str, scopes: tuple[str, ...]) -> None:
    """An IPv4 address has its own limit; an IPv6 address shares that of its /64, and that of its /56."""
    assert rate_scopes(address) == scopes
