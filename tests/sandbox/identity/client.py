"""Microsoft's own library, pointed at the sandbox's identity provider."""

from typing import Any

import requests
from msal import PublicClientApplication

from orrery.sandbox.identity.config import CLIENT_A, TENANT_A
from tests.support.identity import IdentityBox

READ = ["User.Read"]

Result = dict[str, Any]


class Client:
    """The library with a cache of its own. Its types are loose: `Any` here."""

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

    def refresh(self, *scopes: str) -> Result | None:
        """Return new tokens for the one account in the cache, by its refresh token."""
        [account] = self.msal.get_accounts()
        return self.msal.acquire_token_silent_with_error([*(scopes or READ)], account, force_refresh=True)

    def redeem(self, refresh_token: str) -> Result:
        """Redeem a refresh token that another client has got."""
        return self.msal.acquire_token_by_refresh_token(refresh_token, READ)
