"""Who may do what: tokens, identities, and the one role that brings the machine back."""

from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid4, uuid5

import httpx2
import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from azure.identity import CredentialUnavailableError, ManagedIdentityCredential
from azure.mgmt.compute import ComputeManagementClient

from orrery.sandbox.cloud.resources import TOKEN_PATH
from tests.sandbox.cloud.official import ACCOUNT, IDENTITY, Official, code_of, operating
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
    """Without one, with an invented one, or with one for another audience: 401, and each says why."""
    environment = cloud.box.identity_env
    header = {"X-IDENTITY-HEADER": environment["IDENTITY_HEADER"]}
    query = {"resource": "https://vault.azure.net", "api-version": "2019-08-01"}
    other = cloud.box.web.get(TOKEN_PATH, params=query, headers=header).json()["access_token"]
    assert code(asked(cloud, "")) == (401, "AuthenticationFailed")
    assert code(asked(cloud, f"{WORD} invented")) == (401, "InvalidAuthenticationToken")
    assert code(asked(cloud, f"{WORD} {other}")) == (401, "InvalidAuthenticationTokenAudience")


def test_an_expired_token(tmp_path: Path) -> None:
    """The library raises what the product has to tell from a missing right."""
    with operating(tmp_path) as cloud:
        cloud.put_identity()
        cloud.box.pull("expire_tokens")
        with pytest.raises(ClientAuthenticationError) as expired:
            cloud.put_identity()
    assert code_of(expired) == (401, "ExpiredAuthenticationToken")


@pytest.mark.usefixtures("cloud")
def test_the_token_endpoint_wants_its_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """With another secret in the environment, or an identity that there is not, no token is given."""
    with pytest.raises(CredentialUnavailableError):
        ManagedIdentityCredential(client_id=str(uuid4())).get_token(SCOPE)
    monkeypatch.setenv("IDENTITY_HEADER", "wrong")
    with pytest.raises(CredentialUnavailableError):
        ManagedIdentityCredential().get_token(SCOPE)


def test_an_identity_may_do_what_its_role_allows(cloud: Official) -> None:
    """The restarter's own token starts the machine, and may not read the account; without its role, nothing."""
    identity = cloud.identities.get(cloud.group, IDENTITY)
    own: Any = ManagedIdentityCredential(client_id=identity.client_id)
    token = f"{WORD} {own.get_token(SCOPE).token}"
    account = cloud.automation.automation_account.get(cloud.group, ACCOUNT).id
    assert asked(cloud, token).status_code == 200
    assert code(asked(cloud, token, account)) == (403, "AuthorizationFailed")
    role = str(uuid5(NAMESPACE_URL, cloud.box.config.machine_id + identity.principal_id))
    cloud.roles.delete(cloud.box.config.machine_id, role)
    assert code(asked(cloud, token)) == (403, "AuthorizationFailed")
    cloud.put_role(identity.principal_id)


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
    """It is not found yet unless the caller says what it is; one that was never created is not found at all."""
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


def test_resource_ids_have_no_capitals(cloud: Official) -> None:
    """What was put under one spelling is found under another, and keeps the first."""
    found = cloud.identities.get(cloud.group.upper(), IDENTITY.upper())
    assert found.name == IDENTITY


def test_its_own_authority_signs(cloud: Official) -> None:
    """A client that does not trust the sandbox's authority is refused by its own library, and nothing is asked."""
    stranger = cloud.client(ComputeManagementClient, connection_verify=True)
    with pytest.raises(Exception, match="CERTIFICATE_VERIFY_FAILED"):
        stranger.virtual_machines.get(cloud.group, cloud.box.config.machine)
