"""The identity provider of a track, as a port: a person signs in for one app at one tenant's authority.

There is no call for an application that signs in by itself: access to work data is delegated (spec 3,
Authentication 4).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from orrery.errors import OrreryError


class IdentityError(OrreryError):
    """A sign-in with the identity provider did not succeed."""


class IdentityRefused(IdentityError):
    """The identity provider refused; `code` is its own word for why."""

    http_status: ClassVar[int] = 502
    tag: ClassVar[str] = "identity-refused"

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class IdentityUnreachable(IdentityError):
    """No usable answer from the identity provider within the deadline."""

    http_status: ClassVar[int] = 503
    tag: ClassVar[str] = "identity-unreachable"


@dataclass(frozen=True, slots=True)
class Authority:
    """One tenant's authority for one registered app; both are GUIDs in lower case."""

    tenant: str
    client: str


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A token for the API. It is read to refuse it, never to allow something (decision 38).

    `claims` is the JSON of its payload, whose signature only the API can verify; None when it is opaque.
    `granted` are the scopes that the answer named, empty when it named none.
    """

    value: str = field(repr=False)
    claims: bytes | None = field(repr=False)
    granted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What the authority answered when a person signed in.

    `id_claims` is the JSON of the id token's payload; its signature was verified with a key of the authority.
    `home_account` is `<object id>.<tenant id>` of the account at home, empty when the answer does not name it.
    `cache` is what `silently` needs later: the library's own text, with the account's refresh token.
    """

    id_claims: bytes = field(repr=False)
    home_account: str
    access: AccessToken
    cache: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Refreshed:
    """A token without a person; `cache` is None when it is as before."""

    access: AccessToken
    cache: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """The code that a person types at `address` within `seconds`."""

    code: str
    address: str
    seconds: int


class IdentityProvider(Protocol):
    """Signs people in. Every call has a deadline, and raises `IdentityRefused` or `IdentityUnreachable`."""

    def by_device_code(
        self, authority: Authority, scopes: Sequence[str], show: Callable[[DeviceCode], None]
    ) -> SignedIn:
        """Wait until the person has typed the code that `show` is called with, or has declined."""
        ...

    def in_browser(
        self, authority: Authority, scopes: Sequence[str], account: str, visit: Callable[[str], None]
    ) -> SignedIn:
        """Wait for a person in a browser on this machine; `visit` is called with the address that it must open."""
        ...

    def silently(self, authority: Authority, scopes: Sequence[str], home_account: str, cache: str) -> Refreshed:
        """Return a token of the one account in a cache; raise `SignInNeeded` when a person must sign in again.

        A cache that is not this account's raises `SignInNeeded`, too.
        """
        ...


class SignInFiles(Protocol):
    """One private file for each name. Raises `SignInFileUnusable`, naming what is wrong with the file."""

    def path_of(self, name: str) -> Path:
        """Return the file's path, for a sentence about it."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return what the file holds, or None without one; refuse another user's, and one that others may read."""
        ...

    def change(self, name: str, change: Callable[[bytes | None], bytes]) -> None:
        """Replace the file by what `change` makes of it, at once; no other process changes it meanwhile."""
        ...
