"""The errors that several rooms raise on purpose. A domain has others in its `errors.py`, and a port beside it.

OrreryError
├── Invalid                  the caller's input is wrong; nothing was written
│   ├── NotFound             what the caller names does not exist
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
├── TrackRefused             data of one track may not go where it was to go
└── NotConfigured            a setting or secret that this part needs is missing, or cannot be used
    └── DependencyFailed     what this part depends on is configured, and does not work

Each class carries the HTTP status and the tag of its answer, and the exit code of a command (decision 54); a class
without its own has those of its parent.
"""

from typing import ClassVar


def words_of(error: BaseException) -> str:
    """Return why the system or a library failed, in words, to go on with after a colon."""
    return words_if_any(error) or f"unexpected {type(error).__name__}"


def words_if_any(error: BaseException) -> str:
    """Return the same, or nothing for an error that has no words for the owner."""
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return "no answer came in time"
    if isinstance(error, UnicodeDecodeError):
        return "it is not text in UTF-8"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    return ""


class OrreryError(Exception):
    """The root: `str(error)` is one sentence that is safe to show to the owner and to log."""

    http_status: ClassVar[int] = 500
    tag: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 1

    def permanent_sentence(self) -> str:
        """Return a sentence for the approval log, which no erasure changes: without a vendor's own words."""
        return str(self)


class Invalid(OrreryError):
    """The caller's input is wrong; nothing was written."""

    http_status: ClassVar[int] = 400
    tag: ClassVar[str] = "invalid-request"
    exit_code: ClassVar[int] = 2


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


class NoStore(StoreMissing):
    """Nothing is at the configured path, not even what is left of a store or shows where it went."""


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
    """A setting or secret that this part needs is missing, or cannot be used (decision 41)."""

    http_status: ClassVar[int] = 503
    tag: ClassVar[str] = "not-configured"
    exit_code: ClassVar[int] = 2


class DependencyFailed(NotConfigured):
    """What this part depends on does not work: a program of this machine, a file of ours, a vendor's account."""

    exit_code: ClassVar[int] = 1


class OperationFailed(OrreryError):
    """An operation that the owner approved did not succeed. A vendor's errors are of the three kinds below."""


class OperationRefused(OperationFailed):
    """The change was refused, and nothing was changed."""


class OperationUnanswered(OperationFailed):
    """No usable answer came: whether the change was made shows only by reading.

    `may_arrive`: the request may still arrive, so a reading that shows no change decides nothing.
    """

    def __init__(self, message: str, *, may_arrive: bool) -> None:
        super().__init__(message)
        self.may_arrive = may_arrive


class PartlyDone(OperationFailed):
    """Only one of two parts of a change was made; the sentence names it, without personal data."""


class TrackRefused(OrreryError):
    """Data of one track may not go where it was to go (spec 3, Authentication 4)."""
