"""The tenants, the clients and the accounts, and the refusals in the vendor's words."""

import socket
import uuid
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document

TENANT_A = "00000000-0000-4000-8000-0000000000a0"
TENANT_B = "00000000-0000-4000-8000-0000000000b0"
CLIENT_A = "00000000-0000-4000-8000-0000000000a1"
CLIENT_B = "00000000-0000-4000-8000-0000000000b1"

TENANTS = {TENANT_A: "corp.example", TENANT_B: "lab.example"}
"""Each tenant with its domain."""

CLIENTS = (CLIENT_A, CLIENT_B)
"""The public clients, which every tenant knows, as it knows an application that was made for several."""

GRAPH = "https://graph.microsoft.com"
"""The only resource that there are tokens for."""


@dataclass(frozen=True, slots=True)
class SignInAccount:
    """A person's account: where its home is, and its object id in each tenant that it may sign in to."""

    username: str
    name: str
    home: str
    object_ids: dict[str, str]

    def is_guest(self, tenant: str) -> bool:
        return tenant != self.home

    def upn(self, tenant: str) -> str:
        """Return the user principal name there, which is not the address for a guest."""
        if not self.is_guest(tenant):
            return self.username
        return f"{self.username.replace('@', '_')}#EXT#@{TENANTS[tenant]}"


_ANN_A, _BOB_A, _ANN_B, _GUEST_A = (f"00000000-0000-4000-8000-0000000000{end}" for end in ("a2", "a3", "b2", "a4"))

ACCOUNTS = {
    one.username: one
    for one in (
        SignInAccount("ann@corp.example", "Ann (Corp)", TENANT_A, {TENANT_A: _ANN_A}),
        SignInAccount("bob@corp.example", "Bob (Corp)", TENANT_A, {TENANT_A: _BOB_A}),
        SignInAccount("ann@lab.example", "Ann (Lab)", TENANT_B, {TENANT_B: _ANN_B, TENANT_A: _GUEST_A}),
    )
}
"""Each account by its address. The last one is a guest in tenant A."""


@dataclass(frozen=True, slots=True)
class IdentityConfig:
    """The configuration of the identity provider.

    `listener` is the bound socket on which it is asked by https with `certificate`, a file of key and certificate.
    A waiting device code is to be asked for every `interval` seconds.
    """

    listener: socket.socket
    certificate: Path
    interval: int = 5

    @property
    def url(self) -> str:
        """Return its address, which an authority's address begins with."""
        return f"https://localhost:{self.listener.getsockname()[1]}"


def described(refusal: Refusal, now: datetime, correlation: str, url: str) -> Document:
    """Return a refusal's body with all that the vendor writes beside the error."""
    trace, at = str(uuid.uuid4()), f"{now:%Y-%m-%d %H:%M:%S}Z"
    text = f"{refusal.body['error_description']} Trace ID: {trace} Correlation ID: {correlation} Timestamp: {at}"
    return refusal.body | {
        "error_description": text,
        "timestamp": at,
        "trace_id": trace,
        "correlation_id": correlation,
        "error_uri": f"{url}/error?code={refusal.body['error_codes'][0]}",
    }


_KNOWN: dict[str, tuple[str, int, str]] = {
    "missing": (
        "invalid_request",
        900144,
        "The request body must contain the following parameter: '{parameter}'.",
    ),
    "no_tenant": (
        "invalid_tenant",
        90002,
        (
            "Tenant '{tenant}' not found. Check to make sure you have the correct tenant ID and are signing into "
            "the correct cloud."
        ),
    ),
    "no_client": (
        "unauthorized_client",
        700016,
        (
            "Application with identifier '{client}' was not found in the directory '{tenant}'. This can happen "
            "if the application has not been installed by the administrator of the tenant or consented to by any "
            "user in the tenant."
        ),
    ),
    "not_public": (
        "invalid_client",
        7000218,
        "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
    ),
    "bad_scope": (
        "invalid_scope",
        70011,
        "The provided request must include a 'scope' input parameter. The scope '{scope}' is not valid.",
    ),
    "bad_grant": (
        "invalid_grant",
        70000,
        "The provided value for the input parameter '{parameter}' is not valid.",
    ),
    "not_a_member": (
        "invalid_grant",
        50020,
        (
            "User account '{username}' from identity provider 'https://sts.windows.net/{home}/' does not exist "
            "in tenant '{tenant}' and cannot access the application in that tenant. The account needs to be added "
            "as an external user in the tenant first."
        ),
    ),
    "no_consent": (
        "invalid_grant",
        65001,
        (
            "The user or administrator has not consented to use the application with ID '{client}'. Send "
            "an interactive authorization request for this user and resource."
        ),
    ),
    "blocked": (
        "invalid_grant",
        53003,
        "Access has been blocked by Conditional Access policies. The access policy does not allow token issuance.",
    ),
    "pending": (
        "authorization_pending",
        70016,
        "OAuth 2.0 device flow error. Authorization is pending. Continue polling.",
    ),
    "declined": ("authorization_declined", 70017, "The end user has denied the authorization request."),
    "expired_device_code": (
        "expired_token",
        70020,
        "The provided value for the input parameter 'device_code' is not valid. This device code has expired.",
    ),
    "unsupported_grant": (
        "unsupported_grant_type",
        70003,
        "The app requested an unsupported grant type '{grant}'.",
    ),
    "redeemed_code": (
        "invalid_grant",
        54005,
        "OAuth2 Authorization code was already redeemed, please retry with a new valid code.",
    ),
    "expired_code": (
        "invalid_grant",
        70008,
        "The provided authorization code has expired. Send a new interactive authorization request.",
    ),
    "expired_refresh_token": (
        "invalid_grant",
        700082,
        "The refresh token has expired due to inactivity.",
    ),
    "other_redirect": (
        "invalid_grant",
        500112,
        "The reply address does not match the reply address provided when requesting Authorization code.",
    ),
    "bad_verifier": (
        "invalid_grant",
        501481,
        "The Code_Verifier does not match the code_challenge supplied in the authorization request.",
    ),
    "bad_redirect": (
        "invalid_request",
        50011,
        "The redirect URI '{address}' specified in the request does not match those of the application.",
    ),
    "access_denied": ("access_denied", 65004, "User declined to consent to access the app."),
}
"""Each refusal: the OAuth error, the vendor's number, its sentence."""

_SUBERRORS = {"no_consent": "consent_required", "blocked": "message_only", "expired_refresh_token": "bad_token"}


def refusal(name: str, status: int = 400, **words: str) -> Refusal:
    """Return the refusal of that name, with these words in its sentence."""
    error, code, text = _KNOWN[name]
    body: Document = {
        "error": error,
        "error_description": f"AADSTS{code}: {text.format(**words)}",
        "error_codes": [code],
    }
    return Refusal(status, body | ({"suberror": _SUBERRORS[name]} if name in _SUBERRORS else {}))
