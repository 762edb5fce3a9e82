"""Automation: the account, its runbook with draft and published text, and its webhooks.

A webhook's URI is its own credential, and is answered once.
"""

import secrets
from urllib.parse import parse_qs, urlsplit

from orrery.sandbox.cloud.jobs import minutes_this_month, new_job
from orrery.sandbox.cloud.resources import (
    Cloud,
    Moment,
    bad_request,
    not_found,
    part,
    seconds_of,
    timestamp,
)
from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document

_ACCOUNT = "Microsoft.Automation/automationAccounts"
_KEPT = ("description", "logVerbose", "logProgress", "logActivityTrace", "runtimeEnvironment")

FREE_MINUTES = 500
"""Minutes of jobs that a month is given (spec 3, Limits)."""


def put_account(cloud: Cloud, resource_id: str, given: Document) -> tuple[int, Document]:
    """Create an account, or change it."""
    known = cloud.find(resource_id)
    now = timestamp(cloud.now().at)
    properties: Document = {
        "sku": {"name": (part(part(given, "properties"), "sku") or {"name": "Basic"})["name"]},
        "state": "Ok",
        "creationTime": known["body"]["properties"]["creationTime"] if known else now,
        "lastModifiedTime": now,
    }
    attached = {"identity": _attached(cloud, given["identity"])} if given.get("identity") else {}
    return cloud.stored(resource_id, _ACCOUNT, given | attached, properties)


def patch_account(cloud: Cloud, resource_id: str, given: Document) -> tuple[int, Document]:
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
    return 200, cloud.put(known)["body"]


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
    minutes = minutes_this_month(cloud)
    return [
        {"id": f"{account_id}/usages/{name}", "currentValue": minutes, "throttleStatus": "NotThrottled"} | used
    ]


def put_runbook(cloud: Cloud, resource_id: str, given: Document) -> tuple[int, Document]:
    """Create a runbook, new and without a text, or change it."""
    known = cloud.find(resource_id)
    account = cloud.require(resource_id.rsplit("/", 2)[0])["body"]
    asked, now = part(given, "properties"), timestamp(cloud.now().at)
    before: Document = known["body"]["properties"] if known else {"state": "New", "creationTime": now}
    kept = {key: asked[key] for key in _KEPT if key in asked}
    changed = {"runbookType": asked.get("runbookType"), "lastModifiedTime": now, "provisioningState": "Succeeded"}
    texts = {name: known[name] if known else None for name in ("draft", "content")}
    place = {"location": account["location"]} | given
    return cloud.stored(resource_id, f"{_ACCOUNT}/runbooks", place, before | kept | changed, **texts)


def replace_draft(cloud: Cloud, resource_id: str, text: str) -> None:
    """Give the runbook a draft; what is published runs on."""
    runbook = cloud.require(resource_id)
    runbook["draft"] = text
    runbook["body"]["properties"]["state"] = "New" if runbook["content"] is None else "Edit"
    _ = cloud.put(runbook)


def publish(cloud: Cloud, resource_id: str) -> None:
    """Let the draft be what runs."""
    runbook = cloud.require(resource_id)
    runbook["content"], runbook["draft"] = runbook["draft"], None
    runbook["body"]["properties"]["state"] = "Published"
    runbook["body"]["properties"]["lastModifiedTime"] = timestamp(cloud.now().at)
    _ = cloud.put(runbook)


WEBHOOK_PATH = "/webhooks"
_URIS = "webhook uris"


def generate_uri(cloud: Cloud, account_id: str) -> str:
    """Return a URI that one webhook of the account may have."""
    _ = cloud.require(account_id)
    token = secrets.token_urlsafe(32)
    _keep(cloud, token, {"account": account_id, "webhook": None})
    return f"{cloud.config.url}{WEBHOOK_PATH}?token={token}"


def put_webhook(cloud: Cloud, resource_id: str, given: Document) -> tuple[int, Document]:
    """Create a webhook, or enable, disable or redirect it: neither its URI nor its expiry can be changed."""
    known = cloud.find(resource_id)
    asked = part(given, "properties")
    if known is None:
        return 201, _created(cloud, resource_id, asked)
    if asked.get("uri") and token_of(str(asked["uri"])) != known["token"]:
        raise bad_request("Property 'uri' cannot be updated.")
    return patch_webhook(cloud, resource_id, given)


