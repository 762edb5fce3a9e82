"""Why a call to a mailbox did not succeed."""

from typing import ClassVar

from orrery.errors import NotFound, OrreryError


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
    """The mailbox understood the request and refused it."""

    http_status: ClassVar[int] = 502
    tag: ClassVar[str] = "mailbox-refused"


class MailboxUnreachable(MailboxError):
    """No usable answer within the deadline: network trouble, a 5xx, or too many requests; a draft may be made."""

    http_status: ClassVar[int] = 503
    tag: ClassVar[str] = "mailbox-unreachable"


class SignInNeeded(MailboxUnreachable):
    """The account's sign-in has run out: a person must sign in again."""

    tag: ClassVar[str] = "sign-in-needed"
