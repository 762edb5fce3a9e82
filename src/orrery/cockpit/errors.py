"""What the cockpit refuses."""

from typing import ClassVar

from orrery.errors import Invalid


class NotARow(Invalid):
    """A text is not the id of a row."""

    http_status: ClassVar[int] = 422
    tag: ClassVar[str] = "invalid-field"


class WrongDay(Invalid):
    """A row cannot be set aside until that day: it would not come back."""

    http_status: ClassVar[int] = 422
    tag: ClassVar[str] = "invalid-field"


class NotReplyable(Invalid):
    """No address to reply to: an item of the action ledger, or a row without an address (decision 35)."""

    http_status: ClassVar[int] = 422
    tag: ClassVar[str] = "not-replyable"


class NotInLedger(Invalid):
    """Only rows of the action ledger are dismissed by the server; the page keeps the others' dismissals."""

    http_status: ClassVar[int] = 422
    tag: ClassVar[str] = "not-in-ledger"
