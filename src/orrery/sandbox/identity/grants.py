"""The grants: what is shown for tokens, from the request to its redemption."""

import base64
import hashlib
import secrets
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from orrery.ports.clock import Clock
from orrery.sandbox.ground import Document, DocumentStore
from orrery.sandbox.identity.directory import ACCOUNTS, CLIENTS, GRAPH, TENANTS, SignInAccount, refusal
from orrery.sandbox.identity.switches import Switches
from orrery.sandbox.identity.tokens import Signed, TokenEndpoint

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
        self, state: DocumentStore, clock: Clock, tokens: TokenEndpoint, page: str, interval: int
    ) -> None:
        self._state = state
        self._clock = clock
        self._tokens = tokens
        self._page = page
        self._interval = interval
        self._switches = Switches(state)

    def redeem(self, tenant: str, form: Form) -> str:
        """Return the JSON text of the answer to a token request; raise `Refusal`."""
        grants = {
            DEVICE_CODE: self._by_device_code,
            "authorization_code": self._by_code,
            "refresh_token": self._by_refresh_token,
        }
        kind = _required(form, "grant_type")
        if kind not in grants:
            raise refusal("unsupported_grant", grant=kind)
        self.check_client(tenant, _required(form, "client_id"))
        signed = grants[kind](tenant, form)
        if self._switches.holds("consent", tenant):
            raise refusal("no_consent", client=signed.client)
        refresh_token = self._new_refresh_token(signed) if "offline_access" in signed.scopes else None
        return self._tokens.answer(signed, refresh_token, client_info="client_info" in form)

    def check_client(self, tenant: str, client: str) -> None:
        """Return if a tenant knows a client; raise `Refusal`."""
        if client not in CLIENTS:
            raise refusal("no_client", client=client, tenant=tenant)
        if self._switches.values("confidential") is not None:
            raise refusal("not_public", 401)

    def device_code(self, tenant: str, form: Form) -> Document:
        """Return the answer to a request for a device code; raise `Refusal`."""
        client, scopes = _required(form, "client_id"), _scopes(form)
        if client not in CLIENTS:
            raise refusal("no_client", client=client, tenant=tenant)
        device_code = f"device-code-{secrets.token_urlsafe(48)}"
        user_code = "".join(secrets.choice(_LETTERS) for _ in range(9))
        self._state.save(
            {
                "object": _DEVICE,
                "id": device_code,
                "user_code": user_code,
                "tenant": tenant,
                "client": client,
                "scopes": scopes,
                "expires": self._now() + DEVICE_CODE_LIFETIME,
                "standing": "waiting",
                "account": None,
            }
        )
        return {
            "user_code": user_code,
            "device_code": device_code,
            "verification_uri": self._page,
            "expires_in": DEVICE_CODE_LIFETIME,
            "interval": self._interval,
            "message": f"To sign in, use a web browser to open the page {self._page} and enter the code "
            f"{user_code} to authenticate.",
        }

    def waiting(self) -> Iterator[Document]:
        """Yield the device codes that are neither approved nor declined, newest first."""
        for one in self._state.newest_first(_DEVICE):
            if one["standing"] == "waiting" and one["expires"] > self._now():
                yield {name: one[name] for name in ("user_code", "tenant", "client", "scopes", "expires")}

    def approve(self, user_code: str, username: str) -> None:
        """Let an account approve a user code; `ValueError` gives the reason why not."""
        code = self._waiting(user_code)
        if username not in _members(code["tenant"]):
            raise ValueError(f"{username!r} is no account of the tenant {code['tenant']}.")
        self._state.save(code | {"standing": "approved", "account": username})

    def decline(self, user_code: str) -> None:
        """Decline a user code; `ValueError` gives the reason why not."""
        self._state.save(self._waiting(user_code) | {"standing": "declined"})

    def code(self, tenant: str, query: Form, username: str) -> str:
        """Return the authorization code of an account that was chosen; raise `Refusal`."""
        if username not in _members(tenant):
            raise refusal("not_a_member", username=username, home=_home(username), tenant=tenant)
        code = f"0.code-{secrets.token_urlsafe(48)}"
        self._state.save(
            {
                "object": _CODE,
                "id": code,
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
        )
        return code

    def _by_device_code(self, tenant: str, form: Form) -> Signed:
        code = self._state.get(_DEVICE, _required(form, "device_code"))
        if code is None or code["tenant"] != tenant or code["client"] != form["client_id"]:
            raise refusal("bad_grant", parameter="device_code")
        self._slow_down()
        if code["standing"] == "redeemed":
            raise refusal("bad_grant", parameter="device_code")
        if code["expires"] <= self._now():
            raise refusal("expired_device_code")
        if code["standing"] == "declined":
            raise refusal("declined")
        if code["standing"] == "waiting":
            raise refusal("pending")
        if self._switches.holds("device_code", tenant):
            raise refusal("blocked")
        self._state.save(code | {"standing": "redeemed"})
        return Signed(ACCOUNTS[code["account"]], tenant, code["client"], tuple(code["scopes"]))

    def _slow_down(self) -> None:
        values = self._switches.values("slow_down")
        if values is None:
            return
        left = int(values.get("count", 1)) - 1
        if left > 0:
            self._switches.turn_on("slow_down", values | {"count": left})
        else:
            self._switches.turn_off("slow_down")
        raise refusal("too_fast", int(values.get("status", 400)))

    def _by_code(self, tenant: str, form: Form) -> Signed:
        code = self._state.get(_CODE, _required(form, "code"))
        if code is None or code["tenant"] != tenant or code["client"] != form["client_id"]:
            raise refusal("bad_grant", parameter="code")
        if code["redeemed"]:
            raise refusal("redeemed_code")
        if code["expires"] <= self._now():
            raise refusal("expired_code")
        if form.get("redirect_uri", "") != code["redirect_uri"]:
            raise refusal("other_redirect")
        if code["challenge"] and challenge_of(_required(form, "code_verifier")) != code["challenge"]:
            raise refusal("bad_verifier")
        self._state.save(code | {"redeemed": True})
        return Signed(ACCOUNTS[code["account"]], tenant, code["client"], tuple(code["scopes"]), code["nonce"])

    def _by_refresh_token(self, tenant: str, form: Form) -> Signed:
        """Return who signed in once: in any tenant, since the vendor does not bind a refresh token to one."""
        token = self._state.get(_REFRESH, _digest(_required(form, "refresh_token")))
        if token is None or token["client"] != form["client_id"]:
            raise refusal("bad_grant", parameter="refresh_token")
        if token["expires"] <= self._now():
            raise refusal("expired_refresh_token")
        account = ACCOUNTS[token["account"]]
        if tenant not in account.object_ids:
            raise refusal("not_a_member", username=account.username, home=account.home, tenant=tenant)
        scopes = _scopes(form) if "scope" in form else token["scopes"]
        return Signed(account, tenant, token["client"], tuple(scopes))

    def _new_refresh_token(self, signed: Signed) -> str:
        token = f"1.sandbox-{secrets.token_urlsafe(64)}"
        self._state.save(
            {
                "object": _REFRESH,
                "id": _digest(token),
                "account": signed.account.username,
                "client": signed.client,
                "scopes": list(signed.scopes),
                "expires": self._now() + REFRESH_TOKEN_LIFETIME,
            }
        )
        return token

    def _waiting(self, user_code: str) -> Document:
        for one in self._state.newest_first(_DEVICE):
            if one["user_code"] == user_code.strip().upper() and one["standing"] == "waiting":
                if one["expires"] <= self._now():
                    raise ValueError("The code has expired: ask for a new one.")
                return dict(one)
        raise ValueError(f"There is no code {user_code!r} that waits.")

    def _now(self) -> float:
        return self._clock.now().timestamp()


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
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def check_tenant(tenant: str) -> None:
    """Return if there is such a tenant; `common` and the like are none here, so that a use of them is seen."""
    if tenant not in TENANTS:
        raise refusal("no_tenant", tenant=tenant)


def _members(tenant: str) -> set[str]:
    return {one.username for one in members(tenant)}


def _home(username: str) -> str:
    return ACCOUNTS[username].home if username in ACCOUNTS else "nowhere"


def _required(form: Form, name: str) -> str:
    if not form.get(name):
        raise refusal("missing", parameter=name)
    return form[name]


def _scopes(form: Form) -> list[str]:
    """Return the scopes that are asked for: of Graph, and those of signing in."""
    scopes = _required(form, "scope").split()
    for scope in scopes:
        if "://" in scope and not scope.startswith(f"{GRAPH}/"):
            raise refusal("bad_scope", scope=scope)
    return scopes


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
