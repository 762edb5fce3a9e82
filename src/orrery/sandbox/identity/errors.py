"""What the identity provider refuses with, in the vendor's words."""

import uuid
from datetime import datetime

from orrery.sandbox.state import Document


class Refusal(Exception):
    """An OAuth error with the vendor's number, a sentence, and the HTTP status."""

    def __init__(self, error: str, code: int, text: str, status: int = 400, suberror: str = "") -> None:
        super().__init__(error, code, text)
        self.error, self.code, self.text = error, code, text
        self.status, self.suberror = status, suberror

    def body(self, now: datetime, correlation: str, url: str) -> Document:
        """Return the answer's body."""
        trace, at = str(uuid.uuid4()), f"{now:%Y-%m-%d %H:%M:%S}Z"
        body: Document = {
            "error": self.error,
            "error_description": f"AADSTS{self.code}: {self.text} "
            f"Trace ID: {trace} Correlation ID: {correlation} Timestamp: {at}",
            "error_codes": [self.code],
            "timestamp": at,
            "trace_id": trace,
            "correlation_id": correlation,
            "error_uri": f"{url}/error?code={self.code}",
        }
        return body | ({"suberror": self.suberror} if self.suberror else {})


def missing(parameter: str) -> Refusal:
    text = f"The request body must contain the following parameter: '{parameter}'."
    return Refusal("invalid_request", 900144, text)


def no_tenant(tenant: str) -> Refusal:
    text = (
        f"Tenant '{tenant}' not found. Check to make sure you have the correct tenant ID and are signing into the "
        "correct cloud."
    )
    return Refusal("invalid_tenant", 90002, text)


def no_client(client: str, tenant: str) -> Refusal:
    text = (
        f"Application with identifier '{client}' was not found in the directory '{tenant}'. This can happen if "
        "the application has not been installed by the administrator of the tenant or consented to by any user "
        "in the tenant."
    )
    return Refusal("unauthorized_client", 700016, text)


def not_public() -> Refusal:
    text = "The request body must contain the following parameter: 'client_assertion' or 'client_secret'."
    return Refusal("invalid_client", 7000218, text, status=401)


def bad_scope(scope: str) -> Refusal:
    text = f"The provided request must include a 'scope' input parameter. The scope '{scope}' is not valid."
    return Refusal("invalid_scope", 70011, text)


def bad_grant(parameter: str) -> Refusal:
    return Refusal(
        "invalid_grant", 70000, f"The provided value for the input parameter '{parameter}' is not valid."
    )


def not_a_member(username: str, home: str, tenant: str) -> Refusal:
    text = (
        f"User account '{username}' from identity provider 'https://sts.windows.net/{home}/' does not exist in "
        f"tenant '{tenant}' and cannot access the application in that tenant. The account needs to be added as an "
        "external user in the tenant first."
    )
    return Refusal("invalid_grant", 50020, text)


def no_consent(client: str) -> Refusal:
    text = (
        f"The user or administrator has not consented to use the application with ID '{client}'. Send an "
        "interactive authorization request for this user and resource."
    )
    return Refusal("invalid_grant", 65001, text, suberror="consent_required")


def blocked() -> Refusal:
    text = (
        "Access has been blocked by Conditional Access policies. The access policy does not allow token issuance."
    )
    return Refusal("invalid_grant", 53003, text, suberror="message_only")


def pending() -> Refusal:
    text = "OAuth 2.0 device flow error. Authorization is pending. Continue polling."
    return Refusal("authorization_pending", 70016, text)


def too_fast(status: int) -> Refusal:
    return Refusal("slow_down", 70016, "OAuth 2.0 device flow error. Poll less often.", status)


def declined() -> Refusal:
    return Refusal("authorization_declined", 70017, "The end user has denied the authorization request.")


def expired_device_code() -> Refusal:
    text = "The provided value for the input parameter 'device_code' is not valid. This device code has expired."
    return Refusal("expired_token", 70020, text)


def unsupported_grant(grant: str) -> Refusal:
    text = f"The app requested an unsupported grant type '{grant}'."
    return Refusal("unsupported_grant_type", 70003, text)


def redeemed_code() -> Refusal:
    text = "OAuth2 Authorization code was already redeemed, please retry with a new valid code."
    return Refusal("invalid_grant", 54005, text)


def expired_code() -> Refusal:
    text = "The provided authorization code has expired. Send a new interactive authorization request."
    return Refusal("invalid_grant", 70008, text)


def expired_refresh_token() -> Refusal:
    text = "The refresh token has expired due to inactivity."
    return Refusal("invalid_grant", 700082, text, suberror="bad_token")


def other_redirect() -> Refusal:
    text = "The reply address does not match the reply address provided when requesting Authorization code."
    return Refusal("invalid_grant", 500112, text)


def bad_verifier() -> Refusal:
    text = "The Code_Verifier does not match the code_challenge supplied in the authorization request."
    return Refusal("invalid_grant", 501481, text)


def bad_redirect(address: str) -> Refusal:
    text = f"The redirect URI '{address}' specified in the request does not match those of the application."
    return Refusal("invalid_request", 50011, text)


def unsupported_response_type(kind: str) -> Refusal:
    return Refusal(
        "unsupported_response_type", 700054, f"response_type '{kind}' is not enabled for the application."
    )


def access_denied() -> Refusal:
    return Refusal("access_denied", 65004, "User declined to consent to access the app.")
