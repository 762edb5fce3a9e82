"""What the routes take and return (spec 3, Endpoints; decisions 35 and 57)."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from orrery.cockpit.inbox import InboxState
from orrery.cockpit.ledger import Action
from orrery.cockpit.rows import LONGEST_ID
from orrery.cockpit.sender_warnings import WarningKind
from orrery.cockpit.set_aside import Set
from orrery.cockpit.waiting import Reason
from orrery.ports.comms.messages import Priority, Source
from orrery.syntax.track import Track

LONGEST_COMMENT = 10_000

# The docstrings of these models are part of the operations' reference: they cite no source.


class RowRead(BaseModel):
    """One row of the list; its texts are one line each."""

    id: str
    source: Source
    sender: str
    subject: str
    preview: str
    received_at: AwareDatetime
    priority: Priority
    track: Track
    account: str
    web_link: str
    score: int
    replyable: bool
    until: str | None
    ends_at: AwareDatetime | None
    is_all_day: bool
    reason: Reason | None
    address: str
    warning: str


class NotListedRead(BaseModel):
    """How many rows were read and do not wait, in one line and by reason."""

    count: int
    reasons: dict[Reason, int]
    line: str


class MailboxRead(BaseModel):
    """How the rows of one mailbox are, or those of the action ledger, which has no track.

    `to_do` is the account whose To Do has the tasks of these rows; empty, the action ledger has them.
    """

    account: str
    track: Track | None
    state: InboxState
    why: str
    at: AwareDatetime | None
    asked_at: AwareDatetime | None
    count: int
    unreadable: int
    signs_in: bool
    caution: str
    to_do: str


class RowsRead(BaseModel):
    """The list, the state of each mailbox, the rows with an open task, and the versions of the page's files."""

    rows: list[RowRead]
    not_listed: NotListedRead
    mailboxes: list[MailboxRead]
    tasks: list[str]
    page: str
    started_page: str


class _Asked(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


RowIdText = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]


class CodeBody(_Asked):
    """The code of a link."""

    code: Annotated[str, Field(max_length=200)]


class TokenRead(BaseModel):
    """The token of the page."""

    token: str


class RowBody(_Asked):
    """A row."""

    rowId: RowIdText  # noqa: N815  the name that decision 35 gives it


class DraftBody(RowBody):
    """A row, and the text of the reply above the original."""

    comment: Annotated[str, Field(max_length=LONGEST_COMMENT)] = ""
    replyAll: bool = False  # noqa: N815  the name that decision 65 gives it


class PersonRead(BaseModel):
    """Somebody whom a message names; either may be empty."""

    name: str
    address: str
    track: Track


class WarningRead(BaseModel):
    """One thing to look at about who wrote, as a sentence."""

    kind: WarningKind
    words: str
    track: Track


class RecipientsRead(BaseModel):
    """Whom a draft goes to; `more` are how many are not named here."""

    to: list[PersonRead]
    cc: list[PersonRead]
    more: int


class AnswerRead(BaseModel):
    """Which message a draft would answer, and whom it would go to: alone, or to all where that is another list."""

    sender: PersonRead
    received_at: AwareDatetime
    is_newer: bool
    alone: RecipientsRead
    all: RecipientsRead | None
    warnings: list[WarningRead]
    track: Track


class HeadRead(BaseModel):
    """Who wrote a message to whom, what to look at, and whom an answer would go to, if one is possible."""

    sender: PersonRead
    to: list[PersonRead]
    cc: list[PersonRead]
    more: int
    warnings: list[WarningRead]
    answer: AnswerRead | None
    track: Track


class DraftRead(BaseModel):
    """A draft; a person sends it, elsewhere."""

    id: str
    isDraft: Literal[True] = True  # noqa: N815  the name that decision 35 gives it
    webLink: str  # noqa: N815  the same
    track: Track
    alreadyExisted: bool  # noqa: N815  the same


class TaskRead(BaseModel):
    """A task; `id` is that of its row, or of the task in To Do, which is no row."""

    id: str
    title: str
    score: int
    kind: str
    bucket: str
    source: Source
    sourceId: str  # noqa: N815  the name that decision 35 gives it
    track: Track
    alreadyExisted: bool  # noqa: N815  the same


class ActionBody(RowBody):
    """A row of the action ledger, and what is done with it."""

    action: Action


class ActionRead(BaseModel):
    """What was done; `changed` is false when the row was so already."""

    rowId: str  # noqa: N815  the name that decision 35 gives it
    action: Action
    track: Track
    changed: bool


class SetAsideBody(RowBody):
    """A row, and what is done with it; `until` is the day on which one for later comes back."""

    action: Set
    until: Annotated[date, Field(strict=False)] | None = None


class AsideRead(BaseModel):
    """The state of a row before, as a request that restores it."""

    action: Set
    until: date | None
    track: Track


class SetAsideRead(AsideRead):
    """What was done; `changed` is false when the row was so already. `before` undoes it."""

    rowId: str  # noqa: N815  the name that decision 35 gives it
    changed: bool
    before: AsideRead


class SignInBody(BaseModel):
    """The account of a mailbox whose person is to sign in."""

    model_config = ConfigDict(extra="forbid")

    account: str = Field(max_length=300)


class SignInRead(BaseModel):
    """Where the person signs in, with a browser on this machine."""

    address: str
    track: Track


class FindingRead(BaseModel):
    """One part: how it is, why, and what to do."""

    part: str
    state: Literal["ok", "broken", "off"]
    why: str
    todo: str


class HealthRead(BaseModel):
    """How every part is."""

    findings: list[FindingRead]
    at: datetime
