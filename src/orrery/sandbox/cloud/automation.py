"""Automation: the account, its runbook with draft and published text, and how long its jobs ran."""

from orrery.sandbox.cloud.arm import ArmError, bad_request, not_found, part, timestamp
from orrery.sandbox.cloud.jobs import minutes_this_month
from orrery.sandbox.cloud.world import Cloud
from orrery.sandbox.state import Document

_ACCOUNT = "Microsoft.Automation/automationAccounts"
_TYPES = frozenset(
    {
        "Script",
        "Graph",
        "PowerShellWorkflow",
        "PowerShell",
        "GraphPowerShellWorkflow",
        "GraphPowerShell",
        "Python2",
        "Python3",
        "Python",
        "PowerShell72",
    }
)
_KEPT = ("description", "logVerbose", "logProgress", "logActivityTrace", "runtimeEnvironment")

FREE_MINUTES = 500
"""Minutes of jobs that a month is given (spec 3, Limits)."""


def put_account(cloud: Cloud, resource_id: str, given: Document) -> tuple[int, Document]:
    """Create an account, or change it."""
    known = cloud.find(resource_id)
    sku = part(part(given, "properties"), "sku") or {"name": "Basic"}
    if sku.get("name") not in {"Basic", "Free"}:
        raise bad_request("The property sku.name is one of Basic, Free.")
    now = timestamp(cloud.now().at)
    created = known["body"]["properties"]["creationTime"] if known else now
    identity = {"identity": _attached(cloud, given["identity"])} if given.get("identity") else {}
    body = {
        "id": resource_id,
        "name": resource_id.rpartition("/")[2],
        "type": _ACCOUNT,
        "location": given.get("location", cloud.config.location),
        "tags": part(given, "tags"),
        **identity,
        "properties": {
            "sku": {"name": sku["name"]},
            "state": "Ok",
            "creationTime": created,
            "lastModifiedTime": now,
        },
    }
    return 200 if known else 201, cloud.put({"body": body})["body"]


def patch_account(cloud: Cloud, resource_id: str, given: Document) -> Document:
    """Change what is given: identities are added, and what is not named stays."""
    known = cloud.require(resource_id)
    body = known["body"]
    if asked := part(given, "identity"):
        before = part(part(body, "identity"), "userAssignedIdentities")
        added = _attached(cloud, asked)
        body["identity"] = added | {"userAssignedIdentities": before | added["userAssignedIdentities"]}
    body["properties"] |= {"lastModifiedTime": timestamp(cloud.now().at)}
    if sku := part(part(given, "properties"), "sku").get("name"):
        body["properties"]["sku"] = {"name": sku}
    if "tags" in given:
        body["tags"] = part(given, "tags")
    return cloud.put(known)["body"]


def _attached(cloud: Cloud, given: Document) -> Document:
    found: Document = {}
    for resource_id in part(given, "userAssignedIdentities"):
        ids = cloud.require(resource_id)["body"]["properties"]
        found[resource_id] = {"principalId": ids["principalId"], "clientId": ids["clientId"]}
    return {"type": given.get("type", "UserAssigned"), "userAssignedIdentities": found}


def usages(cloud: Cloud, account_id: str) -> list[Document]:
    """Return how many minutes the account's jobs ran in this month."""
    _ = cloud.require(account_id)
    name = "AccountUsage"
    used = {"name": {"value": name, "localizedValue": name}, "unit": "Minute", "limit": FREE_MINUTES}
    minutes = minutes_this_month(cloud, account_id)
    return [
        {"id": f"{account_id}/usages/{name}", "currentValue": minutes, "throttleStatus": "NotThrottled"} | used
    ]


def put_runbook(cloud: Cloud, resource_id: str, given: Document) -> tuple[int, Document]:
    """Create a runbook, new and without a text, or change it."""
    known = cloud.find(resource_id)
    account = cloud.require(resource_id.rsplit("/", 2)[0])["body"]
    asked = part(given, "properties")
    kind = asked.get("runbookType")
    if kind not in _TYPES:
        raise bad_request(f"The property runbookType is one of {', '.join(sorted(_TYPES))}.")
    if known and known["body"]["properties"]["runbookType"] != kind:
        raise bad_request("The type of a runbook cannot be changed.")
    now = timestamp(cloud.now().at)
    before: Document = known["body"]["properties"] if known else {"state": "New", "creationTime": now}
    properties = before | {key: asked[key] for key in _KEPT if key in asked}
    properties |= {"runbookType": kind, "lastModifiedTime": now, "provisioningState": "Succeeded"}
    body = {
        "id": resource_id,
        "name": resource_id.rpartition("/")[2],
        "type": f"{_ACCOUNT}/runbooks",
        "location": given.get("location", account["location"]),
        "tags": part(given, "tags"),
        "properties": properties
        | {"runbookType": kind, "lastModifiedTime": now, "provisioningState": "Succeeded"},
    }
    texts = {name: known[name] if known else None for name in ("draft", "content")}
    return 200 if known else 201, cloud.put({"body": body, **texts})["body"]


def replace_draft(cloud: Cloud, resource_id: str, text: str) -> None:
    """Give the runbook a draft; what is published runs on."""
    runbook = cloud.require(resource_id)
    runbook["draft"] = text
    runbook["body"]["properties"]["state"] = "New" if runbook["content"] is None else "Edit"
    _ = cloud.put(runbook)


def publish(cloud: Cloud, resource_id: str) -> None:
    """Let the draft be what runs."""
    runbook = cloud.require(resource_id)
    if runbook["draft"] is None:
        raise ArmError(400, "BadRequest", "The runbook has no draft.")
    runbook["content"], runbook["draft"] = runbook["draft"], None
    runbook["body"]["properties"]["state"] = "Published"
    runbook["body"]["properties"]["lastModifiedTime"] = timestamp(cloud.now().at)
    _ = cloud.put(runbook)


def undo_edit(cloud: Cloud, resource_id: str) -> Document:
    """Drop the draft."""
    runbook = cloud.require(resource_id)
    if runbook["content"] is None:
        raise bad_request("The runbook was never published.")
    runbook["draft"] = None
    runbook["body"]["properties"]["state"] = "Published"
    _ = cloud.put(runbook)
    return {"statusCode": "OK"}


def text_of(cloud: Cloud, resource_id: str, which: str) -> str:
    """Return the text of the `draft` or the published `content`; there may be none, which is not found."""
    text = cloud.require(resource_id)[which]
    if text is None:
        raise not_found(f"{resource_id}/{which}")
    return text
