"""Every error that Orrery raises on purpose.

OrreryError
├── Invalid                  the caller's input is wrong; nothing was written
│   ├── NotFound             what the caller names does not exist
│   ├── KeyReused            an idempotency key came with another body
│   ├── EventIdReused        the id of a stored event came with other contents
│   ├── ApprovalRefused      an approval is used, expired, foreign, altered or wrongly signed
│   │   └── Overtaken        another process was first
│   └── StoreMissing         there is no store at the configured path, and none is created by opening it
├── StoreError
│   ├── StoreUnavailable     locked, full, corrupt or gone; nothing of this call was stored
│   ├── OutcomeUnknown       the answer of a commit was lost; repeat it with the same id
│   └── RecordUnreadable     one record was altered or cut, or a newer version wrote it; it stays as it is
├── ProcessorError
│   ├── ProcessorRefused     the processor understood and said no
│   ├── PartlyDone           of a change in two parts only one was made
│   └── ProcessorUnreachable no usable answer within the deadline
│       └── ItemUnreadable   one object of its answer is not as documented; the others can be read
├── AnalyticsFailed          no report from the analytics provider (`cause` says when to ask again)
├── TrackerFailed            the issue tracker could not be asked
├── NotConfigured            a setting or secret that this part needs is missing
│   └── NotPreflighted       the processor has never accepted this product's parameters
└── DeliveryFailed           a notification was not accepted (`permanent` says whether to try again)
"""

from http import HTTPStatus
from typing import Literal

Cause = Literal[
    "concurrent",
    "hour",
    "day",
    "thresholded",
    "unauthorized",
    "forbidden",
    "refused",
    "server",
    "unreachable",
    "not-a-report",
]
"""Why there is no report. The first four are exhausted quotas; `refused` is a request that cannot succeed."""


class OrreryError(Exception):
    """The root: `str(error)` is one sentence that is safe to show to the owner and to log."""


class Invalid(OrreryError):
    """The caller's input is wrong; nothing was written."""


class NotFound(Invalid):
    """What the caller names does not exist."""


class KeyReused(Invalid):
    """An idempotency key came back with another body than the first time (decision 2)."""


class EventIdReused(Invalid):
    """The id of a stored event came again with other contents: the first one stays (decision 44)."""


class ApprovalRefused(Invalid):
    """An approval does not count: used, expired, foreign, altered or wrongly signed; the refusal is in the log."""


class Overtaken(ApprovalRefused):
    """An approval that was just valid is used: another process was first."""


class StoreMissing(Invalid):
    """There is no store at the configured path: only `store create`, `init` and `demo` make one (decision 50)."""


class StoreError(OrreryError):
    """The store could not carry out a call."""


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


class NotPreflighted(NotConfigured):
    """The processor has never accepted this product's parameters: it is not sold yet (change rule 1)."""


class ProcessorError(OrreryError):
    """A call to the payment processor did not succeed."""


class ProcessorRefused(ProcessorError):
    """The processor understood the request and said no.

    `kind` is the processor's error type, `param` the parameter it names, `status` its HTTP status.
    """

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


class PartlyDone(ProcessorError):
    """Only one of two parts of a change was made; the sentence says which, without personal data."""


class ProcessorUnreachable(ProcessorError):
    """No usable answer within the deadline: network trouble, a 5xx, a 429, or a body that is not the contract's.

    `same_key` says whether a repeat must carry the same idempotency key: yes after a lost answer, a 409 or
    a 429; no after a 5xx, which the processor stores and replays under its key.
    """

    def __init__(self, message: str, *, same_key: bool, status: int | None = None) -> None:
        super().__init__(message)
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


class AnalyticsFailed(OrreryError):
    """The analytics provider gave no report within the deadline.

    `cause` is the caller's next decision (decision 25), `status` the HTTP status where there was one.
    """

    def __init__(self, message: str, *, cause: Cause, status: int | None = None) -> None:
        super().__init__(message)
        self.cause: Cause = cause
        self.status = status


class TrackerFailed(OrreryError):
    """The issue tracker could not be asked, or refused; the next check tries again."""


class DeliveryFailed(OrreryError):
    """A notification was not accepted.

    `permanent` is the caller's next decision: True means that a repeat cannot succeed.
    """

    def __init__(self, message: str, *, permanent: bool) -> None:
        super().__init__(message)
        self.permanent = permanent
