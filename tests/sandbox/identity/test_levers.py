"""What the levers break, with Microsoft's own library and a checker of id tokens."""

import base64

import jwt
import pytest

from orrery.sandbox.identity.directory import TENANT_A, TENANT_B
from orrery.sandbox.identity.switches import SWITCHES
from tests.sandbox.identity.client import Client, Result, verified
from tests.support.identity import IdentityBox

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
    ("lever", "error", "code", "suberror"),
    [
        ("consent", "invalid_grant", 65001, "consent_required"),
        ("device_code", "invalid_grant", 53003, "message_only"),
        ("confidential", "invalid_client", 7000218, None),
    ],
)
def test_a_sign_in_is_refused(box: IdentityBox, lever: str, error: str, code: int, suberror: str | None) -> None:
    """Until the lever is undone the library reads the vendor's error."""
    box.pull(lever)
    refused = Client(box).sign_in(ANN)
    assert (refused["error"], refused["error_codes"], refused.get("suberror")) == (error, [code], suberror)
    assert refused["error_description"].startswith(f"AADSTS{code}: ")
    box.undo(lever)
    signed_in(box)


@pytest.mark.parametrize("status", [200, 400])
def test_polls_that_are_too_fast(box: IdentityBox, status: int) -> None:
    """The next polls are answered so, whatever the HTTP status, and the one after them has the tokens."""
    client = Client(box)
    code = client.code()
    box.approve(code["user_code"], ANN)
    box.pull("slow_down", count=2, status=status)
    assert [client.poll(code).get("error") for _ in range(3)] == ["slow_down", "slow_down", None]


def test_a_rotated_key(box: IdentityBox) -> None:
    """The token from before cannot be verified, one from after can, and undone the first key is back."""
    before = signed_in(box)["id_token"]
    box.pull("keys")
    with pytest.raises(jwt.PyJWKClientError):
        verified(box, before)
    verified(box, signed_in(box)["id_token"])
    box.undo("keys")
    verified(box, before)


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


def test_a_lever_that_there_is_not(box: IdentityBox) -> None:
    """It is refused in a sentence that names those that there are, and so is one without its values."""
    refusals = [
        box.web.post(f"/_identity/{name}", json={}).json()["error"] for name in ("nothing", "skew", "doctor")
    ]
    assert all(name in refusals[0] for name in SWITCHES)
    assert (refusals[1], "`part` is one of" in refusals[2]) == ("seconds is missing.", True)
