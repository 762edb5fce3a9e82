"""The claims of tokens, judged: who signed in, and which tokens a track refuses (decision 38)."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from orrery.syntax.email_address import normal_email
from orrery.tenants.errors import SignInRefused
from orrery.tenants.scopes import not_allowed

SKEW = timedelta(minutes=5)
"""How far the clocks of this machine and of the authority may be apart; the vendor's libraries allow as much."""

_HOME = re.compile(r"(?P<object>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(?P<tenant>[0-9a-f-]{36})")

_MEMBER = 0
"""The claim `acct` of an account that is at home in the tenant; 1 is a guest."""


@dataclass(frozen=True, slots=True)
class ExpectedClaims:
    """What the tokens of one account must hold. The GUIDs are in lower case."""

    authority: str
    tenant: str
    client: str
    account: str

    @property
    def issuers(self) -> tuple[str, str]:
        """The names under which the tenant's authority issues tokens: of version 2, and of version 1."""
        return f"{self.authority}/{self.tenant}/v2.0", f"https://sts.windows.net/{self.tenant}/"


class _Claims:
    """The claims of one token, each read by the type that it must have."""

    def __init__(self, token: str, payload: bytes) -> None:
        self._token = token
        self._found = self._read(payload)

    def has(self, name: str) -> bool:
        return name in self._found

    def text(self, name: str) -> str:
        found = self._value(name)
        if not isinstance(found, str) or not found.strip():
            raise self.refused(name, "is not a text")
        return found

    def number(self, name: str) -> int:
        found = self._value(name)
        if not isinstance(found, int) or isinstance(found, bool):
            raise self.refused(name, "is not a whole number")
        return found

    def require(self, name: str, expected: Iterable[str], why: str) -> None:
        """Refuse the token when a claim is none of some texts; the case of letters does not count."""
        if self.text(name).casefold() not in {one.casefold() for one in expected}:
            raise self.refused(name, why)

    def refused(self, name: str, why: str) -> SignInRefused:
        return SignInRefused(f"The {self._token}'s claim {name} {why}: the sign-in is refused.")

    def _value(self, name: str) -> object:
        if name not in self._found:
            raise self.refused(name, "is missing")
        return self._found[name]

    def _read(self, payload: bytes) -> dict[str, object]:
        try:
            found = json.loads(payload, object_pairs_hook=self._once)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise SignInRefused(f"The {self._token} cannot be read: the sign-in is refused.")
        return cast("dict[str, object]", found)

    def _once(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Refuse an object with a name twice: readers differ about which one counts."""
        names = [name for name, _ in pairs]
        if twice := [name for name in names if names.count(name) > 1]:
            raise self.refused(_shown(twice[0]), "occurs twice")
        return dict(pairs)


def judge_sign_in(id_claims: bytes, home_account: str, expected: ExpectedClaims, now: datetime) -> str:
    """Return the object id of the person who signed in, or raise `SignInRefused`, which names the claim.

    `id_claims` come from a verified id token; `home_account` from the answer that it came with.
    """
    claims = _Claims("id token", id_claims)
    claims.require("ver", ["2.0"], "is another version")
    claims.require("iss", expected.issuers[:1], "names another authority")
    claims.require("aud", [expected.client], "names another app")
    claims.require("tid", [expected.tenant], "names another tenant")
    object_id = claims.text("oid").casefold()
    _refuse_guest(claims, expected)
    home = _HOME.fullmatch(home_account.casefold())
    if home is None:
        raise SignInRefused("The answer does not name the home account (client_info): the sign-in is refused.")
    if home["tenant"] != expected.tenant:
        raise SignInRefused(
            "The account is a guest in this tenant, and at home in another (client_info utid): "
            "the sign-in is refused."
        )
    if home["object"] != object_id:
        raise SignInRefused("The home account (client_info uid) is not that of the id token: it is refused.")
    if normal_email(claims.text("preferred_username")) != expected.account:
        raise claims.refused("preferred_username", f"is not {expected.account}: another account signed in")
    _ = claims.text("sub")
    _ = claims.number("iat")
    _ = _judge_times(claims, now)
    return object_id


@dataclass(frozen=True, slots=True)
class Access:
    """The claims of an access token."""

    scopes: tuple[str, ...]
    expires_at: datetime


def judge_access(
    payload: bytes | None, granted: Iterable[str], object_id: str, expected: ExpectedClaims, now: datetime
) -> Access:
    """Return the claims of an access token, or raise `SignInRefused`, which names the claim.

    No claim of it allows anything: the track is that of the sign-in. `granted` are the scopes of the answer.
    """
    if payload is None:
        raise SignInRefused("The access token is opaque, so its account is unknown: the sign-in is refused.")
    claims = _Claims("access token", payload)
    claims.require("tid", [expected.tenant], "names another tenant")
    claims.require("iss", expected.issuers, "names another authority")
    if claims.has("roles"):
        raise claims.refused("roles", "is there: the token has permissions of an application")
    if claims.has("idtyp"):
        claims.require("idtyp", ["user"], "is not user: an application signed in, or a device")
    scopes = tuple(claims.text("scp").split())
    claims.require("oid", [object_id], "is another account's")
    claims.require("azp" if claims.has("azp") else "appid", [expected.client], "names another app")
    _refuse_guest(claims, expected)
    if sending := not_allowed([*scopes, *granted]):
        raise claims.refused("scp", f"has {', '.join(map(_shown, sending))}, which may send or is not known")
    return Access(scopes, _judge_times(claims, now))


def _refuse_guest(claims: _Claims, expected: ExpectedClaims) -> None:
    if claims.has("idp"):
        claims.require("idp", expected.issuers, "names another tenant: the account is a guest in this one")
    if claims.has("acct") and claims.number("acct") != _MEMBER:
        raise claims.refused("acct", "marks the account as a guest in this tenant")


def _judge_times(claims: _Claims, now: datetime) -> datetime:
    """Return when the token ends; refuse one that has ended, or not begun."""
    at, skew = now.timestamp(), SKEW.total_seconds()
    if claims.number("exp") <= at - skew:
        raise claims.refused("exp", "has passed (if that cannot be, check this machine's clock)")
    if claims.number("nbf") > at + skew:
        raise claims.refused("nbf", "has not come yet (if that cannot be, check this machine's clock)")
    try:
        return datetime.fromtimestamp(claims.number("exp"), UTC)
    except (OSError, OverflowError, ValueError):
        raise claims.refused("exp", "is no time") from None


def _shown(text: str) -> str:
    """Return a text from outside as an error may quote it."""
    return re.sub(r"[^A-Za-z0-9_.:/-]", "", text)[:80]
