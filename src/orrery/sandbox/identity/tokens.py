"""The tokens of an answer: their keys, their claims, and which were issued."""

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt import PyJWS
from jwt.algorithms import RSAAlgorithm

from orrery.sandbox.ground import Document, DocumentStore, SandboxGround
from orrery.sandbox.identity.directory import ACCOUNTS, GRAPH, SignInAccount
from orrery.sandbox.identity.switches import Switches, changed_members

_KEY = "_identity_key"

NEXT = "next"
"""The name of a key that is published and not yet used."""

FOREIGN = "foreign"
"""The name of the key that is never published."""


def _key(state: DocumentStore, name: str) -> RSAPrivateKey:
    """Return the key of that name, made when it is first needed."""
    stored = state.get(_KEY, name)
    if stored is None:
        stored = {"object": _KEY, "id": name, "pem": _generated(name)}
        state.save(stored)
    return _loaded(stored["pem"])


@cache
def _generated(name: str) -> str:
    """Return a key of this process: making one takes a tenth of a second."""
    key = generate_private_key(public_exponent=65537, key_size=2048)
    del name
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@cache
def _loaded(pem: str) -> RSAPrivateKey:
    """Return the key of a text; the library checks it for as long, so it is read once."""
    return cast("RSAPrivateKey", load_pem_private_key(pem.encode(), None))


def kid(name: str) -> str:
    """Return the id that a key is published under."""
    return encoded(f"key-of-the-sandbox-{name}".encode())


def encoded(part: bytes) -> str:
    """Return base64url without padding, as in a JWT."""
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def keep(state: DocumentStore, kind: str, token: str, known: Document) -> None:
    """Keep what is known of a token or a code of a kind, by its digest."""
    state.save(known | {"object": kind, "id": _digest(token)})


def kept(state: DocumentStore, kind: str, token: str) -> Document | None:
    """Return what is known of a token or a code; None when it was not issued here."""
    return state.get(kind, _digest(token))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


_ACCESS = "_identity_access"


@dataclass(frozen=True, slots=True)
class Issued:
    """What an access token grants; it is good until `expires`, a Unix time by the sandbox's clock."""

    account: SignInAccount
    tenant: str
    scopes: frozenset[str]
    expires: float


def issued_token(state: DocumentStore, token: str) -> Issued | None:
    """Return what a token grants, expired or not; None when it was not issued here."""
    if (found := kept(state, _ACCESS, token)) is None:
        return None
    scopes = frozenset[str](found["scopes"])
    return Issued(ACCOUNTS[found["account"]], found["tenant"], scopes, found["expires"])


LIFETIME = 3600
"""Seconds that an access token and an id token last."""


