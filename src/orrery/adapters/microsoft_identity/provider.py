"""Signs people in by the vendor's library; see `IdentityProvider`."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msal
import requests

from orrery.adapters.microsoft_identity.browser import Receiver
from orrery.adapters.microsoft_identity.http import DeadlineSession
from orrery.adapters.microsoft_identity.refusals import refusal
from orrery.adapters.microsoft_identity.tokens import part_of, payload_of, verified
from orrery.ports.comms.errors import SignInNeeded
from orrery.ports.identity import (
    AccessToken,
    Authority,
    DeviceCode,
    IdentityRefused,
    IdentityUnreachable,
    Refreshed,
    SignedIn,
)
from orrery.tls import unreachable
from orrery.trust import WELL_KNOWN, Trust

_WHO = "The identity provider"

_AGAIN = "The sign-in has run out, or was withdrawn: sign in again"

_PERSON_NEEDED = frozenset({"invalid_grant", "interaction_required", "login_required", "consent_required"})


class MicrosoftIdentity:
    """One tenant's authority at a time, by the tenant's own address, and never by `common`."""

    def __init__(self, address: str, trust: Trust = WELL_KNOWN) -> None:
        self._address = address.rstrip("/")
        self._session = DeadlineSession(trust)

    def by_device_code(
        self, authority: Authority, scopes: Sequence[str], show: Callable[[DeviceCode], None]
    ) -> SignedIn:
        """See `IdentityProvider`."""
        cache = msal.SerializableTokenCache()
        with _translated():
            app = self._app(authority, cache)
            flow = app.initiate_device_flow(scopes=list(scopes))
            if "user_code" not in flow:
                raise refusal(flow)
            show(DeviceCode(flow["user_code"], flow["verification_uri"], int(flow["expires_in"])))
            return self._signed_in(app.acquire_token_by_device_flow(flow), authority, cache)

    def in_browser(
        self, authority: Authority, scopes: Sequence[str], account: str, visit: Callable[[str], None]
    ) -> SignedIn:
        """See `IdentityProvider`."""
        cache, receiver = msal.SerializableTokenCache(), Receiver()
        with _translated(), receiver.listening():
            app = self._app(authority, cache)
            flow = app.initiate_auth_code_flow(
                scopes=list(scopes),
                redirect_uri=receiver.address,
                login_hint=account,
                prompt="select_account",
                response_mode="form_post",
            )
            visit(flow["auth_uri"])
            answer = app.acquire_token_by_auth_code_flow(flow, dict(receiver.answer(flow["state"])))
            return self._signed_in(answer, authority, cache)

    def silently(self, authority: Authority, scopes: Sequence[str], home_account: str, cache: str) -> Refreshed:
        """See `IdentityProvider`."""
        kept: Any = msal.SerializableTokenCache()
        with _translated():
            kept.deserialize(cache)
            app = self._app(authority, kept)
            accounts: list[dict[str, Any]] = app.get_accounts()
            if [one.get("home_account_id") for one in accounts] != [home_account]:
                raise SignInNeeded(f"{_AGAIN}: what is kept of it is not this account's.")
            answer = app.acquire_token_silent_with_error(list(scopes), account=accounts[0])
        if not answer or answer.get("error") in _PERSON_NEEDED:
            raise SignInNeeded(f"{_AGAIN}.")
        return Refreshed(_access(answer), kept.serialize() if kept.has_state_changed else None)

    def _app(self, authority: Authority, cache: Any) -> Any:  # noqa: ANN401  the library has no types
        return msal.PublicClientApplication(
            authority.client,
            authority=f"{self._address}/{authority.tenant}",
            instance_discovery=False,  # it would ask `common`
            token_cache=cache,
            http_client=self._session,
        )

    def _signed_in(self, answer: Mapping[str, Any], authority: Authority, cache: Any) -> SignedIn:  # noqa: ANN401  the same
        access = _access(answer)
        id_token = answer.get("id_token")
        if not isinstance(id_token, str):
            raise IdentityRefused("The answer has no id token: the sign-in is refused.")
        claims = verified(id_token, f"{self._address}/{authority.tenant}", self._session)
        return SignedIn(claims, _home_account(answer.get("client_info")), access, cache.serialize())


def _access(answer: Mapping[str, Any]) -> AccessToken:
    """Return the access token of an answer; raise `IdentityRefused` without one."""
    value, granted = answer.get("access_token"), answer.get("scope", "")
    if not isinstance(value, str):
        raise refusal(answer)
    return AccessToken(value, payload_of(value), tuple(str(granted).split()))


def _home_account(client_info: object) -> str:
    """Return `<object id>.<tenant id>` of the account at home, or nothing unless the answer holds it once."""
    payload = part_of(client_info) if isinstance(client_info, str) else None
    try:
        pairs = json.loads(payload or b"", object_pairs_hook=list[tuple[str, object]])
    except ValueError:
        return ""
    found = [str(value) for wanted in ("uid", "utid") for name, value in pairs if name == wanted]
    return ".".join(found)


@contextmanager
def _translated() -> Generator[None]:
    """Translate the errors of the library, and of what it asks by, without their texts: these may quote tokens."""
    try:
        yield
    except requests.RequestException as error:
        raise IdentityUnreachable(unreachable(_WHO, error)) from None
    except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
        raise IdentityUnreachable(f"{_WHO}'s answer is not as documented.") from None