def _created(cloud: Cloud, resource_id: str, asked: Document) -> Document:
    account_id = resource_id.rsplit("/", 2)[0]
    runbook = str(part(asked, "runbook").get("name", ""))
    _ = cloud.require(f"{account_id}/runbooks/{runbook}")
    expires = seconds_of(str(asked.get("expiryTime", "")))
    uri = str(asked.get("uri") or generate_uri(cloud, account_id))
    token = token_of(uri)
    if _uris(cloud).get(token) != {"account": account_id, "webhook": None}:
        raise bad_request(
            "The property uri is no URI that was generated for this account, or belongs to a webhook."
        )
    _keep(cloud, token, {"account": account_id, "webhook": resource_id})
    now = timestamp(cloud.now().at)
    properties = {
        "isEnabled": bool(asked.get("isEnabled", False)),
        "uri": "",
        "expiryTime": timestamp(expires),
        "lastInvokedTime": None,
        "parameters": part(asked, "parameters"),
        "runbook": {"name": runbook},
        "runOn": asked.get("runOn") or "",
        "creationTime": now,
        "lastModifiedTime": now,
    }
    kind = "Microsoft.Automation/automationAccounts/webhooks"
    body = {"id": resource_id, "name": resource_id.rpartition("/")[2], "type": kind, "properties": properties}
    _ = cloud.put({"body": body, "token": token})
    return body | {"properties": properties | {"uri": uri}}


def patch_webhook(cloud: Cloud, resource_id: str, given: Document) -> tuple[int, Document]:
    """Change what may be changed; what else is given has no effect."""
    webhook = cloud.require(resource_id)
    properties: Document = webhook["body"]["properties"]
    asked = part(given, "properties")
    properties |= {key: asked[key] for key in ("isEnabled", "parameters", "runOn") if asked.get(key) is not None}
    if name := part(asked, "runbook").get("name"):
        properties["runbook"] = {"name": name}
    properties["lastModifiedTime"] = timestamp(cloud.now().at)
    return 200, cloud.put(webhook)["body"]


def expire_webhooks(cloud: Cloud) -> None:
    """Let every webhook expire at this moment, as a year does."""
    for webhook in cloud.below(cloud.config.group_id, "Microsoft.Automation/automationAccounts/webhooks"):
        webhook["body"]["properties"]["expiryTime"] = timestamp(cloud.now().at)
        _ = cloud.put(webhook)


def call_webhook(
    cloud: Cloud, moment: Moment, token: str, body: str, headers: dict[str, str]
) -> tuple[int, Document]:
    """Take a POST to the URI with that token: 202 with the ids of the jobs, 400 or 404; return status and body."""
    try:
        status, answer = 202, {"JobIds": [_called(cloud, moment, token, body, headers)]}
    except Refusal as refusal:
        status, answer = refusal.status, refusal.body
    cloud.record("webhook", moment, status=status, jobs=answer.get("JobIds", []))
    return status, answer


def _called(cloud: Cloud, moment: Moment, token: str, body: str, headers: dict[str, str]) -> str:
    known = _uris(cloud).get(token)
    if known is None:
        raise bad_request("The token is invalid.")
    webhook = cloud.find(known["webhook"]) if known["webhook"] else None
    if webhook is None or webhook["token"] != token:
        raise not_found(known["webhook"] or f"{known['account']}/webhooks")
    properties: Document = webhook["body"]["properties"]
    if not properties["isEnabled"]:
        raise bad_request("The webhook is disabled.")
    if seconds_of(properties["expiryTime"]) <= moment.at:
        raise bad_request("The webhook has expired.")
    properties["lastInvokedTime"] = timestamp(moment.at)
    _ = cloud.put(webhook)
    return new_job(cloud, moment, webhook["body"], body, headers)


def token_of(uri: str) -> str:
    return parse_qs(urlsplit(uri).query).get("token", [""])[0]


def _uris(cloud: Cloud) -> dict[str, Document]:
    return cloud.value(_URIS)


def _keep(cloud: Cloud, token: str, use: Document) -> None:
    cloud.set_value(_URIS, **_uris(cloud) | {token: use})
