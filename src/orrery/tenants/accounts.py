"""The accounts that the settings allow, and which of them a name is."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from orrery.errors import Invalid
from orrery.syntax.email_address import normal_email
from orrery.syntax.track import Track, label
from orrery.tenants.settings import TenantsSettings


@dataclass(frozen=True, slots=True)
class TrackAccount:
    """One account of one track; `name` is the address that it signs in with."""

    name: str
    track: Track
    label: str

    def __str__(self) -> str:
        return f"{self.name} ({label(self.track)}, {self.label})"


def accounts(settings: TenantsSettings) -> Iterator[TrackAccount]:
    """Yield the accounts of every track, in the order of the settings."""
    for track, found in settings.tracks.items():
        yield from (TrackAccount(name, track, found.label) for name in found.accounts)


def resolve(settings: TenantsSettings, name: str) -> TrackAccount:
    """Return the account with an address, or the only one with that name ahead of its @.

    Raises `Invalid` with the choices unless there is exactly one.
    """
    every, wanted = list(accounts(settings)), normal_email(name)
    if not every:
        raise Invalid("The settings allow no account: add `accounts` to [tenants.A] or [tenants.B].")
    found = [one for one in every if wanted in (one.name, one.name.partition("@")[0])]
    if not found:
        raise Invalid(f"No account of the settings has this name. Choose one of {_listed(every)}.")
    if len(found) > 1:
        raise Invalid(f"{len(found)} accounts have this name. Choose one of {_listed(found)}.")
    return found[0]


def sign_in_command(account: TrackAccount) -> str:
    """Return what to type to sign an account in."""
    return f"orrery tenants sign-in --account {account.name}"


def _listed(found: Iterable[TrackAccount]) -> str:
    return ", ".join(map(str, found))
