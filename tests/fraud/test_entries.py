"""What may be put on a fraud list, and what is refused (decision 18)."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.errors import Invalid
from orrery.fraud.clusters import Trait
from orrery.fraud.entries import BlocklistValue, checked, known_address, normalised
from tests.support.tables import each_case

OWN = [ip_network("9.9.9.0/24"), ip_network("2620:fe::/48")]
CARD = "Ab3dEf7hIj1kLm5n"


def stored(trait: Trait, text: str) -> str:
    """Return one value as it would be stored."""
    (entry,) = checked([BlocklistValue(trait, text)], OWN)
    return entry.value


@each_case(
    ("trait", "text", "expected"),
    [
        ("address", " 8.8.8.8 ", "8.8.8.8"),
        ("address", "::ffff:8.8.8.8", "8.8.8.8"),
        ("address", "2606:4700:0000::00AB", "2606:4700::ab"),
        ("address", "2002:0808:0808::1", "2002:808:808::1"),
        ("card", f" {CARD} ", CARD),
        ("email", " Ann+test@Example.ORG", "ann+test@example.org"),
        ("email", "\N{KELVIN SIGN}ate@example.org", "\N{KELVIN SIGN}ate@example.org"),
    ],
)
def test_values_are_stored_in_one_form(trait: Trait, text: str, expected: str) -> None:
    """However it is written, a value is stored and compared in one form."""
    assert stored(trait, text) == expected


@each_case(
    ("trait", "text", "said"),
    [
        ("address", "8.8.8.0/24", "network"),
        ("address", "8.8.8.8/32", "network"),
        ("address", "8.8.8.8/255.255.255.0", "network"),
        ("address", "8.8.8", "not an IP address"),
        ("address", "08.8.8.8", "not an IP address"),
        ("address", "134744072", "not an IP address"),
        ("address", "", "not an IP address"),
        ("address", "unknown", "not an IP address"),
        ("address", "fe80::1%eth0", "zone"),
        ("address", "2606:4700::1%1", "zone"),
        ("card", CARD[:15], "16 letters or digits"),
        ("card", f"{CARD}x", "16 letters or digits"),
        ("card", f"{CARD[:15]}-", "16 letters or digits"),
        ("card", f"{CARD[:15]}é", "16 letters or digits"),
        ("email", "ann", "not an e-mail address"),
        ("email", "ann@example.org, bob@example.org", "not an e-mail address"),
    ],
)
def test_what_is_no_such_value_is_refused(trait: Trait, text: str, said: str) -> None:
    """An invalid address, e-mail address or fingerprint is refused with the reason, which does not repeat it."""
    with pytest.raises(Invalid, match=said) as refused:
        stored(trait, text)
    assert not text or text not in str(refused.value)


@each_case(
    "address",
    [
        "10.0.0.1",
        "172.16.3.4",
        "192.168.1.1",
        "100.64.0.1",
        "127.0.0.1",
        "169.254.1.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "0.0.0.0",  # noqa: S104  nothing binds to it
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.51.100.7",
        "203.0.113.7",
        "::1",
        "::",
        "::ffff:10.0.0.1",
        "fc00::1",
        "fe80::1",
        "fec0::1",
        "ff0e::1",
        "2001:db8::1",
        "3fff::1",
        "100::1",
        "64:ff9b::808:808",
        "2002:0a00:0001::1",
    ],
)
def test_only_a_public_address_can_be_blocked(address: str) -> None:
    """Private, local, shared, reserved, multicast and documentation addresses are refused, in IPv6 clothes too."""
    with pytest.raises(Invalid, match="no public address"):
        stored("address", address)


@pytest.mark.parametrize("address", ["9.9.9.9", "::ffff:9.9.9.9", "2620:fe::1", "2002:909:909::1"])
def test_an_own_address_is_never_blocked(address: str) -> None:
    """What lies in a network of one's own is refused, in whatever form it is written."""
    with pytest.raises(Invalid, match="your own"):
        stored("address", address)


def test_one_or_two_entries_at_a_time() -> None:
    """None, and more than two, are refused."""
    some = [BlocklistValue("address", f"8.8.8.{number}") for number in range(1, 4)]
    assert len(checked(some[:2], OWN)) == 2
    with pytest.raises(Invalid, match="At most 2 entries"):
        checked(some, OWN)
    with pytest.raises(Invalid, match="Name what is meant"):
        checked([], OWN)


def test_the_same_entry_twice_is_refused() -> None:
    """Two ways of writing one address are one entry."""
    with pytest.raises(Invalid, match="twice"):
        checked([BlocklistValue("address", "8.8.8.8"), BlocklistValue("address", "::ffff:8.8.8.8")], OWN)


def test_what_is_let_go_may_be_anything_that_was_blocked() -> None:
    """An own or private address that got onto a list by another way can be named, so that it can be let go."""
    assert normalised([BlocklistValue("address", "10.0.0.1")]) == [BlocklistValue("address", "10.0.0.1")]


@given(st.text(max_size=40))
def test_any_text_is_taken_or_refused_in_a_sentence(text: str) -> None:
    """Whatever is typed, there is an entry or a sentence."""
    for trait in ("address", "card", "email"):
        assert stored_or_refused(trait, text)


def stored_or_refused(trait: Trait, text: str) -> str:
    """Return the value, or the sentence that refuses it."""
    try:
        return stored(trait, text)
    except Invalid as refused:
        return str(refused)


@pytest.mark.parametrize(
    ("noted", "expected"),
    [("::ffff:8.8.8.8", "8.8.8.8"), ("unknown", None), (None, None), ("10.0.0.1", "10.0.0.1")],
)
def test_a_noted_address_is_known_or_not(noted: str | None, expected: str | None) -> None:
    """What was noted with an offer is compared in one form; what is no address is not known."""
    assert known_address(noted) == expected
