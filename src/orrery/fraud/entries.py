"""What may be put on the processor's fraud lists (spec 1, Fraud value lists; decision 18): pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from orrery.errors import Invalid
from orrery.fraud.clusters import Trait
from orrery.syntax.email_address import is_email_address, normal_email

MOST_AT_ONCE = 2
"""One or two entries at a time: more harm the account's risk score (spec 1, Errors)."""

_FINGERPRINT = re.compile(r"[A-Za-z0-9]{16}")

_NOT_PUBLIC = [ip_network(text) for text in ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20", "fec0::/10")]
"""What Python's `is_global` lets pass though no client has such an address (IANA's special-purpose registries)."""

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Blocklist:
    """A list of the processor's: found by its alias, it takes values of one type (spec 1, Fraud value lists)."""

    alias: str
    item_type: str


LISTS: dict[Trait, Blocklist] = {
    "address": Blocklist("client_ip_address_blocklist", "ip_address"),
    "card": Blocklist("card_fingerprint_blocklist", "card_fingerprint"),
    "email": Blocklist("email_blocklist", "email"),
}


@dataclass(frozen=True, slots=True)
class BlocklistValue:
    """One value to be blocked or unblocked, as a person typed it or as `checked` returns it."""

    trait: Trait
    value: str

    @property
    def blocklist(self) -> Blocklist:
        """The list that it belongs on."""
        return LISTS[self.trait]


def checked(wanted: Sequence[BlocklistValue], own: Sequence[Network]) -> list[BlocklistValue]:
    """Return the entries as they are stored; raise `Invalid` with the reason when they may not be."""
    normal = normalised(wanted)
    for one in normal:
        if one.trait == "address":
            _refuse_unblockable(ip_address(one.value), own)
    return normal


def normalised(wanted: Sequence[BlocklistValue]) -> list[BlocklistValue]:
    """Return one or two different entries as they are stored; raise `Invalid` for others."""
    if not wanted:
        raise Invalid("Name what is meant: --ip, --email or --card.")
    if len(wanted) > MOST_AT_ONCE:
        raise Invalid(f"At most {MOST_AT_ONCE} entries at a time: bulk additions harm the account's risk score.")
    normal = [BlocklistValue(one.trait, normal_value(one.trait, one.value)) for one in wanted]
    if len(set(normal)) < len(normal):
        raise Invalid("The same entry is named twice.")
    return normal


def normal_value(trait: Trait, text: str) -> str:
    """Return a value as it is stored and compared; raise `Invalid`, which repeats nothing of it."""
    match trait:
        case "address":
            return str(read_address(text))
        case "card":
            return _fingerprint(text.strip())
        case "email":
            return _email(normal_email(text))


def read_address(text: str) -> Address:
    """Return one client address, with an IPv4-mapped IPv6 address as IPv4; raise `Invalid`."""
    text = text.strip()
    if "%" in text:
        raise Invalid("An address with a zone (%) is of one's own network: it cannot be blocked.")
    try:
        address = ip_address(text)
    except ValueError:
        raise Invalid(_why_no_address(text)) from None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def known_address(text: str | None) -> str | None:
    """Return a noted client address in its compared form, or None when it is no address."""
    try:
        return str(read_address(text)) if text else None
    except Invalid:
        return None


def _why_no_address(text: str) -> str:
    try:
        _ = ip_network(text, strict=False)
    except ValueError:
        return "That is not an IP address."
    return "That is a network: name one address, such as the one that the declines came from."


def _refuse_unblockable(address: Address, own: Sequence[Network]) -> None:
    if any(address in network for network in own):
        raise Invalid("That address is one of your own ([fraud] own_addresses or [server] trusted_proxies).")
    if not _may_be_a_client(address):
        raise Invalid("That is no public address (private, local, shared, reserved or for documentation).")
    if isinstance(address, IPv6Address) and address.sixtofour:
        _refuse_unblockable(address.sixtofour, own)


def _may_be_a_client(address: Address) -> bool:
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    return not any(address in network for network in _NOT_PUBLIC)


def _fingerprint(text: str) -> str:
    if not _FINGERPRINT.fullmatch(text):
        raise Invalid("A card fingerprint has 16 letters or digits, as the processor shows it.")
    return text


def _email(text: str) -> str:
    if not is_email_address(text):
        raise Invalid("That is not an e-mail address.")
    return text
