"""Signing in with Microsoft's own library (docs/reference/sandbox.md, Identity provider)."""

import base64
import json
from http import HTTPStatus
from typing import Any

import jwt
import pytest

from orrery.sandbox.identity.directory import ACCOUNTS, CLIENT_A, CLIENT_B, TENANT_A, TENANT_B
from orrery.sandbox.identity.tokens import LIFETIME, issued_token
from tests.sandbox.identity.client import Client, verified
from tests.support.identity import IdentityBox

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
