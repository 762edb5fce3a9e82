"""The section `[tenants]` of `orrery.toml`: the two tracks, and the tool that is run for an account."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from orrery.errors import Invalid
from orrery.runtime.section import Address, Section
from orrery.syntax.email_address import is_email_address, normal_email
from orrery.syntax.track import TRACKS, Track
from orrery.tenants.scopes import ASKED_ANYWAY, not_allowed

DestinationKind = Literal["repository", "blog", "social", "shared-folder"]
"""Where data may go (spec 3, Authentication 4)."""


def _lower(text: str) -> str:
    return text.lower()


Guid = Annotated[
    str, Field(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"), AfterValidator(_lower)
]
Word = Annotated[str, Field(pattern=r"^\S{1,100}$")]
Flag = Annotated[str, Field(pattern=r"^--?[A-Za-z][A-Za-z0-9_-]*$")]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


def _is_address(text: str) -> str:
    if not is_email_address(text):
        raise ValueError("an account is named as it signs in, such as ann@corp.example")
    return normal_email(text)


AccountName = Annotated[str, AfterValidator(_is_address)]


def _can_be_asked_for(scopes: tuple[str, ...]) -> tuple[str, ...]:
    if refused := not_allowed(scopes):
        raise ValueError(f"{', '.join(refused)} can send or share, or is not known to only read")
    if named := sorted(ASKED_ANYWAY.intersection(scopes)):
        raise ValueError(f"leave out {', '.join(named)}: each sign-in asks for that anyway")
    return scopes


class Destination(Section):
    """One place where data of a track may go. `folder` is its place; a social one has none: a post is text."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")
    kind: DestinationKind
    folder: Path | None = None

    @model_validator(mode="after")
    def _lie_somewhere(self) -> Self:
        if (self.folder is None) != (self.kind == "social"):
            raise ValueError("a destination has a folder, unless its kind is social")
        return self


class TrackSettings(Section):
    """One track: its tenant, its registered app, who may sign in, and where its data may go."""

    label: str = Field(pattern=r"^\w[\w .-]{0,39}$")
    tenant: Guid
    client: Guid
    accounts: tuple[AccountName, ...] = ()
    scopes: Annotated[tuple[Word, ...], AfterValidator(_can_be_asked_for)] = ("User.Read",)
    destinations: tuple[Destination, ...] = ()


class ToolSettings(Section):
    """The command-line tool of `orrery tenants run`.

    `account_flag` names the account, `account_aliases` are its other names, and `account_variable` is the variable
    that names an account, too; `words_ahead` is how many words of a command come before the flag; `cleared` are
    further variables that the tool must not see. `server_mode` are the words that start its server mode, which
    ignores flag and variable (spec 3, Authentication 4).
    """

    program: Path | None = None
    account_flag: Flag = "--account"
    account_aliases: tuple[Flag, ...] = ()
    account_variable: Variable | None = None
    words_ahead: int = Field(default=0, ge=0, le=9)
    cleared: tuple[Variable, ...] = ()
    server_mode: tuple[Word, ...] = ("mcp", "serve", "server", "--server")


class TenantsSettings(Section):
    """The tracks. `directory` holds one file a track with its sign-ins.

    `authority` and `api` are others for the sandbox and for national clouds.
    """

    directory: Path = Path(".orrery/tenants")
    authority: Address = "https://login.microsoftonline.com"
    api: Address = "https://graph.microsoft.com"
    A: TrackSettings | None = None
    B: TrackSettings | None = None
    tool: ToolSettings = ToolSettings()

    @property
    def tracks(self) -> dict[Track, TrackSettings]:
        """The tracks that the settings have."""
        both: dict[Track, TrackSettings | None] = {"A": self.A, "B": self.B}
        return {track: found for track in TRACKS if (found := both[track])}

    def require(self, track: Track) -> TrackSettings:
        """Return a track; raise `Invalid` when the settings do not have it."""
        found = self.tracks.get(track)
        if found is None:
            raise Invalid(f"The settings have no track {track}: add [tenants.{track}].")
        return found

    def destinations(self) -> Iterator[tuple[Track, Destination]]:
        """Yield every destination with its track."""
        for track, found in self.tracks.items():
            for one in found.destinations:
                yield track, one

    @model_validator(mode="after")
    def _keep_apart(self) -> Self:
        if self.A and self.B:
            _refuse_common(self.A, self.B)
        names = [one.name for _, one in self.destinations()]
        if len(set(names)) < len(names):
            raise ValueError("two destinations have the same name")
        return self


def _refuse_common(one: TrackSettings, other: TrackSettings) -> None:
    if one.tenant == other.tenant:
        raise ValueError("both tracks have the same tenant")
    if set(one.accounts) & set(other.accounts):
        raise ValueError("an account belongs to one track only")
