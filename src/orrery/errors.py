"""The errors that several rooms raise on purpose. A domain has others in its `errors.py`, and a port beside it.

OrreryError
├── Invalid                  the caller's input is wrong; nothing was written
│   ├── NotFound             what the caller names does not exist
│   │   └── RowGone          a row of the cockpit's list is no longer in its mailbox
│   ├── ApprovalRefused      an approval is used, expired, foreign, altered or wrongly signed
│   │   └── Overtaken        another process was first
│   └── StoreMissing         there is no store at the configured path, and none is created by opening it
├── StoreError
│   ├── StoreUnavailable     locked, full, corrupt or gone; nothing of this call was stored
│   ├── OutcomeUnknown       the answer of a commit was lost; repeat it with the same id
│   └── RecordUnreadable     one record was altered or cut, or a newer version wrote it; it stays as it is
├── OperationFailed
│   ├── OperationRefused     a change that was approved was refused; nothing was changed
│   ├── OperationUnanswered  no usable answer; the change may have been made
│   └── PartlyDone           of a change in two parts only one was made
├── ProcessorError
│   ├── ProcessorRefused     the processor understood and said no (an OperationRefused)
│   └── ProcessorUnreachable no usable answer within the deadline (an OperationUnanswered)
│       └── ItemUnreadable   one object of its answer is not as documented; the others can be read
├── CloudError
│   ├── CloudRefused         the cloud understood and said no (`status` and `code` are its own)
│   └── CloudUnreachable     no usable answer: none, or one that cannot be read; a change may have been made
├── MailboxError
│   ├── MailboxRefused       the mailbox understood and said no
│   └── MailboxUnreachable   no usable answer within the deadline; a draft may have been made
│       └── SignInNeeded     the account's sign-in has run out
├── TrackRefused             data of one track may not go where it was to go
└── NotConfigured            a setting or secret that this part needs is missing

Each class carries the HTTP status and the tag of its answer; a class without its own has those of its parent.
"""

import re
from http import HTTPStatus
from typing import ClassVar

_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_.\[\]-]")


class OrreryError(Exception):
    """The root: `str(error)` is one sentence that is safe to show to the owner and to log."""

    http_status: ClassVar[int] = 500
    tag: ClassVar[str] = "internal"

    def permanent_sentence(self) -> str:
        """Return a sentence for the approval log, which no erasure changes: without a vendor's own words."""
        return str(self)


class Invalid(OrreryError):
    """The caller's input is wrong; nothing was written."""

    http_status: ClassVar[int] = 400
    tag: ClassVar[str] = "invalid-request"


class NotFound(Invalid):
    """What the caller names does not exist."""

    http_status: ClassVar[int] = 404
    tag: ClassVar[str] = "not-found"


class ApprovalRefused(Invalid):
    """An approval does not count: used, expired, foreign, altered or wrongly signed; the refusal is in the log."""


class Overtaken(ApprovalRefused):
    """An approval that was just valid is used: another process was first."""


class StoreMissing(Invalid):
    """There is no store at the configured path: only `store create`, `init` and `demo` make one (decision 50)."""

    http_status: ClassVar[int] = 503
    tag: ClassVar[str] = "store-unavailable"


class StoreError(OrreryError):
    """The store could not carry out a call."""

    http_status: ClassVar[int] = 503
    tag: ClassVar[str] = "store-unavailable"


class StoreUnavailable(StoreError):
    """The store is locked, full, corrupt or gone; nothing of this call was stored."""


class OutcomeUnknown(StoreError):
    """The answer of a commit was lost: it may or may not be stored.

    Repeating the commit with the same `commit_id` returns the first outcome if there was one.
    """

    def __init__(self, message: str, commit_id: str) -> None:
        super().__init__(message)
        self.commit_id = commit_id


class RecordUnreadable(StoreError):
    """One record in the store was altered or cut, or a newer version wrote it; it stays as it is.

    `name` is its key, without digests of personal data.
    """

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The record {name} cannot be read: it was altered or cut, or a newer version wrote it. "
            "It is left as it is: run the version that wrote it, or restore a backup."
        )
        self.name = name


class NotConfigured(OrreryError):
    """A setting or secret that this part needs is missing (decision 41)."""

    http_status: ClassVar[int] = 503
    tag: ClassVar[str] = "not-configured"


class OperationFailed(OrreryError):
    """An operation that the owner approved did not succeed. A vendor's errors are of the three kinds below."""


class OperationRefused(OperationFailed):
    """The change was refused, and nothing was changed."""


