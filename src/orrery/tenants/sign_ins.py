"""Signing in, and the tokens of the accounts that did: each use names the account (spec 3, Authentication 4)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from orrery.ports.clock import Clock
from orrery.ports.comms.errors import SignInNeeded
from orrery.ports.identity import Authority, DeviceCode, IdentityProvider, SignedIn, SignInFiles
from orrery.ports.private_file import SignInFileUnusable
from orrery.syntax.track import Track
from orrery.tenants.accounts import TrackAccount, accounts, resolve
from orrery.tenants.claims import ExpectedClaims, judge_access, judge_sign_in
from orrery.tenants.settings import TenantsSettings, TrackSettings
from orrery.tenants.sign_in_file import SignIn, SignInFile


@dataclass(frozen=True, slots=True)
class AccountToken:
    """A token for the API in one account's name, of one track."""

    account: TrackAccount
    tenant: str
    value: str = field(repr=False)
    scopes: tuple[str, ...]
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SignIns:
    """Signs accounts in and out, and returns their tokens.

    Raises `Invalid` for a name that is no account, `SignInRefused` for what a track does not allow, of which it
    keeps nothing, `SignInNeeded`, `SignInFileUnusable` and the errors of the identity provider.
    """

    settings: TenantsSettings
    identity: IdentityProvider
    files: SignInFiles
    clock: Clock

    def by_device_code(self, name: str, show: Callable[[DeviceCode], None]) -> TrackAccount:
        """Sign in with a code that the person types on any device."""
        account, track = self._of(name)
        return self._keep(account, self.identity.by_device_code(_authority(track), track.scopes, show))

    def in_browser(self, name: str, visit: Callable[[str], None]) -> TrackAccount:
        """Sign in with a browser on this machine."""
        account, track = self._of(name)
        return self._keep(account, self.identity.in_browser(_authority(track), track.scopes, account.name, visit))

    def sign_out(self, name: str) -> bool:
        """Forget an account's sign-in; return whether there was one."""
        account, _ = self._of(name)
        return self.file(account.track).remove(account.name)

    def find(self, name: str) -> tuple[TrackAccount, SignIn | None]:
        """Return an account with its sign-in, if there is one."""
        account, _ = self._of(name)
        return account, self.file(account.track).all().get(account.name)

    def all(self) -> Iterator[tuple[TrackAccount, SignIn | SignInFileUnusable | None]]:
        """Yield every account of the settings with its sign-in, or with why its track's file cannot be used."""
        for one in accounts(self.settings):
            try:
                yield one, self.file(one.track).all().get(one.name)
            except SignInFileUnusable as error:
                yield one, error

    def token(self, name: str) -> AccountToken:
        """Return a token of an account that signed in, judged again."""
        account, track = self._of(name)
        file = self.file(account.track)
        sign_in = file.all().get(account.name)
        if sign_in is None:
            raise SignInNeeded(
                f"{account} is not signed in: type `orrery tenants sign-in --account {account.name}`."
            )
        found = self.identity.silently(_authority(track), track.scopes, sign_in.home_account, sign_in.cache)
        access, now = found.access, self.clock.now()
        expected = self._expected(account, track)
        judged = judge_access(access.claims, access.granted, sign_in.object_id, expected, now)
        if found.cache is not None:
            file.renew(account.name, sign_in, found.cache)
        return AccountToken(account, track.tenant, access.value, judged.scopes, judged.expires_at)

    def _keep(self, account: TrackAccount, found: SignedIn) -> TrackAccount:
        track, now = self.settings.require(account.track), self.clock.now()
        expected = self._expected(account, track)
        object_id = judge_sign_in(found.id_claims, found.home_account, expected, now)
        judged = judge_access(found.access.claims, found.access.granted, object_id, expected, now)
        sign_in = SignIn(
            tenant=track.tenant, object_id=object_id, signed_in_at=now, scopes=judged.scopes, cache=found.cache
        )
        self.file(account.track).put(account.name, sign_in)
        return account

    def _of(self, name: str) -> tuple[TrackAccount, TrackSettings]:
        account = resolve(self.settings, name)
        return account, self.settings.require(account.track)

    def file(self, track: Track) -> SignInFile:
        """Return the file of a track's sign-ins."""
        return SignInFile(self.files, track, self.settings.require(track))

    def _expected(self, account: TrackAccount, track: TrackSettings) -> ExpectedClaims:
        return ExpectedClaims(self.settings.authority.rstrip("/"), track.tenant, track.client, account.name)


def _authority(track: TrackSettings) -> Authority:
    return Authority(track.tenant, track.client)
