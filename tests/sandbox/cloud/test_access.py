"""Who may do what: tokens, identities, and the one role that brings the machine back."""

from uuid import uuid4

import pytest
from azure.core.exceptions import HttpResponseError

from tests.sandbox.cloud.official import IDENTITY, Official, code_of


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
