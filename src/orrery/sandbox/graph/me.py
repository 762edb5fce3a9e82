"""The person who is signed in."""

from orrery.sandbox.graph.call import Call
from orrery.sandbox.identity.config import GRAPH
from orrery.sandbox.state import Document

ALIAS = "also."
"""What stands ahead of an account's address in its second one."""


def me(call: Call) -> Document:
    """Return who a token is."""
    account, tenant = call.issued.account, call.issued.tenant
    return {
        "@odata.context": f"{GRAPH}/v1.0/$metadata#users/$entity",
        "displayName": account.name,
        "mail": account.username,
        "preferredLanguage": None,
        "userPrincipalName": account.upn(tenant),
        "id": account.object_ids[tenant],
        "proxyAddresses": [f"SMTP:{account.username}", f"smtp:{ALIAS}{account.username}"],
    }