class TokenEndpoint:
    """Makes the answer to a grant: what is known of a person who has signed in.

    A grant has `account`, `tenant`, `client`, `scopes`, and perhaps `nonce`.
    """

    def __init__(self, url: str, ground: SandboxGround, switches: Switches) -> None:
        self._url = url
        self._ground = ground
        self._switches = switches

    def answer(self, grant: Document, refresh_token: str | None, *, client_info: bool) -> str:
        """Return the JSON text of a token answer."""
        added: list[str] = self._switches.values("scopes").get("add", [])
        granted = [one for one in dict.fromkeys([*grant["scopes"], *added]) if one != "offline_access"]
        known = {
            "token_type": "Bearer",
            "scope": " ".join(granted),
            "expires_in": LIFETIME - 1,
            "ext_expires_in": LIFETIME - 1,
            "access_token": self._access_token(grant, sorted(one.removeprefix(f"{GRAPH}/") for one in granted)),
            "refresh_token": refresh_token,
            "id_token": self._id_token(grant) if "openid" in grant["scopes"] else None,
            "client_info": self.client_info(ACCOUNTS[grant["account"]]) if client_info else None,
        }
        there = {name: value for name, value in known.items() if value is not None}
        return changed_members(there, self._switches.changes("answer"))

    def keys(self, tenant: str) -> Document:
        """Return the list of the keys that are published: the next one is there ahead of its use."""
        keys: list[Document] = []
        for name in (NEXT, self._signing()):
            public = RSAAlgorithm.to_jwk(_key(self._ground.state, name).public_key(), as_dict=True)
            keys.append({**public, "use": "sig", "kid": kid(name), "issuer": self.issuer(tenant)})
        return {"keys": keys}

    def issuer(self, tenant: str) -> str:
        return f"{self._url}/{tenant}/v2.0"

    def client_info(self, account: SignInAccount) -> str:
        """Return where an account is at home, in base64url, whichever tenant it signs in to."""
        known: Document = {"uid": account.object_ids[account.home], "utid": account.home}
        return encoded(changed_members(known, self._switches.changes("client_info")).encode())

    def _signing(self) -> str:
        """Return the name of the key that signs now."""
        return str(self._switches.values("keys").get("rotated", 0))

    def _id_token(self, grant: Document) -> str:
        nonce: str | None = grant.get("nonce")
        claims = {
            **self._claims(grant, grant["client"]),
            "ver": "2.0",
            "iss": self.issuer(grant["tenant"]),
            "preferred_username": grant["account"],
            "rh": f"0.{secrets.token_urlsafe(24)}",
            **({} if nonce is None else {"nonce": nonce}),
        }
        changes = self._switches.changes("id")
        by = next((one["sign"] for one in reversed(changes) if "sign" in one), "")
        return self._signed(changed_members(claims, changes), {}, by)

    def _access_token(self, grant: Document, scopes: list[str]) -> str:
        state, expires = self._ground.state, self._ground.clock.now().timestamp() + LIFETIME
        opaque = "opaque" in self._switches.on
        token = f"EwSandbox{secrets.token_urlsafe(96)}" if opaque else self._jwt(grant, scopes)
        keep(state, _ACCESS, token, grant | {"scopes": scopes, "expires": expires})
        return token

    def _jwt(self, grant: Document, scopes: list[str]) -> str:
        account = ACCOUNTS[grant["account"]]
        claims = {
            **self._claims(grant, GRAPH),
            "iss": f"https://sts.windows.net/{grant['tenant']}/",
            "appid": grant["client"],
            "idtyp": "user",
            "puid": hashlib.sha256(account.username.encode()).hexdigest()[:16].upper(),
            "scp": " ".join(scopes),
            "unique_name": account.username,
            "upn": account.upn(grant["tenant"]),
            "ver": "1.0",
        }
        nonce = secrets.token_urlsafe(32)
        # The vendor signs the nonce's digest and shows the nonce, so that only the resource can verify it.
        hidden = {"nonce": encoded(hashlib.sha256(nonce.encode()).digest())}
        token = self._signed(changed_members(claims, self._switches.changes("access")), hidden)
        shown = {"typ": "JWT", "nonce": nonce, "alg": "RS256", "kid": kid(self._signing())}
        return f"{encoded(json.dumps(shown).encode())}.{token.partition('.')[2]}"

    def _claims(self, grant: Document, audience: str) -> Document:
        """Return what both tokens have: those of a guest name where it is at home."""
        account, tenant = ACCOUNTS[grant["account"]], grant["tenant"]
        now = int(self._ground.clock.now().timestamp()) + self._switches.values("skew").get("seconds", 0)
        # An id of the person that differs from one audience to the next.
        subject = f"{account.username} {tenant} {audience}"
        return {
            "aud": audience,
            "sub": encoded(hashlib.sha256(subject.encode()).digest()),
            "iat": now,
            "nbf": now,
            "exp": now + LIFETIME,
            "name": account.name,
            "oid": account.object_ids[tenant],
            "tid": tenant,
            "uti": secrets.token_urlsafe(16),
            **({"idp": f"https://sts.windows.net/{account.home}/"} if account.is_guest(tenant) else {}),
        }

    def _signed(self, claims: str, header: Document, by: str = "") -> str:
        """Return a JWT of claims, signed by the key of now, by the `foreign` one, or by `none`."""
        headers = {"kid": kid(self._signing()), **header}
        if by == "none":
            return _jws.encode(claims.encode(), cast("Any", None), None, headers)
        key = _key(self._ground.state, FOREIGN if by == FOREIGN else self._signing())
        return _jws.encode(claims.encode(), key, "RS256", headers)


_jws = PyJWS()
