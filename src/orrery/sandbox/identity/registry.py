"""Which access tokens were issued, for the stand-ins that take them."""

import hashlib
from dataclasses import dataclass

from orrery.sandbox.identity.config import ACCOUNTS, SignInAccount
from orrery.sandbox.state import DocumentStore

_KIND = "_identity_access"


@dataclass(frozen=True, slots=True)
class Issued:
    """What an access token stands for; it is good until `expires`, a Unix time by the sandbox's clock."""

    account: SignInAccount
    tenant: str
    scopes: frozenset[str]
    expires: float


class Registry:
    """The access tokens that were issued, kept in the sandbox's state."""

    def __init__(self, state: DocumentStore) -> None:
        self._state = state

    def add(self, token: str, issued: Issued) -> None:
        """Keep a token's digest with what it stands for."""
        self._state.save(
            {
                "object": _KIND,
                "id": _digest(token),
                "account": issued.account.username,
                "tenant": issued.tenant,
                "scopes": sorted(issued.scopes),
                "expires": issued.expires,
            }
        )

    def issued(self, token: str) -> Issued | None:
        """Return what a token stands for, expired or not; None when it was not issued here."""
        found = self._state.get(_KIND, _digest(token))
        if found is None:
            return None
        scopes = frozenset[str](found["scopes"])
        return Issued(ACCOUNTS[found["account"]], found["tenant"], scopes, found["expires"])


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
