"""Signing in with Microsoft's own library (docs/reference/sandbox.md, Identity provider)."""

from typing import Any

from tests.sandbox.identity.client import Client
from tests.support.identity import IdentityBox


def me(box: IdentityBox, token: str) -> tuple[int, dict[str, Any]]:
    """Return what Graph says about the person of a token."""
    with box.https() as web:
        answer = web.get("/v1.0/me", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code, answer.json()


def test_a_device_code_is_approved(box: IdentityBox) -> None:
    """The library waits for the approval, and its token is good at Graph."""
    client = Client(box)
    code = client.code()
    assert client.poll(code)["error"] == "authorization_pending"
    box.approve(code["user_code"], "ann@corp.example")
    result = client.poll(code)
    status, person = me(box, result["access_token"])
    assert (status, person["userPrincipalName"]) == (200, "ann@corp.example")
    assert result["scope"] == "User.Read openid profile"
