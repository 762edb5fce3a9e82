"""The tokens of an answer: what stands in them, and how it is signed."""

import hashlib
import json
import secrets
from dataclasses import dataclass

from orrery.ports.clock import Clock
from orrery.sandbox.identity.config import GRAPH, IdentityConfig, SignInAccount
from orrery.sandbox.identity.doctoring import doctored, signed_by
from orrery.sandbox.identity.keys import FOREIGN, NEXT, SigningKeys, encoded, kid
from orrery.sandbox.identity.registry import Issued, Registry
from orrery.sandbox.identity.switches import Switches
from orrery.sandbox.state import Document, DocumentStore

LIFETIME = 3600
"""Seconds that an access token and an id token last."""


@dataclass(frozen=True, slots=True)
class Signed:
    """A person who has signed in: which account, to which tenant, with which client, for which scopes."""

    account: SignInAccount
    tenant: str
    client: str
    scopes: tuple[str, ...]
    nonce: str | None = None


class TokenEndpoint:
    """Makes the answer to a grant."""

    def __init__(self, config: IdentityConfig, state: DocumentStore, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._switches = Switches(state)
        self._keys = SigningKeys(state)
        self._registry = Registry(state)

    def answer(self, signed: Signed, refresh_token: str | None, *, client_info: bool) -> str:
        """Return the JSON text of a token answer."""
        granted = self._granted(signed)
        body: Document = {
            "token_type": "Bearer",
            "scope": " ".join(granted),
            "expires_in": LIFETIME - 1,
            "ext_expires_in": LIFETIME - 1,
            "access_token": self._access_token(signed, frozenset(short(one) for one in granted)),
        }
        if refresh_token is not None:
            body["refresh_token"] = refresh_token
        if "openid" in signed.scopes:
            body["id_token"] = self._id_token(signed)
        if client_info:
            body["client_info"] = self.client_info(signed.account)
        return doctored(body, self._switches.changes("answer"))

    def keys(self, tenant: str) -> Document:
        """Return the list of the keys that are published: the next one stands there ahead of its use."""
        issuer = self.issuer(tenant)
        return {"keys": [self._keys.published(name, issuer) for name in (NEXT, self._switches.key())]}

    def discovered(self, members: Document) -> str:
        """Return the discovery document as the levers change it."""
        return doctored(members, self._switches.changes("discovery"))

    def issuer(self, tenant: str) -> str:
        return f"{self._config.url}/{tenant}/v2.0"

    def _granted(self, signed: Signed) -> list[str]:
        added: list[str] = (self._switches.values("scopes") or {}).get("add", [])
        wanted = [one for one in signed.scopes if one != "offline_access"]
        return list(dict.fromkeys([*wanted, *added]))

    def _times(self) -> dict[str, int]:
        skew = int((self._switches.values("skew") or {}).get("seconds", 0))
        now = int(self._clock.now().timestamp()) + skew
        return {"iat": now, "nbf": now, "exp": now + LIFETIME}

    def _id_token(self, signed: Signed) -> str:
        account = signed.account
        claims: Document = {
            "ver": "2.0",
            "iss": self.issuer(signed.tenant),
            "sub": _subject(signed, signed.client),
            "aud": signed.client,
            **self._times(),
            "name": account.name,
            "preferred_username": account.username,
            "oid": account.object_ids[signed.tenant],
            "tid": signed.tenant,
            "uti": secrets.token_urlsafe(16),
            "rh": f"0.{secrets.token_urlsafe(24)}",
            **_identity_provider(signed),
        }
        if signed.nonce is not None:
            claims["nonce"] = signed.nonce
        changes = self._switches.changes("id")
        by = signed_by(changes)
        header = {"typ": "JWT", "alg": "none" if by == "none" else "RS256", "kid": kid(self._switches.key())}
        text = f"{_encoded(json.dumps(header))}.{_encoded(doctored(claims, changes))}"
        if by == "none":
            return f"{text}."
        return f"{text}.{self._keys.signature(FOREIGN if by == FOREIGN else self._switches.key(), text)}"

    def _access_token(self, signed: Signed, scopes: frozenset[str]) -> str:
        token = self._opaque() if self._switches.values("opaque") is not None else self._jwt(signed, scopes)
        expires = self._clock.now().timestamp() + LIFETIME
        self._registry.add(token, Issued(signed.account, signed.tenant, scopes, expires))
        return token

    def _opaque(self) -> str:
        return f"EwSandbox{secrets.token_urlsafe(96)}"

    def _jwt(self, signed: Signed, scopes: frozenset[str]) -> str:
        account = signed.account
        claims: Document = {
            "aud": GRAPH,
            "iss": f"https://sts.windows.net/{signed.tenant}/",
            **self._times(),
            "appid": signed.client,
            **_identity_provider(signed),
            "idtyp": "user",
            "name": account.name,
            "oid": account.object_ids[signed.tenant],
            "puid": hashlib.sha256(account.username.encode()).hexdigest()[:16].upper(),
            "scp": " ".join(sorted(scopes)),
            "sub": _subject(signed, GRAPH),
            "tid": signed.tenant,
            "unique_name": account.username,
            "upn": account.upn(signed.tenant),
            "uti": secrets.token_urlsafe(16),
            "ver": "1.0",
        }
        payload = _encoded(doctored(claims, self._switches.changes("access")))
        nonce = secrets.token_urlsafe(32)
        header = {"typ": "JWT", "nonce": nonce, "alg": "RS256", "kid": kid(self._switches.key())}
        # The vendor signs the nonce's digest and shows the nonce, so that nobody but the resource can verify it.
        hidden = header | {"nonce": encoded(hashlib.sha256(nonce.encode()).digest())}
        signature = self._keys.signature(self._switches.key(), f"{_encoded(json.dumps(hidden))}.{payload}")
        return f"{_encoded(json.dumps(header))}.{payload}.{signature}"

    def client_info(self, account: SignInAccount) -> str:
        """Return where an account is at home, in base64url, whichever tenant it signs in to."""
        known: Document = {"uid": account.object_ids[account.home], "utid": account.home}
        return _encoded(doctored(known, self._switches.changes("client_info")))


def short(scope: str) -> str:
    """Return a scope without its resource."""
    return scope.removeprefix(f"{GRAPH}/")


def _identity_provider(signed: Signed) -> dict[str, str]:
    """Return the claim that a guest's tokens have, and a member's do not."""
    account = signed.account
    return {"idp": f"https://sts.windows.net/{account.home}/"} if account.is_guest(signed.tenant) else {}


def _subject(signed: Signed, audience: str) -> str:
    """Return an id of the person that differs from one audience to the next."""
    text = f"{signed.account.username} {signed.tenant} {audience}"
    return encoded(hashlib.sha256(text.encode()).digest())


def _encoded(text: str) -> str:
    return encoded(text.encode())
