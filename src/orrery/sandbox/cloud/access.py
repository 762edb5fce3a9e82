"""Who may do what: managed identities, role assignments, access tokens."""

import re
import secrets
from collections.abc import Mapping

from orrery.sandbox.cloud.resources import (
    IDENTITY_HEADER,
    TENANT,
    Cloud,
    arm_error,
    bad_request,
    contains,
    new_guid,
    normal,
    part,
    timestamp,
)
from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document

MACHINE_CONTRIBUTOR = "9980e02c-c2be-4d73-94e8-173b1dc7cf3c"
"""The built-in role that may start and stop machines (facts/gateway.md, Cloud)."""

_MAY_START = frozenset(
    {MACHINE_CONTRIBUTOR, "8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "b24988ac-6180-42a0-ab88-20f7382dd24c"}
)
"""That role, and the built-in Owner and Contributor."""

TOKEN_SECONDS = 24 * 3600
"""How long a managed identity's token lasts."""

_IDENTITY = "Microsoft.ManagedIdentity/userAssignedIdentities"
_ROLE = "Microsoft.Authorization/roleAssignments"
_REPLICATED_AFTER = 30.0
_AUDIENCES = frozenset({"https://management.azure.com", "https://management.core.windows.net"})
_PRINCIPAL = re.compile(r"assignedTo\('([^']*)'\)")


def put_identity(cloud: Cloud, resource_id: str, given: Document) -> tuple[int, Document]:
    """Create an identity, or change its tags; return the status and the body."""
    known = cloud.find(resource_id)
    ids = {"tenantId": TENANT, "principalId": new_guid(), "clientId": new_guid()}
    properties = known["body"]["properties"] if known else ids
    created = known["created"] if known else cloud.now().at
    return cloud.stored(resource_id, _IDENTITY, given, properties, created=created)


def identities(cloud: Cloud) -> list[Document]:
    return list(cloud.below(cloud.config.group_id, _IDENTITY))


def put_assignment(cloud: Cloud, scope: str, name: str, given: Document) -> Document:
    """Assign a role; raise `Refusal` for a second assignment of the same."""
    asked = part(given, "properties")
    role, principal = str(asked.get("roleDefinitionId", "")), str(asked.get("principalId", ""))
    if asked.get("principalType") != "Group":  # a group has no directory here, and each identity is in it
        _check_principal(cloud, principal, asked.get("principalType"))
    place = f"{scope}/providers/{_ROLE}/{name}"
    granted = (normal(scope), principal, role.rpartition("/")[2].lower())
    known = cloud.find(place)
    if known is None and granted in [_grants(one) for one in assignments(cloud)]:
        raise arm_error(409, "RoleAssignmentExists", "The role assignment already exists.")
    at = timestamp(cloud.now().at)
    shown = {"principalType": "ServicePrincipal", **asked, "scope": scope, "createdOn": at, "updatedOn": at}
    body = {"id": place, "name": name, "type": _ROLE, "properties": shown}
    return known["body"] if known else cloud.put({"body": body})["body"]


def _check_principal(cloud: Cloud, principal: str, kind: object) -> None:
    found = [one for one in identities(cloud) if one["body"]["properties"]["principalId"] == principal]
    fresh = found and cloud.now().at - found[0]["created"] < _REPLICATED_AFTER
    if not found or (fresh and kind is None):
        raise bad_request(
            f"Principal {principal} does not exist in the directory {TENANT}. If you are creating this principal "
            "and then immediately assigning a role, this error might be related to a replication delay. In this "
            "case, set the role assignment principalType property to a value, such as ServicePrincipal.",
            "PrincipalNotFound",
        )


def assignments(cloud: Cloud, scope: str = "", wanted: str = "") -> list[Document]:
    """Return the role assignments at, above and below a scope, those of one principal if the filter names it."""
    named = _PRINCIPAL.search(wanted)
    found = [one["body"] for one in cloud.below("/subscriptions", _ROLE)]
    places = [(one["properties"]["scope"], one) for one in found]
    here = [one for at, one in places if not scope or contains(scope, at) or contains(at, scope)]
    return [one for one in here if named is None or _is_of(one, named[1])]


def _is_of(assignment: Document, principal: str) -> bool:
    """Return whether a principal has an assignment by itself, or by a group."""
    properties = assignment["properties"]
    return principal == properties["principalId"] or properties["principalType"] == "Group"


def may_start(cloud: Cloud, principal: str) -> bool:
    """Return whether a principal may look at the machine and start it."""
    granted = [_grants(one) for one in assignments(cloud) if _is_of(one, principal)]
    return any(role in _MAY_START and contains(scope, cloud.config.machine_id) for scope, _, role in granted)


def _grants(assignment: Document) -> tuple[str, str, str]:
    properties = assignment["properties"]
    role = properties["roleDefinitionId"].rpartition("/")[2]
    return normal(properties["scope"]), properties["principalId"], role.lower()


class AccessTokens:
    """Access tokens, which live in memory.

    They end by a fault only: a client counts their seconds by its own clock, which no lever moves.
    """

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._issued: dict[str, str] = {}

    def issue(self, header: str, query: Mapping[str, str]) -> Document:
        """Answer a managed identity as App Service does; raise `Refusal`."""
        if header != IDENTITY_HEADER:
            raise Refusal(
                400, {"statusCode": 400, "message": "The header X-IDENTITY-HEADER is missing, or wrong."}
            )
        resource, token = query.get("resource", ""), f"sandbox-{secrets.token_urlsafe(24)}"
        self._issued[token] = resource.rstrip("/")
        return {
            "access_token": token,
            "expires_on": str(int(self._cloud.now().at + TOKEN_SECONDS)),
            "resource": resource,
            "token_type": "Bearer",
            "client_id": query.get("client_id", ""),
        }

    def check(self, authorization: str) -> None:
        """Return if the header has a token that is good; raise `Refusal`."""
        token = authorization.removeprefix("Bearer ")
        if self._issued.get(token) not in _AUDIENCES | {self._cloud.config.url}:
            raise unauthorized("InvalidAuthenticationToken", "The access token is invalid.")


def expired(at: float) -> Refusal:
    return unauthorized("ExpiredAuthenticationToken", f"The access token expired at '{timestamp(at)}'.")


def unauthorized(code: str, message: str) -> Refusal:
    challenge = f'Bearer authorization="https://login.microsoftonline.com/{TENANT}", error="invalid_token"'
    return arm_error(401, code, message, {"WWW-Authenticate": challenge})
