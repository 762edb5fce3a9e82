"""The section `[cockpit]` of `orrery.toml`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from orrery.ports.comms.messages import Priority, Source
from orrery.runtime.section import Section
from orrery.runtime.settings import HasStore
from orrery.syntax.base_url import THIS_MACHINE
from orrery.syntax.track import TRACKS, Track

SCORES: dict[Priority, int] = {"high": 80, "normal": 50, "low": 20}
KINDS: dict[Source, str] = {"mail": "answer", "teams": "answer", "meeting": "prepare", "action-hub": "do"}
BUCKETS: dict[Source, str] = {"mail": "Inbox", "teams": "Chats", "meeting": "Calendar", "action-hub": "Actions"}

Word = Annotated[str, Field(pattern=r"^\w[\w .-]{0,39}$")]
FolderName = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{1,200}$")]
Score = Annotated[int, Field(ge=0, le=100)]


def _scores(given: Mapping[Priority, int]) -> Mapping[Priority, int]:
    return {**SCORES, **given}


def _kinds(given: Mapping[Source, str]) -> Mapping[Source, str]:
    return {**KINDS, **given}


def _buckets(given: Mapping[Source, str]) -> Mapping[Source, str]:
    return {**BUCKETS, **given}


AccountAddress = Annotated[str, Field(pattern=r"^[^\s@]{1,64}@[^\s@]{1,200}$")]
ListId = Annotated[str, Field(pattern=r"^[^\s<>]{1,255}$")]
ListName = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{1,100}$")]


class MailboxSettings(Section):
    """What every mailbox has, whatever its `kind`. One without a track has that of its account's sign-in.

    Mail to one of `addresses` is mail to the account, too.
    """

    account: AccountAddress
    addresses: Annotated[tuple[AccountAddress, ...], Field(max_length=100)] = ()

    @property
    def stated_track(self) -> Track | None:
        """The track that the settings state."""
        return None


class TrackedMailboxSettings(MailboxSettings):
    """A mailbox whose track only the settings know."""

    track: Track

    @property
    def stated_track(self) -> Track | None:
        return self.track


class MicrosoftMailboxSettings(MailboxSettings):
    """Mail, chats and meetings at Microsoft Graph, of an account of [tenants], whose track it has.

    `sources` are listed. Mail is listed as far back as `days`; 0 is all of it.
    """

    kind: Literal["microsoft"]
    sources: tuple[Literal["mail", "teams", "meeting"], ...] = Field(("mail", "teams", "meeting"), min_length=1)
    days: int = Field(30, ge=0, le=36_500)


class SampleMailboxSettings(TrackedMailboxSettings):
    """A made-up mailbox, whose drafts are kept in `folder`; `messages` makes it larger."""

    kind: Literal["sample"]
    folder: Path
    messages: int = Field(0, ge=0, le=100_000)


class ImapMailboxSettings(TrackedMailboxSettings):
    """Mail by IMAP. Its password is in the secret file `imap_passwords`.

    `folders` are listed, as far back as `days`. Drafts go to `drafts_folder`, and sent mail is in `sent_folder`,
    else in those that the server names.
    """

    kind: Literal["imap"]
    host: str = Field(pattern=r"^[A-Za-z0-9.:-]{1,253}$")
    port: int | None = Field(None, ge=1, le=65535)
    security: Literal["tls", "starttls", "none"] = "tls"
    username: str | None = Field(None, min_length=1, max_length=500)
    folders: tuple[FolderName, ...] = Field(("INBOX",), min_length=1, max_length=20)
    drafts_folder: FolderName | None = None
    sent_folder: FolderName | None = None
    days: int = Field(30, ge=1, le=36_500)

    @field_validator("track")
    @classmethod
    def _not_of_track_a(cls, track: Track) -> Track:
        if track == "A":
            raise ValueError(
                "an IMAP password has no scopes, so nothing shows that it could not send: IMAP is for track B only"
            )
        return track

    @field_validator("drafts_folder")
    @classmethod
    def _not_an_outbox(cls, folder: str | None) -> str | None:
        if folder and folder.casefold().endswith("outbox"):
            raise ValueError("some servers send what is put into a folder of this name")  # Courier's does
        return folder

    @model_validator(mode="after")
    def _in_clear_only_here(self) -> Self:
        if self.security == "none" and self.host not in THIS_MACHINE:
            raise ValueError("security may be none only for a mail server on this machine")
        return self


AnyMailbox = Annotated[
    SampleMailboxSettings | ImapMailboxSettings | MicrosoftMailboxSettings, Field(discriminator="kind")
]
"""The settings of one mailbox, by its `kind`."""


class ToDoSettings(Section):
    """Which tracks have their tasks in Microsoft To Do, and not in the action ledger.

    A row of a Microsoft mailbox becomes a task of the same account, any other row of the track one of the account
    that is named here.
    """

    A: AccountAddress | None = None
    B: AccountAddress | None = None
    list_name: ListName = "Orrery"

    @property
    def accounts(self) -> dict[Track, str]:
        """The account that each track names."""
        both: dict[Track, str | None] = {"A": self.A, "B": self.B}
        return {track: name for track in TRACKS if (name := both[track])}

    @model_validator(mode="after")
    def _keep_apart(self) -> Self:
        if self.A and self.B and self.A.casefold() == self.B.casefold():
            raise ValueError("an account belongs to one track only")
        return self


class CockpitSettings(HasStore):
    """Where the cockpit listens and keeps its store, and how a row becomes a task (spec 3, Cockpit records).

    A mapping that leaves out a key has its default. `watched_lists` are mailing lists whose mail waits like mail
    to the account: the id or the address of each.
    """

    STORE_KEY = "store"

    port: int = Field(8791, ge=1024, le=65535)
    store: Path = Path(".orrery/cockpit.db")
    mailboxes: tuple[AnyMailbox, ...] = ()
    watched_lists: Annotated[tuple[ListId, ...], Field(max_length=1000)] = ()
    to_do: ToDoSettings = ToDoSettings()
    scores: Annotated[Mapping[Priority, Score], AfterValidator(_scores)] = SCORES
    kinds: Annotated[Mapping[Source, Word], AfterValidator(_kinds)] = KINDS
    buckets: Annotated[Mapping[Source, Word], AfterValidator(_buckets)] = BUCKETS

    @model_validator(mode="after")
    def _name_each_account_once(self) -> Self:
        signing_in = {one.account.casefold() for one in self.mailboxes if one.stated_track is None}
        named = [
            (None if (name := one.account.casefold()) in signing_in else one.stated_track, name)
            for one in self.mailboxes
        ]
        if len(set(named)) < len(named):
            raise ValueError("two mailboxes have the same track and account")
        return self
