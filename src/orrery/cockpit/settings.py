"""The section `[cockpit]` of `orrery.toml`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from orrery.ports.comms.messages import Priority, Source
from orrery.runtime.section import Section
from orrery.runtime.settings import HasStore
from orrery.syntax.track import Track

SCORES: dict[Priority, int] = {"high": 80, "normal": 50, "low": 20}
KINDS: dict[Source, str] = {"mail": "answer", "teams": "answer", "meeting": "prepare", "action-hub": "do"}
BUCKETS: dict[Source, str] = {"mail": "Inbox", "teams": "Chats", "meeting": "Calendar", "action-hub": "Actions"}

Word = Annotated[str, Field(pattern=r"^\w[\w .-]{0,39}$")]
Score = Annotated[int, Field(ge=0, le=100)]


def _scores(given: Mapping[Priority, int]) -> Mapping[Priority, int]:
    return {**SCORES, **given}


def _kinds(given: Mapping[Source, str]) -> Mapping[Source, str]:
    return {**KINDS, **given}


def _buckets(given: Mapping[Source, str]) -> Mapping[Source, str]:
    return {**BUCKETS, **given}


class MailboxSettings(Section):
    """One mailbox: `sample` is a made-up one, whose drafts are kept in `folder`; `messages` makes it larger."""

    kind: Literal["sample"]
    account: str = Field(pattern=r"^[^\s@]{1,64}@[^\s@]{1,200}$")
    track: Track
    folder: Path
    messages: int = Field(0, ge=0, le=100_000)


class CockpitSettings(HasStore):
    """Where the cockpit listens and keeps its store, and how a row becomes a task (spec 3, Cockpit records).

    A mapping that leaves out a key has its default.
    """

    STORE_KEY = "store"

    port: int = Field(8791, ge=1024, le=65535)
    store: Path = Path(".orrery/cockpit.db")
    mailboxes: tuple[MailboxSettings, ...] = ()
    scores: Annotated[Mapping[Priority, Score], AfterValidator(_scores)] = SCORES
    kinds: Annotated[Mapping[Source, Word], AfterValidator(_kinds)] = KINDS
    buckets: Annotated[Mapping[Source, Word], AfterValidator(_buckets)] = BUCKETS

    @model_validator(mode="after")
    def _name_each_account_once(self) -> Self:
        named = [(one.track, one.account.casefold()) for one in self.mailboxes]
        if len(set(named)) < len(named):
            raise ValueError("two mailboxes have the same track and account")
        return self