class OperationUnanswered(OperationFailed):
    """No usable answer came: whether the change was made shows only by reading.

    `may_arrive` says whether the request may still arrive, so that a reading that shows nothing decides nothing.
    """

    def __init__(self, message: str, *, may_arrive: bool) -> None:
        super().__init__(message)
        self.may_arrive = may_arrive


class PartlyDone(OperationFailed):
    """Only one of two parts of a change was made; the sentence says which, without personal data."""


class ProcessorError(OrreryError):
    """A call to the payment processor did not succeed."""


class ProcessorRefused(ProcessorError, OperationRefused):
    """The processor understood the request and said no.

    `kind` is the processor's error type, `param` the parameter it names, `status` its HTTP status.
    """

    http_status: ClassVar[int] = 502
    tag: ClassVar[str] = "processor-refused"

    def __init__(
        self,
        message: str,
        *,
        status: int,
        kind: str | None = None,
        code: str | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.code = code
        self.param = param

    def permanent_sentence(self) -> str:
        """Return what is known of the refusal but its own sentence, which may contain personal data."""
        named = {"status": self.status, "code": self.code, "parameter": self.param}
        details = [f"{name} {_NOT_A_NAME.sub('', str(value))[:80]}" for name, value in named.items() if value]
        return f"The processor refused it ({', '.join(details)})."


class ProcessorUnreachable(ProcessorError, OperationUnanswered):
    """No usable answer within the deadline: network trouble, a 5xx, a 429, or a body that is not the contract's.

    `same_key` says whether a repeat must carry the same idempotency key: yes after a lost answer, a 409 or
    a 429; no after a 5xx, which the processor stores and replays under its key.
    """

    http_status: ClassVar[int] = 503
    tag: ClassVar[str] = "processor-unreachable"

    def __init__(self, message: str, *, same_key: bool, status: int | None = None) -> None:
        super().__init__(message, may_arrive=status is None or status >= HTTPStatus.INTERNAL_SERVER_ERROR)
        self.same_key = same_key
        self.status = status


class ItemUnreadable(ProcessorUnreachable):
    """One object of the processor's answer is not as documented; the others can be read.

    Lists yield it in the object's place, so that each caller decides what the gap means. `kind` is the processor's
    name for the object, `item_id` None where it has no usable id, `fields` names the wrong fields. The sentence
    contains no id: a session's id opens its access (decision 46).
    """

    def __init__(self, kind: str, item_id: str | None, fields: tuple[str, ...]) -> None:
        wrong = f" ({', '.join(fields)})" if fields else ""
        what = f"A {kind} from the processor cannot be read: it is not as documented{wrong}."
        super().__init__(what, same_key=True, status=HTTPStatus.OK)
        self.kind = kind
        self.item_id = item_id
        self.fields = fields


class CloudError(OrreryError):
    """A call to the cloud did not succeed: `why` is the reason, `todo` what to do about it."""

    def __init__(self, why: str, todo: str = "") -> None:
        super().__init__(f"{why} {todo}".strip())
        self.why = why
        self.todo = todo


class CloudRefused(CloudError):
    """The cloud understood the request and said no: `status` is its HTTP status, `code` its own word for why."""

    def __init__(self, why: str, todo: str = "", *, status: int, code: str = "") -> None:
        super().__init__(why, todo)
        self.status = status
        self.code = code


class CloudUnreachable(CloudError):
    """No usable answer: none in time, one that cannot be read, a 5xx, too many requests; a change may be made."""


class RowGone(NotFound):
    """A row of the cockpit's list is no longer in its mailbox, or was never there."""

    tag: ClassVar[str] = "row-gone"


class MailboxError(OrreryError):
    """A call to a mailbox did not succeed.

    `unread` are the sources that were not listed to their end; where it is empty, none was.
    """

    def __init__(self, message: str, *, unread: frozenset[str] = frozenset()) -> None:
        super().__init__(message)
        self.unread = unread


class MailboxRefused(MailboxError):
    """The mailbox understood the request and said no."""

    http_status: ClassVar[int] = 502
    tag: ClassVar[str] = "mailbox-refused"


class MailboxUnreachable(MailboxError):
    """No usable answer within the deadline: network trouble, a 5xx, or too many requests; a draft may be made."""

    http_status: ClassVar[int] = 503
    tag: ClassVar[str] = "mailbox-unreachable"


class SignInNeeded(MailboxUnreachable):
    """The account's sign-in has run out: a person must sign in again."""

    tag: ClassVar[str] = "sign-in-needed"


class TrackRefused(OrreryError):
    """Data of one track may not go where it was to go (spec 3, Authentication 4)."""
