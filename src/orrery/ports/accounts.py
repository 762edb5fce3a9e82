"""The accounts that sign in at their track's tenant, as a port: tokens in their names, and a new sign-in."""

from collections.abc import Callable
from typing import Protocol


class Accounts(Protocol):
    """Raises `SignInNeeded`, `SignInRefused`, `SignInFileUnusable` and the errors of the identity provider."""

    async def token(self, account: str) -> str:
        """Return a token of an account that is good for minutes; the same one until it runs out."""
        ...

    async def forget(self, account: str) -> None:
        """Ask for another token the next time: the API has refused this one."""
        ...

    async def sign_in(self, account: str, visit: Callable[[str], None]) -> None:
        """Let a person sign in; `visit` is called with the address that a browser on this machine must open."""
        ...
