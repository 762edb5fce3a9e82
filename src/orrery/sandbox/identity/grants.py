"""The grants: what is shown for tokens, from the request to its redemption."""

import hashlib
import secrets
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from orrery.sandbox.ground import Document, SandboxGround
from orrery.sandbox.identity.directory import ACCOUNTS, CLIENTS, GRAPH, TENANTS, SignInAccount, refusal
from orrery.sandbox.identity.switches import Switches
from orrery.sandbox.identity.tokens import TokenEndpoint, encoded, keep, kept

DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"

DEVICE_CODE_LIFETIME = 900
CODE_LIFETIME = 600
REFRESH_TOKEN_LIFETIME = 90 * 86_400

_DEVICE, _CODE, _REFRESH = "_identity_device", "_identity_code", "_identity_refresh"
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_LOOPBACK = frozenset({"localhost", "127.0.0.1"})

Form = Mapping[str, str]


class Grants:
    """Device codes, authorization codes and refresh tokens, kept in the sandbox's state."""

    def __init__(
        self, ground: SandboxGround, tokens: TokenEndpoint, switches: Switches, page: str, interval: int
    ) -> None:
        self._ground = ground
        self._state = ground.state
        self._tokens = tokens
        self._about = {"verification_uri": page, "interval": interval}
        self._switches = switches

    def redeem(self, tenant: str, form: Form) -> str:
        """Return the JSON text of the answer to a token request; raise `Refusal`."""
        grants = {
            DEVICE_CODE: self._by_device_code,
            "authorization_code": self._by_code,
            "refresh_token": self._by_refresh_token,
        }
        kind = required(form, "grant_type")
        if kind not in grants:
            raise refusal("unsupported_grant", grant=kind)
        self.check_client(tenant, required(form, "client_id"))
        grant = grants[kind](tenant, form)
        if "consent" in self._switches.on:
            raise refusal("no_consent", client=grant["client"])
        refresh_token = self._new_refresh_token(grant) if "offline_access" in grant["scopes"] else None
        return self._tokens.answer(grant, refresh_token, client_info="client_info" in form)

    def check_client(self, tenant: str, client: str) -> None:
        """Return if a tenant knows a client; raise `Refusal`."""
        if client not in CLIENTS:
            raise refusal("no_client", client=client, tenant=tenant)
        if "confidential" in self._switches.on:
            raise refusal("not_public", 401)

    def device_code(self, tenant: str, form: Form) -> Document:
        """Return the answer to a request for a device code; raise `Refusal`."""
        client, scopes = required(form, "client_id"), _scopes(form)
        if client not in CLIENTS:
            raise refusal("no_client", client=client, tenant=tenant)
        device_code = f"device-code-{secrets.token_urlsafe(48)}"
        user_code = "".join(secrets.choice(_LETTERS) for _ in range(9))
        asked = {"tenant": tenant, "client": client, "scopes": scopes, "standing": "waiting"}
        code = {"user_code": user_code, "expires": self._now() + DEVICE_CODE_LIFETIME}
        keep(self._state, _DEVICE, device_code, asked | code)
        return {
            "user_code": user_code,
            "device_code": device_code,
            **self._about,
            "expires_in": DEVICE_CODE_LIFETIME,
            "message": f"To sign in, open {self._about['verification_uri']} and enter the code {user_code}.",
        }

    def waiting(self) -> Iterator[Document]:
        """Yield the device codes that are neither approved nor declined, newest first."""
        for one in self._state.newest_first(_DEVICE):
            if one["standing"] == "waiting" and one["expires"] > self._now():
                yield {name: one[name] for name in ("user_code", "tenant", "client", "scopes", "expires")}

    def approve(self, user_code: str, username: str) -> None:
        """Let an account approve a user code; `ValueError` gives the reason why not."""
        code = self._waiting(user_code)
        if ACCOUNTS.get(username) not in members(code["tenant"]):
            raise ValueError(f"{username!r} is no account of the tenant {code['tenant']}.")
        self._state.save(code | {"standing": "approved", "account": username})

    def decline(self, user_code: str) -> None:
        """Decline a user code; `ValueError` gives the reason why not."""
        self._state.save(self._waiting(user_code) | {"standing": "declined"})

    def code(self, tenant: str, query: Form, username: str) -> str:
        """Return the authorization code of an account that was chosen; raise `Refusal`."""
        if ACCOUNTS.get(username) not in members(tenant):
            raise refusal("not_a_member", username=username, home="nowhere", tenant=tenant)
        code = f"0.code-{secrets.token_urlsafe(48)}"
        known = {
            "tenant": tenant,
            "client": query["client_id"],
            "scopes": _scopes(query),
            "account": username,
            "redirect_uri": query["redirect_uri"],
            "challenge": query.get("code_challenge", ""),
            "nonce": query.get("nonce"),
            "expires": self._now() + CODE_LIFETIME,
            "redeemed": False,
        }
        keep(self._state, _CODE, code, known)
        return code

    def _by_device_code(self, tenant: str, form: Form) -> Document:
        code = self._granted(_DEVICE, form, "device_code", tenant)
        _refuse_first(
            ("bad_grant", code["standing"] == "redeemed"),
            ("expired_device_code", code["expires"] <= self._now()),
            ("declined", code["standing"] == "declined"),
            ("pending", code["standing"] == "waiting"),
            ("blocked", "device_code" in self._switches.on),
            parameter="device_code",
        )
        self._state.save(code | {"standing": "redeemed"})
        return code

    def _granted(self, kind: str, form: Form, name: str, tenant: str = "") -> Document:
        """Return what is known of the code or token of a form: it is bound to its client, a code to a tenant."""
        found = kept(self._state, kind, required(form, name))
        if found is None or found["client"] != form["client_id"] or tenant not in {"", found.get("tenant")}:
            raise refusal("bad_grant", parameter=name)
        return found

    def _by_code(self, tenant: str, form: Form) -> Document:
        code = self._granted(_CODE, form, "code", tenant)
        _refuse_first(
            ("redeemed_code", code["redeemed"]),
            ("expired_code", code["expires"] <= self._now()),
            ("other_redirect", form.get("redirect_uri", "") != code["redirect_uri"]),
            ("bad_verifier", challenge_of(form.get("code_verifier", "")) != code["challenge"]),
        )
        self._state.save(code | {"redeemed": True})
        return code

    def _by_refresh_token(self, tenant: str, form: Form) -> Document:
        """Return who signed in once: in any tenant, since the vendor does not bind a refresh token to one."""
        token = self._granted(_REFRESH, form, "refresh_token")
        account = ACCOUNTS[token["account"]]
        _refuse_first(
            ("expired_refresh_token", token["expires"] <= self._now()),
            ("not_a_member", tenant not in account.object_ids),
            username=account.username,
            home=account.home,
            tenant=tenant,
        )
        return token | {"tenant": tenant, "scopes": _scopes(form) if "scope" in form else token["scopes"]}

    def _new_refresh_token(self, grant: Document) -> str:
        token = f"1.sandbox-{secrets.token_urlsafe(64)}"
        known = {name: grant[name] for name in ("account", "client", "scopes")}
        keep(self._state, _REFRESH, token, known | {"expires": self._now() + REFRESH_TOKEN_LIFETIME})
        return token

    def _waiting(self, user_code: str) -> Document:
        for one in self._state.newest_first(_DEVICE):
            if one["user_code"] == user_code.strip().upper() and one["standing"] == "waiting":
                if one["expires"] <= self._now():
                    raise ValueError("The code has expired: ask for a new one.")
                return dict(one)
        raise ValueError(f"There is no code {user_code!r} that waits.")

    def _now(self) -> float:
        return self._ground.clock.now().timestamp()


