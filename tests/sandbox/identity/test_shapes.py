"""The documents and errors of the identity provider, as any client reads them."""

import pytest

from orrery.sandbox.identity.directory import CLIENT_A, TENANT_A
from tests.support.identity import IdentityBox

TOKEN = f"/{TENANT_A}/oauth2/v2.0/token"
UNKNOWN = "00000000-0000-4000-8000-00000000000f"


@pytest.mark.parametrize(
    ("form", "error", "code"),
    [
        ({}, "invalid_request", 900144),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type", 70003),
        ({"grant_type": "password"}, "unsupported_grant_type", 70003),
        ({"grant_type": "refresh_token", "client_id": UNKNOWN}, "unauthorized_client", 700016),
        ({"grant_type": "refresh_token", "client_id": CLIENT_A, "refresh_token": "x"}, "invalid_grant", 70000),
    ],
)
def test_a_token_request_is_refused(box: IdentityBox, form: dict[str, str], error: str, code: int) -> None:
    """Each with the vendor's word and number."""
    with box.https() as web:
        refused = web.post(TOKEN, data=form)
    assert (refused.status_code, refused.json()["error"], refused.json()["error_codes"]) == (400, error, [code])
