"""The file of one track's sign-ins: who signed in, and what the library needs to go on without a person."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import AwareDatetime, Field, ValidationError

from orrery.ports.identity import SignInFiles
from orrery.ports.private_file import SignInFileUnusable
from orrery.record import Code, PersonalText, Record, RecordPart
from orrery.syntax.track import Track
from orrery.tenants.settings import Guid, TrackSettings


class SignIn(RecordPart):
    """One account that signed in: the claims of its verified id token (decision 38), and the library's cache."""

    tenant: Guid
    object_id: Guid
    signed_in_at: AwareDatetime
    scopes: tuple[Code, ...]
    cache: PersonalText = Field(repr=False)

    @property
    def home_account(self) -> str:
        """The account as the provider names it at home, which is this tenant."""
        return f"{self.object_id}.{self.tenant}"


class TrackSignIns(Record):
    """The content of the file."""

    track: Track
    tenant: Guid
    client: Guid
    sign_ins: Mapping[PersonalText, SignIn] = Field(default_factory=dict[str, SignIn])


@dataclass(frozen=True, slots=True)
class SignInFile:
    """The sign-ins of one track, by the accounts' names. Every method raises `SignInFileUnusable`."""

    files: SignInFiles
    track: Track
    settings: TrackSettings

    def all(self) -> Mapping[str, SignIn]:
        """Return every sign-in of an account that the settings still allow."""
        return self._allowed(self._read(self.files.read(self.track)))

    def put(self, name: str, sign_in: SignIn) -> None:
        """Keep a sign-in in place of an earlier one."""
        self._change(lambda found: {**found, name: sign_in})

    def renew(self, name: str, before: SignIn, cache: str) -> None:
        """Keep what was renewed, unless the account has signed out or in again meanwhile."""

        def change(found: Mapping[str, SignIn]) -> Mapping[str, SignIn]:
            now = found.get(name)
            same = now is not None and now.signed_in_at == before.signed_in_at
            return {**found, name: now.change(cache=cache)} if now and same else found

        self._change(change)

    def remove(self, name: str) -> bool:
        """Remove a sign-in; return whether it was there."""
        if name not in self._read(self.files.read(self.track)).sign_ins:
            return False
        self._change(lambda found: {other: one for other, one in found.items() if other != name})
        return True

    def _change(self, change: Callable[[Mapping[str, SignIn]], Mapping[str, SignIn]]) -> None:
        def work(content: bytes | None) -> bytes:
            found = self._read(content)
            return found.change(sign_ins=change(self._allowed(found))).to_bytes()

        self.files.change(self.track, work)

    def _allowed(self, found: TrackSignIns) -> Mapping[str, SignIn]:
        return {name: one for name, one in found.sign_ins.items() if name in self.settings.accounts}

    def _read(self, content: bytes | None) -> TrackSignIns:
        if content is None:
            return TrackSignIns(track=self.track, tenant=self.settings.tenant, client=self.settings.client)
        try:
            found = TrackSignIns.from_bytes(content)
        except ValidationError:
            raise self._unusable("is cut, or a newer version wrote it") from None
        if found.track != self.track:
            raise self._unusable("is that of another track")
        if found.tenant != self.settings.tenant:
            raise self._unusable("is that of another tenant")
        if found.client != self.settings.client:
            raise self._unusable("is that of another registered app")
        if any(one.tenant != found.tenant for one in found.sign_ins.values()):
            raise self._unusable("holds an account of another tenant")
        return found

    def _unusable(self, why: str) -> SignInFileUnusable:
        file = self.files.path_of(self.track)
        return SignInFileUnusable(
            f"{file}, the sign-ins of track {self.track}, {why}: delete it, and sign in again."
        )
