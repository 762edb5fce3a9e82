"""What the levers break, with Microsoft's own library and a checker of id tokens."""

import base64

import jwt
import pytest

from orrery.sandbox.identity.directory import TENANT_A, TENANT_B
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
