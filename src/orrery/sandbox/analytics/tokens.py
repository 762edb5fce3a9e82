"""OAuth tokens for a signed assertion (RFC 7523), as the provider's token endpoint gives them."""

import secrets

import jwt

from orrery.ports.clock import Clock
from orrery.sandbox.analytics import errors
from orrery.sandbox.analytics.config import AnalyticsConfig
from orrery.sandbox.state import Document

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
AUDIENCE = "https://oauth2.googleapis.com/token"
"""The audience that the vendor's libraries put into `aud`, for any address of the token endpoint."""

LIFETIME = 3600
"""Seconds that a token lasts."""

_READING = "https://www.googleapis.com/auth/analytics.readonly"


class Denied(Exception):
    """The token endpoint's refusal: an OAuth error and its description."""

    def body(self) -> Document:
        """Return the answer's body."""
        error, description = self.args
        return {"error": error, "error_description": description}


class AnalyticsTokens:
    """Mints tokens and knows which are good. They live in memory and end with the process."""

    def __init__(self, config: AnalyticsConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._issued: dict[str, tuple[float, str]] = {}
        self.minted = 0

    def mint(self, form: dict[str, str]) -> Document:
        """Return the answer to a token request's form; raise `Denied`."""
        if form.get("grant_type") != GRANT:
            raise Denied("unsupported_grant_type", f"Invalid grant_type: {form.get('grant_type', '')}")
        scope = self._verified(form.get("assertion", "")).get("scope", "")
        token = f"sandbox-{secrets.token_hex(16)}"
        self._issued[token] = (self._now() + LIFETIME, scope)
        self.minted += 1
        return {"access_token": token, "expires_in": LIFETIME - 1, "token_type": "Bearer"}

    def check(self, authorization: str) -> None:
        """Return if this header lets read reports; raise `Refused`."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise errors.no_token()
        ends, scope = self._issued.get(token.strip(), (0.0, ""))
        if self._now() >= ends:
            raise errors.wrong_token()
        if _READING not in scope.split():
            raise errors.wrong_scope()

    def _verified(self, assertion: str) -> Document:
        """Return the claims of an assertion that the account has signed. Its times are those of its own clock."""
        try:
            return jwt.decode(
                assertion,
                self._config.public_key,
                algorithms=["RS256"],
                audience=AUDIENCE,
                issuer=self._config.client_email,
                options={"verify_exp": False, "verify_iat": False, "verify_nbf": False},
            )
        except jwt.InvalidIssuerError as error:
            raise Denied("invalid_grant", "Invalid grant: account not found") from error
        except jwt.InvalidAudienceError as error:
            raise Denied("invalid_grant", f"Invalid JWT: Failed audience check: {AUDIENCE}") from error
        except jwt.InvalidTokenError as error:
            raise Denied("invalid_grant", "Invalid JWT Signature.") from error

    def _now(self) -> float:
        return self._clock.now().timestamp()
