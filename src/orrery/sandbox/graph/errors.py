"""What Microsoft Graph refuses with, in the vendor's words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from orrery.sandbox.state import Document


class Refusal(Exception):
    """An error with the vendor's code, a sentence, the HTTP status, and headers."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, code, message)
        self.status, self.code, self.message = status, code, message
        self.headers = dict(headers or {})


@dataclass(frozen=True, slots=True)
class Ids:
    """What an answer and the vendor's support know a request by; `client` is what the client called it."""

    request: str
    client: str

    def headers(self) -> dict[str, str]:
        return {"request-id": self.request, "client-request-id": self.client}

    def body(self, refusal: Refusal, now: datetime) -> Document:
        """Return an error's body."""
        inner = {"date": f"{now:%Y-%m-%dT%H:%M:%S}", **self.headers()}
        return {"error": {"code": refusal.code, "message": refusal.message, "innerError": inner}}


@dataclass(frozen=True, slots=True)
class Created:
    """An answer whose status is 201."""

    body: Document = field(default_factory=dict[str, object])


def unauthenticated(message: str) -> Refusal:
    headers = {"WWW-Authenticate": 'Bearer realm="", authorization_uri="", client_id=""'}
    return Refusal(401, "InvalidAuthenticationToken", message, headers)


def access_denied() -> Refusal:
    return Refusal(403, "ErrorAccessDenied", "Access is denied. Check credentials and try again.")


def missing_scope(needed: str, granted: str) -> Refusal:
    text = (
        f"Missing scope permissions on the request. API requires one of '{needed}'. "
        f"Scopes on the request '{granted}'"
    )
    return Refusal(403, "Forbidden", text)


def no_privileges() -> Refusal:
    return Refusal(403, "Authorization_RequestDenied", "Insufficient privileges to complete the operation.")


def no_mailbox() -> Refusal:
    text = "The mailbox is either inactive, soft-deleted, or is hosted on-premise."
    return Refusal(404, "MailboxNotEnabledForRESTAPI", text)


def item_not_found() -> Refusal:
    return Refusal(404, "ErrorItemNotFound", "The specified object was not found in the store.")


def not_found(what: str) -> Refusal:
    return Refusal(404, "NotFound", what)


def malformed_id() -> Refusal:
    return Refusal(400, "ErrorInvalidIdMalformed", "Id is malformed.")


def bad_request(message: str) -> Refusal:
    return Refusal(400, "BadRequest", message)


def bad_query(message: str) -> Refusal:
    return Refusal(400, "RequestBroker--ParseUri", message)


def bad_argument(message: str) -> Refusal:
    return Refusal(400, "ErrorInvalidArgument", message)


def inefficient() -> Refusal:
    text = "The restriction or sort order is too complex for this operation."
    return Refusal(400, "InefficientFilter", text)


def changed_meanwhile() -> Refusal:
    text = (
        "The send or update operation could not be performed because the change key passed in the request does "
        "not match the current change key for the item., Cannot save changes made to an item to store."
    )
    return Refusal(412, "ErrorIrresolvableConflict", text)


def resync(address: str) -> Refusal:
    """Return the refusal of a token that is too old; `address` begins anew."""
    text = "The sync state generation is not found; the client must synchronize from the beginning."
    return Refusal(410, "syncStateNotFound", text, {"Location": address})


def throttled(seconds: float) -> Refusal:
    text = "Application is over its MailboxConcurrency limit."
    return Refusal(429, "ApplicationThrottled", text, {"Retry-After": f"{seconds:.0f}"})


def unavailable() -> Refusal:
    text = "The service is temporarily unavailable. Please try again later."
    return Refusal(503, "ServiceUnavailable", text)


def no_such_call(path: str) -> Refusal:
    return bad_request(
        f"Resource not found for the segment '{path.rpartition('/')[2]}': the sandbox does not have it."
    )
