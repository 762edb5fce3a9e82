"""Whose mailbox it is: an id for chats, and the addresses by which mail reaches the account."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from orrery.ports.comms.errors import MailboxUnreachable


@dataclass(frozen=True, slots=True)
class Owner:
    """An account's own id at the vendor, and its addresses in lower case."""

    id: str
    addresses: frozenset[str]


def owner_of(answer: Mapping[str, Any], *known: str) -> Owner:
    """Return an account as the vendor describes it, with the addresses that are `known` besides.

    Raises `MailboxUnreachable` when its owner is missing.
    """
    own_id, others = answer.get("id"), answer.get("proxyAddresses")
    if not isinstance(own_id, str):
        raise MailboxUnreachable("The mailbox does not name its owner.")
    held = cast("list[object]", others) if isinstance(others, list) else []
    # Each is behind its kind and a colon; that of chats is no other address.
    proxies = (one.partition(":")[2] for one in held if isinstance(one, str) and "@" in one)
    named = (one for one in (*known, answer.get("mail"), *proxies) if isinstance(one, str) and one)
    return Owner(own_id, frozenset(one.casefold() for one in named))
