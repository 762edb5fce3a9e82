"""The tokens of an answer: their keys, their claims, and which were issued."""

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass
from functools import cache
from typing import cast

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from orrery.sandbox.ground import Document, DocumentStore, SandboxGround
from orrery.sandbox.identity.directory import ACCOUNTS, GRAPH, IdentityConfig, SignInAccount
from orrery.sandbox.identity.switches import Switches, changed_members, signed_by

_KEY = "_identity_key"

NEXT = "next"
"""The name of a key that is published and not yet used."""

FOREIGN = "foreign"
"""The name of the key that is never published."""


class SigningKeys:
    """The keys by name; each is made when it is first needed."""

    def __init__(self, state: DocumentStore) -> None:
        self._state = state

    def published(self, name: str, issuer: str) -> Document:
        """Return a key as the list of keys has it."""
        numbers = self._key(name).public_key().public_numbers()
        return {
            "kty": "RSA",
            "use": "sig",
            "kid": kid(name),
            "n": encoded(numbers.n.to_bytes((numbers.n.bit_length() + 7) // 8)),
            "e": encoded(numbers.e.to_bytes(3)),
            "issuer": issuer,
        }

    def signature(self, name: str, signed: str) -> str:
        return encoded(self._key(name).sign(signed.encode(), PKCS1v15(), SHA256()))

    def _key(self, name: str) -> RSAPrivateKey:
        stored = self._state.get(_KEY, name)
        if stored is None:
            stored = {"object": _KEY, "id": name, "pem": _generated(name)}
            self._state.save(stored)
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


_ACCESS = "_identity_access"


@dataclass(frozen=True, slots=True)
class Issued:
    """What an access token grants; it is good until `expires`, a Unix time by the sandbox's clock."""

    account: SignInAccount
    tenant: str
    scopes: frozenset[str]
    expires: float


def register(state: DocumentStore, token: str, issued: Issued) -> None:
    """Keep an access token's digest with what it grants."""
    state.save(
        {
            "object": _ACCESS,
            "id": _digest(token),
            "account": issued.account.username,
            "tenant": issued.tenant,
            "scopes": sorted(issued.scopes),
            "expires": issued.expires,
        }
    )


def issued_token(state: DocumentStore, token: str) -> Issued | None:
    """Return what a token grants, expired or not; None when it was not issued here."""
    found = state.get(_ACCESS, _digest(token))
    if found is None:
        return None
    scopes = frozenset[str](found["scopes"])
    return Issued(ACCOUNTS[found["account"]], found["tenant"], scopes, found["expires"])


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


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

    def __init__(self, config: IdentityConfig, ground: SandboxGround) -> None:
        self._config = config
        self._ground = ground
        self._switches = Switches(ground.state)
        self._keys = SigningKeys(ground.state)

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
        body |= {"refresh_token": refresh_token} if refresh_token is not None else {}
        body |= {"id_token": self._id_token(signed)} if "openid" in signed.scopes else {}
        body |= {"client_info": self.client_info(signed.account)} if client_info else {}
        return changed_members(body, self._switches.changes("answer"))

    def keys(self, tenant: str) -> Document:
        """Return the list of the keys that are published: the next one is there ahead of its use."""
        issuer = self.issuer(tenant)
        return {"keys": [self._keys.published(name, issuer) for name in (NEXT, self._switches.key())]}

    def discovered(self, members: Document) -> str:
        """Return the discovery document as the levers change it."""
        return changed_members(members, self._switches.changes("discovery"))

    def issuer(self, tenant: str) -> str:
        return f"{self._config.url}/{tenant}/v2.0"

    def _granted(self, signed: Signed) -> list[str]:
        added: list[str] = (self._switches.values("scopes") or {}).get("add", [])
        wanted = [one for one in signed.scopes if one != "offline_access"]
        return list(dict.fromkeys([*wanted, *added]))

    def _times(self) -> dict[str, int]:
        skew = int((self._switches.values("skew") or {}).get("seconds", 0))
        now = int(self._ground.clock.now().timestamp()) + skew
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
            **({} if signed.nonce is None else {"nonce": signed.nonce}),
        }
        changes = self._switches.changes("id")
        by = signed_by(changes)
        header = {"typ": "JWT", "alg": "none" if by == "none" else "RS256", "kid": kid(self._switches.key())}
        text = f"{_encoded(json.dumps(header))}.{_encoded(changed_members(claims, changes))}"
        if by == "none":
            return f"{text}."
        return f"{text}.{self._keys.signature(FOREIGN if by == FOREIGN else self._switches.key(), text)}"

    def _access_token(self, signed: Signed, scopes: frozenset[str]) -> str:
        opaque = self._switches.values("opaque") is not None
        token = f"EwSandbox{secrets.token_urlsafe(96)}" if opaque else self._jwt(signed, scopes)
        expires = self._ground.clock.now().timestamp() + LIFETIME
        register(self._ground.state, token, Issued(signed.account, signed.tenant, scopes, expires))
        return token

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
        payload = _encoded(changed_members(claims, self._switches.changes("access")))
        nonce = secrets.token_urlsafe(32)
        header = {"typ": "JWT", "nonce": nonce, "alg": "RS256", "kid": kid(self._switches.key())}
        # The vendor signs the nonce's digest and shows the nonce, so that only the resource can verify it.
        hidden = header | {"nonce": encoded(hashlib.sha256(nonce.encode()).digest())}
        signature = self._keys.signature(self._switches.key(), f"{_encoded(json.dumps(hidden))}.{payload}")
        return f"{_encoded(json.dumps(header))}.{payload}.{signature}"

    def client_info(self, account: SignInAccount) -> str:
        """Return where an account is at home, in base64url, whichever tenant it signs in to."""
        known: Document = {"uid": account.object_ids[account.home], "utid": account.home}
        return _encoded(changed_members(known, self._switches.changes("client_info")))


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
