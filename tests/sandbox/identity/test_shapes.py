"""The documents and errors of the identity provider, as any client reads them."""

from http import HTTPStatus
from pathlib import Path

import pytest

from orrery.sandbox.identity.directory import CLIENT_A, TENANT_A
from tests.support.identity import IdentityBox, identity

TOKEN = f"/{TENANT_A}/oauth2/v2.0/token"
UNKNOWN = "00000000-0000-4000-8000-00000000000f"


def test_discovery_names_its_addresses(box: IdentityBox) -> None:
    """All are below the tenant's authority, and the keys are there."""
    authority = f"{box.authority}/{TENANT_A}"
    with box.https() as web:
        found = web.get(f"{authority}/v2.0/.well-known/openid-configuration").json()
        keys = web.get(found["jwks_uri"]).json()["keys"]
    assert found["issuer"] == f"{authority}/v2.0"
    names = ("authorization_endpoint", "token_endpoint", "device_authorization_endpoint", "jwks_uri")
    assert all(found[name].startswith(f"{authority}/") for name in names)
    assert [(one["kty"], one["use"], one["issuer"]) for one in keys] == [("RSA", "sig", found["issuer"])] * 2


@pytest.mark.parametrize("tenant", [UNKNOWN, "common", "organizations", "consumers"])
def test_no_such_tenant(box: IdentityBox, tenant: str) -> None:
    """Also what the vendor answers for every tenant, so that a use of it is seen, and counted."""
    path = f"/{tenant}/v2.0/.well-known/openid-configuration"
    with box.https() as web:
        refused = web.get(path)
    body = refused.json()
    assert (refused.status_code, body["error"], body["error_codes"]) == (400, "invalid_tenant", [90002])
    assert body.keys() >= {"error_description", "timestamp", "trace_id", "correlation_id"}
    assert box.requests[path] == 1


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


@pytest.mark.parametrize(
    ("change", "code"),
    [({"redirect_uri": "https://elsewhere.example/"}, 50011), ({"response_type": "token"}, 700054)],
)
def test_nothing_is_sent_elsewhere(box: IdentityBox, change: dict[str, str], code: int) -> None:
    """A redirect address that is not on this machine, or another answer than a code, is refused on the spot."""
    query = {
        "client_id": CLIENT_A,
        "redirect_uri": "http://localhost",
        "response_type": "code",
        "scope": "openid",
    }
    with box.https() as web:
        refused = web.get(f"/{TENANT_A}/oauth2/v2.0/authorize", params=query | change)
    assert (refused.status_code, refused.json()["error_codes"]) == (400, [code])


def test_a_code_is_approved_on_the_page(box: IdentityBox) -> None:
    """The page lists the code with the accounts of its tenant; a button approves it, once."""
    with box.https() as web:
        asked = {"client_id": CLIENT_A, "scope": "User.Read"}
        code = web.post(f"/{TENANT_A}/oauth2/v2.0/devicecode", data=asked).json()["user_code"]
    page = box.web.get("/identity").text
    assert all(word in page for word in (code, "Approve as bob@corp.example", "Approve as ann@lab.example"))
    html = {"Accept": "text/html"}
    form = {"user_code": code, "account": "bob@corp.example"}
    assert box.web.post("/_identity/approve", data=form, headers=html).status_code == HTTPStatus.SEE_OTHER
    again = box.web.post("/_identity/approve", data=form, headers=html)
    assert (again.status_code, "There is no code" in again.text) == (400, True)


def test_what_is_known_stays(tmp_path: Path) -> None:
    """The next process over the same folder has the same keys and levers."""
    seen: list[object] = []
    for turn in range(2):
        with identity(tmp_path) as box, box.https() as web:
            if turn == 0:
                box.pull("keys")
            keys = web.get(f"/{TENANT_A}/discovery/v2.0/keys").json()["keys"]
            seen.append((keys[0]["n"], box.known["levers"]))
    assert seen[0] == seen[1]