def _refuse_first(*wrong: tuple[str, bool], **words: str) -> None:
    """Raise the first of these refusals that there is a reason for."""
    for name, holds in wrong:
        if holds:
            raise refusal(name, 400, **words)


def members(tenant: str) -> list[SignInAccount]:
    """Return the accounts that may sign in to a tenant, guests too."""
    return [one for one in ACCOUNTS.values() if tenant in one.object_ids]


def check_redirect(address: str) -> None:
    """Return if an address is on this machine, where the vendor takes any port; raise `Refusal`."""
    parts = urlsplit(address)
    if parts.scheme != "http" or parts.hostname not in _LOOPBACK:
        raise refusal("bad_redirect", address=address)


def challenge_of(verifier: str) -> str:
    """Return the S256 challenge of a verifier (RFC 7636)."""
    return encoded(hashlib.sha256(verifier.encode()).digest())


def check_tenant(tenant: str) -> None:
    """Return if there is such a tenant; `common` and the like are none here, so that a use of them is seen."""
    if tenant not in TENANTS:
        raise refusal("no_tenant", tenant=tenant)


def required(form: Form, name: str) -> str:
    """Return a field; raise `Refusal` when it is missing or empty."""
    if not form.get(name):
        raise refusal("missing", parameter=name)
    return form[name]


def _scopes(form: Form) -> list[str]:
    """Return the scopes that are asked for: of Graph, and those of signing in."""
    scopes = required(form, "scope").split()
    for scope in scopes:
        if "://" in scope and not scope.startswith(f"{GRAPH}/"):
            raise refusal("bad_scope", scope=scope)
    return scopes
