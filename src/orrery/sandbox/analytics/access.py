"""The property, its service account and tokens, and the refusals in their published texts."""

import json
import secrets
from dataclasses import dataclass, field
from typing import cast

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from orrery.ports.clock import Clock
from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document

TOKEN_PATH = "/analytics/token"  # noqa: S105  a path, no token
"""Where tokens are minted, below the sandbox's address."""

VENDORS_TOKEN_PATH = "/token"  # noqa: S105  a path, no token
"""Where the vendor mints them, for a sandbox that is served under the vendor's name."""


@dataclass(frozen=True, slots=True)
class AnalyticsConfig:
    """One property and the one service account that may read it.

    `public_key` is PEM. The sizes are those under which the specification's 1,750 tokens an hour are 35 percent
    (spec 2, Limits); `visitors` are there when nothing else was kept.
    """

    property_id: str
    client_email: str
    public_key: str = field(repr=False)
    tokens_per_day: int = 25_000
    tokens_per_hour: int = 5_000
    tokens_per_project_per_hour: int = 1_750
    visitors: int = 24


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


_INFO = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "domain": "googleapis.com"}
_REFUSALS: dict[str, tuple[int, str, str]] = {
    "no_token": (
        401,
        f"Request is missing required authentication credential. {_EXPECTED} See {CONSOLE}.",
        _REALM,
    ),
    "wrong_token": (
        401,
        f"Request had invalid authentication credentials. {_EXPECTED} See {CONSOLE}.",
        f'{_REALM}, error="invalid_token"',
    ),
    "wrong_scope": (403, "Request had insufficient authentication scopes.", ""),
    "forbidden": (
        403,
        (
            "User does not have sufficient permissions for this property. "
            f"To learn more about Property ID, see {PROPERTY_ID}."
        ),
        "",
    ),
    "internal": (500, "Internal error encountered.", ""),
}
"""Each refusal: the HTTP status, the published text, the challenge in its header."""

_REASONS = {"no_token": "CREDENTIALS_MISSING", "wrong_scope": "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}


def refused(code: int, message: str, reason: str = "", challenge: str = "") -> Refusal:
    error: Document = {"code": code, "message": message, "status": _STATUS[code]}
    details = {"details": [_INFO | {"reason": reason}]} if reason else {}
    return Refusal(code, {"error": error | details}, {"WWW-Authenticate": challenge} if challenge else {})


def refusal(name: str) -> Refusal:
    """Return the refusal of that name."""
    code, message, challenge = _REFUSALS[name]
    return refused(code, message, _REASONS.get(name, ""), challenge)


CLIENT_EMAIL = "counter@orrery-sandbox.iam.gserviceaccount.com"
"""The service account's name; no real one has it."""

_KEY_BITS, _EXPONENT = 2048, 65537


def service_account_key(token_url: str) -> str:
    """Return the JSON text of a new service-account key whose tokens are minted at `token_url`."""
    key = rsa.generate_private_key(public_exponent=_EXPONENT, key_size=_KEY_BITS)
    return json.dumps(
        {
            "type": "service_account",
            "project_id": "orrery-sandbox",
            "private_key_id": "sandbox",
            "private_key": key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            ).decode(),
            "client_email": CLIENT_EMAIL,
            "client_id": "1",
            "token_uri": token_url,
        },
        indent=2,
    )


def token_url_of(key_json: str) -> str | None:
    """Return where a key's tokens are minted, or None when the text is no service account's key."""
    try:
        return _fields(key_json)["token_uri"]
    except ValueError:
        return None


def config_of(key_json: str, property_id: str) -> AnalyticsConfig:
    """Return the provider that accepts this key alone; `ValueError` when the text is no service account's key."""
    fields = _fields(key_json)
    private = serialization.load_pem_private_key(fields["private_key"].encode(), password=None)
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return AnalyticsConfig(property_id, fields["client_email"], public.decode())


_FIELDS = ("token_uri", "private_key", "client_email")


def _fields(key_json: str) -> dict[str, str]:
    read: object = json.loads(key_json)
    given = cast("dict[str, object]", read) if isinstance(read, dict) else {}
    if not all(isinstance(given.get(name), str) for name in _FIELDS):
        raise ValueError(f"A service account's key is a JSON object with {', '.join(_FIELDS)}.")
    return {name: str(given[name]) for name in _FIELDS}


GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
AUDIENCE = "https://oauth2.googleapis.com/token"
"""The audience that the vendor's libraries put into `aud`, for any address of the token endpoint."""

LIFETIME = 3600
"""Seconds that a token lasts."""

_READING = "https://www.googleapis.com/auth/analytics.readonly"


def _denied(error: str, description: str) -> Refusal:
    """Return the token endpoint's refusal."""
    return Refusal(400, {"error": error, "error_description": description})


class AnalyticsTokens:
    """Mints tokens and knows which are good. They live in memory and end with the process."""

    def __init__(self, config: AnalyticsConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self.issued: dict[str, tuple[float, str]] = {}

    def mint(self, form: dict[str, str]) -> Document:
        """Return the answer to a token request's form; raise `Refusal`."""
        if form.get("grant_type") != GRANT:
            raise _denied("unsupported_grant_type", f"Invalid grant_type: {form.get('grant_type', '')}")
        scope = self._verified(form.get("assertion", "")).get("scope", "")
        token = f"sandbox-{secrets.token_hex(16)}"
        self.issued[token] = (self._now() + LIFETIME, scope)
        return {"access_token": token, "expires_in": LIFETIME - 1, "token_type": "Bearer"}

    def check(self, authorization: str) -> None:
        """Return if this header lets read reports; raise `Refusal`."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise refusal("no_token")
        ends, scope = self.issued.get(token.strip(), (0.0, ""))
        if self._now() >= ends:
            raise refusal("wrong_token")
        if _READING not in scope.split():
            raise refusal("wrong_scope")

    def _verified(self, assertion: str) -> Document:
        """Return the claims of an assertion that the account has signed. Its times are by its own clock."""
        try:
            return jwt.decode(
                assertion,
                self._config.public_key,
                algorithms=["RS256"],
                audience=AUDIENCE,
                issuer=self._config.client_email,
                options={"verify_exp": False, "verify_iat": False, "verify_nbf": False},
            )
        except jwt.InvalidTokenError as error:
            raise _denied("invalid_grant", "Invalid JWT Signature.") from error

    def _now(self) -> float:
        return self._clock.now().timestamp()
