"""Why a call to the payment processor did not succeed."""

import re
from http import HTTPStatus
from typing import ClassVar

from orrery.errors import OperationRefused, OperationUnanswered, OrreryError

_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_.\[\]-]")


class ProcessorError(OrreryError):
    """A call to the payment processor did not succeed."""


class ProcessorRefused(ProcessorError, OperationRefused):
    """The processor understood the request and refused it.

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

    `same_key`: a repeat must carry the same idempotency key, as after a lost answer, a 409 or
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
