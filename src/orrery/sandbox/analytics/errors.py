"""The provider's refusals, with their published texts."""

import json
from dataclasses import dataclass, field

from starlette.responses import Response

from orrery.sandbox.state import Document

CONSOLE = "https://developers.google.com/identity/sign-in/web/devconsole-project"
VALID_NAMES = "https://developers.google.com/analytics/devguides/reporting/data/v1/realtime-api-schema"
PROPERTY_ID = "https://developers.google.com/analytics/devguides/reporting/data/v1/property-id"

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
}
_REALM = 'Bearer realm="https://accounts.google.com/"'
_EXPECTED = "Expected OAuth 2 access token, login cookie or other valid authentication credential."


@dataclass
class Refused(Exception):
    """A request that is answered with an error."""

    code: int
    message: str
    details: list[Document] = field(default_factory=list[Document])
    challenge: str = ""

    def answer(self) -> Response:
        error: Document = {"code": self.code, "message": self.message, "status": _STATUS[self.code]}
        if self.details:
            error["details"] = self.details
        headers = {"WWW-Authenticate": self.challenge} if self.challenge else {}
        return as_json({"error": error}, self.code, headers)


def as_json(body: Document, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return JSON as the provider writes it."""
    text = json.dumps(body, indent=2, ensure_ascii=False) + "\n"
    return Response(text, status, headers, "application/json; charset=UTF-8")


def no_token() -> Refused:
    """The request came without a token."""
    message = f"Request is missing required authentication credential. {_EXPECTED} See {CONSOLE}."
    return Refused(401, message, [_info("CREDENTIALS_MISSING")], _REALM)


def wrong_token() -> Refused:
    """The token is unknown or has ended."""
    message = f"Request had invalid authentication credentials. {_EXPECTED} See {CONSOLE}."
    return Refused(401, message, [], f'{_REALM}, error="invalid_token"')


def wrong_scope() -> Refused:
    """The token does not reach as far as reports."""
    message = "Request had insufficient authentication scopes."
    return Refused(403, message, [_info("ACCESS_TOKEN_SCOPE_INSUFFICIENT")])


def forbidden() -> Refused:
    """The property is not the account's."""
    message = (
        "User does not have sufficient permissions for this property. "
        f"To learn more about Property ID, see {PROPERTY_ID}."
    )
    return Refused(403, message)


def internal() -> Refused:
    """The provider failed."""
    return Refused(500, "Internal error encountered.")


def _info(reason: str) -> Document:
    return {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}
