"""Who may do what: tokens, identities, and the one role that brings the machine back."""

from uuid import uuid4

import httpx2
import pytest
from azure.core.exceptions import HttpResponseError
from azure.identity import CredentialUnavailableError, ManagedIdentityCredential

from orrery.sandbox.cloud.resources import TOKEN_PATH
from tests.sandbox.cloud.official import IDENTITY, Official, code_of
from tests.support.cloud import SCOPE

WORD = "Bearer"


def asked(cloud: Official, authorization: str, path: str = "") -> httpx2.Response:
    """Read the machine with an Authorization header of one's own."""
    version = {"api-version": "2026-04-01"}
    with cloud.box.https() as web:
        return web.get(
            path or cloud.box.config.machine_id, params=version, headers={"Authorization": authorization}
        )


def code(answer: httpx2.Response) -> tuple[int, str]:
    """Return the status and the code of a refusal."""
    return answer.status_code, answer.json()["error"]["code"]


def test_a_token_is_needed(cloud: Official) -> None:
    """Without one, with an invented one, or with one for another audience: 401, each with its reason."""
    environment = cloud.box.identity_env
    header = {"X-IDENTITY-HEADER": environment["IDENTITY_HEADER"]}
    query = {"resource": "https://vault.azure.net", "api-version": "2019-08-01"}
    other = cloud.box.web.get(TOKEN_PATH, params=query, headers=header).json()["access_token"]
    assert code(asked(cloud, "")) == (401, "AuthenticationFailed")
    assert code(asked(cloud, f"{WORD} invented")) == (401, "InvalidAuthenticationToken")
    assert code(asked(cloud, f"{WORD} {other}")) == (401, "InvalidAuthenticationTokenAudience")


@pytest.mark.usefixtures("cloud")
def test_the_token_endpoint_wants_its_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """With another secret in the environment no token is given."""
    monkeypatch.setenv("IDENTITY_HEADER", "wrong")
    with pytest.raises(CredentialUnavailableError):
        ManagedIdentityCredential().get_token(SCOPE)


def test_a_role_is_assigned_once(cloud: Official) -> None:
    """The same again is no error; under another name it exists; a name that is no GUID is refused."""
    principal = cloud.identities.get(cloud.group, IDENTITY).principal_id
    first = cloud.put_role(principal)
    assert cloud.put_role(principal).id == first.id
    with pytest.raises(HttpResponseError) as second:
        cloud.put_role(principal, str(uuid4()))
    with pytest.raises(HttpResponseError) as word:
        cloud.put_role(principal, "restarter")
    assert code_of(second) == (409, "RoleAssignmentExists")
    assert code_of(word) == (400, "InvalidRoleAssignmentId")


def test_a_principal_that_is_seconds_old(cloud: Official) -> None:
    """It is not found yet unless the caller names its kind; one that was never created is not found at all."""
    fresh = cloud.put_identity("fresh")
    for principal, kind in ((fresh.principal_id, None), (str(uuid4()), "ServicePrincipal")):
        with pytest.raises(HttpResponseError) as missing:
            cloud.put_role(principal, kind=kind)
        assert code_of(missing) == (400, "PrincipalNotFound")
    assert cloud.put_role(fresh.principal_id).principal_id == fresh.principal_id
    cloud.identities.delete(cloud.group, "fresh")
    assert fresh.principal_id in {one.principal_id for one in cloud.roles.list_for_subscription()}


def test_assignments_are_found_by_principal(cloud: Official) -> None:
    """Over the subscription, by both filters that the vendor has."""
    principal = cloud.identities.get(cloud.group, IDENTITY).principal_id
    for wanted in (f"principalId eq '{principal}'", f"assignedTo('{principal}')"):
        [found] = cloud.roles.list_for_subscription(filter=wanted)
        assert (found.principal_id, found.scope) == (principal, cloud.box.config.machine_id)
