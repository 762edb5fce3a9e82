"""The identity provider by Microsoft's own library: what it answers, and the known traps."""

import base64
import json
import ssl
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import jwt
import pytest
import requests
from msal import PublicClientApplication

from orrery.sandbox.identity.directory import ACCOUNTS, CLIENT_A, CLIENT_B, TENANT_A, TENANT_B
from orrery.sandbox.identity.tokens import LIFETIME, issued_token
from tests.support.identity import IdentityBox, identity

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


@pytest.fixture(scope="module")
def module_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IdentityBox]:
    """An identity provider: starting one takes a tenth of a second."""
    with identity(tmp_path_factory.mktemp("identity")) as box:
        yield box


@pytest.fixture
def box(module_box: IdentityBox) -> IdentityBox:
    """The module's identity provider with every lever undone."""
    module_box.undo()
    return module_box


DISCOURAGED = pytest.mark.filterwarnings("ignore:response_mode='form_post' is recommended")


GUEST = ACCOUNTS["ann@lab.example"]


def me(box: IdentityBox, token: str) -> tuple[int, dict[str, Any]]:
    """Return Graph's answer about the person of a token."""
    with box.https() as web:
        answer = web.get("/v1.0/me", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code, answer.json()


def claims_of(token: str) -> dict[str, Any]:
    """Return the claims of a token without a look at its signature."""
    return jwt.decode(token, options={"verify_signature": False})


def test_a_device_code_is_approved(box: IdentityBox) -> None:
    """The library waits for the approval; its token is good at Graph for an hour, and known to other stand-ins."""
    client = Client(box)
    code = client.code()
    assert client.poll(code)["error"] == "authorization_pending"
    box.approve(code["user_code"], "ann@corp.example")
    result = client.poll(code)
    status, person = me(box, result["access_token"])
    assert (status, person["userPrincipalName"]) == (HTTPStatus.OK, "ann@corp.example")
    assert set(result["scope"].split()) == {"User.Read", "openid", "profile"}
    issued = issued_token(box.sandbox.state, result["access_token"])
    assert issued is not None
    assert (issued.account.username, issued.tenant) == ("ann@corp.example", TENANT_A)
    box.clock.advance(LIFETIME)
    assert me(box, result["access_token"])[0] == HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize("mode", ["form_post", pytest.param("query", marks=DISCOURAGED)])
def test_an_account_is_chosen_on_the_page(box: IdentityBox, mode: str) -> None:
    """The code of the authorization page becomes tokens once, with the nonce that the library asked for."""
    client = Client(box)
    flow = client.flow(mode)
    answer = box.sign_in(flow["auth_uri"], "bob@corp.example")
    result = client.msal.acquire_token_by_auth_code_flow(flow, answer)
    assert verified(box, result["id_token"])["preferred_username"] == "bob@corp.example"
    again = client.msal.acquire_token_by_auth_code_flow(flow, answer)
    assert again["error_codes"] == [54005]


def test_a_guest_looks_like_a_member(box: IdentityBox) -> None:
    """A guest is known by `idp` and the id at home only; the tenant and the object id are those of the host."""
    result = Client(box).sign_in(GUEST.username)
    claims = verified(box, result["id_token"])
    assert (claims["tid"], claims["oid"]) == (TENANT_A, GUEST.object_ids[TENANT_A])
    assert claims["idp"] == f"https://sts.windows.net/{TENANT_B}/"
    home = json.loads(base64.urlsafe_b64decode(result["client_info"] + "=="))
    assert home == {"uid": GUEST.object_ids[TENANT_B], "utid": TENANT_B}
    assert me(box, result["access_token"])[1]["userPrincipalName"] == "ann_lab.example#EXT#@corp.example"


def test_a_refresh_token_crosses_tenants(box: IdentityBox) -> None:
    """THE trap: one that was got at home is redeemed where the account is a guest, and nowhere else."""
    home = Client(box, TENANT_B, CLIENT_B).sign_in(GUEST.username)
    crossed = Client(box, TENANT_A, CLIENT_B).redeem(home["refresh_token"])
    assert verified(box, crossed["id_token"], client=CLIENT_B)["tid"] == TENANT_A
    own = Client(box).sign_in("ann@corp.example")
    assert Client(box, TENANT_B).redeem(own["refresh_token"])["error_codes"] == [50020]


def test_an_access_token_verifies_nowhere(box: IdentityBox) -> None:
    """It is a JWT for Graph whose signature the published keys do not verify."""
    token = Client(box).sign_in("ann@corp.example")["access_token"]
    claims = claims_of(token)
    assert (claims["aud"], claims["appid"], claims["scp"]) == (
        "https://graph.microsoft.com",
        CLIENT_A,
        "User.Read openid profile",
    )
    with pytest.raises(jwt.InvalidSignatureError):
        verified(box, token)


ANN = "ann@corp.example"


def text_of(part: str) -> str:
    """Return the text of a part of base64url."""
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()


def signed_in(box: IdentityBox) -> Result:
    """Return the tokens of a sign-in that works."""
    result = Client(box).sign_in(ANN)
    assert "error" not in result, result
    return result


@pytest.mark.parametrize(
    ("sign", "error"), [("foreign", jwt.InvalidSignatureError), ("none", jwt.InvalidAlgorithmError)]
)
def test_an_id_token_that_is_not_signed_by_the_tenant(
    box: IdentityBox, sign: str, error: type[jwt.InvalidTokenError]
) -> None:
    """A key that is not published, or no signature at all: a checker refuses either."""
    box.doctor("id", sign=sign)
    token = signed_in(box)["id_token"]
    with pytest.raises(error):
        verified(box, token)


def test_claims_are_doctored(box: IdentityBox) -> None:
    """Dropped, set to anything, or there twice, in each part alike; changes add up."""
    box.doctor("id", drop="oid")
    box.doctor("id", set="tid", value=[TENANT_B])
    box.doctor("id", double="iss", value="https://elsewhere.example")
    box.doctor("access", set="aud", value=None)
    box.doctor("client_info", double="utid", value=TENANT_B)
    result = signed_in(box)
    claims = jwt.decode(result["id_token"], options={"verify_signature": False})
    assert ("oid" in claims, claims["tid"]) == (False, [TENANT_B])
    assert text_of(result["id_token"].split(".")[1]).count('"iss":') == 2
    assert '"aud":null' in text_of(result["access_token"].split(".")[1])
    info = text_of(result["client_info"])
    assert info.index(TENANT_A) < info.index(TENANT_B)


TOKEN = f"/{TENANT_A}/oauth2/v2.0/token"


UNKNOWN = "00000000-0000-4000-8000-00000000000f"


REFUSED: list[tuple[dict[str, str], str, int]] = [
    ({}, "invalid_request", 900144),
    ({"grant_type": "client_credentials"}, "unsupported_grant_type", 70003),
    ({"grant_type": "password"}, "unsupported_grant_type", 70003),
    ({"grant_type": "refresh_token", "client_id": UNKNOWN}, "unauthorized_client", 700016),
    ({"grant_type": "refresh_token", "client_id": CLIENT_A, "refresh_token": "x"}, "invalid_grant", 70000),
]


def test_token_requests_that_are_refused(box: IdentityBox) -> None:
    """Each with the vendor's word and number."""
    with box.https() as web:
        for form, error, code in REFUSED:
            refused = web.post(TOKEN, data=form)
            found = (refused.status_code, refused.json()["error"], refused.json()["error_codes"])
            assert (form, found) == (form, (400, error, [code]))
