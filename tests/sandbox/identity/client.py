"""Microsoft's own library, pointed at the sandbox's identity provider."""

import ssl
from typing import Any

import jwt
import requests
from msal import PublicClientApplication

from orrery.sandbox.identity.directory import CLIENT_A, TENANT_A
from tests.support.identity import IdentityBox

READ = ["User.Read"]

Result = dict[str, Any]


class Client:
    """The library with its own cache. Its types are loose: `Any` here."""

    def __init__(self, box: IdentityBox, tenant: str = TENANT_A, client: str = CLIENT_A) -> None:
        web = requests.Session()
        web.verify = str(box.ca_file)
        web.trust_env = False
        self._box = box
        self.msal: Any = PublicClientApplication(
            client, authority=f"{box.authority}/{tenant}", instance_discovery=False, http_client=web
        )

    def code(self, *scopes: str) -> Result:
        """Return a device code that waits for its approval."""
        return self.msal.initiate_device_flow([*(scopes or READ)])

    def poll(self, code: Result) -> Result:
        """Ask once for the tokens of a device code."""
        code["latest_attempt_at"] = 0
        return self.msal.acquire_token_by_device_flow(code, exit_condition=bool)

    def sign_in(self, account: str, *scopes: str) -> Result:
        """Sign an account in by device code."""
        code = self.code(*scopes)
        self._box.approve(code["user_code"], account)
        return self.poll(code)

    def flow(self, mode: str = "form_post") -> Result:
        """Return a flow by authorization code."""
        return self.msal.initiate_auth_code_flow(READ, redirect_uri="http://localhost:8400", response_mode=mode)

    def redeem(self, refresh_token: str) -> Result:
        """Redeem a refresh token that another client has got."""
        return self.msal.acquire_token_by_refresh_token(refresh_token, READ)


def verified(box: IdentityBox, token: str, client: str = CLIENT_A) -> Result:
    """Return the claims of a token that the published keys of tenant A verify."""
    authority = f"{box.authority}/{TENANT_A}"
    trust = ssl.create_default_context(cafile=box.ca_file)
    keys = jwt.PyJWKClient(f"{authority}/discovery/v2.0/keys", ssl_context=trust, cache_jwk_set=False)
    key = keys.get_signing_key_from_jwt(token)
    # The leeway is for the sandbox's clock, which the tests move.
    leeway = box.clock.offset()
    return jwt.decode(token, key, ["RS256"], audience=client, issuer=f"{authority}/v2.0", leeway=leeway + 5)
