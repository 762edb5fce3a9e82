"""Webhooks of automation: a URI that is its own credential, and is answered once."""

import secrets
from urllib.parse import parse_qs, urlsplit

from orrery.sandbox.cloud.arm import ArmError, bad_request, not_found, part, seconds_of, timestamp
from orrery.sandbox.cloud.jobs import new_job
from orrery.sandbox.cloud.world import Cloud, Moment
from orrery.sandbox.state import Document

PATH = "/webhooks"
_URIS = "webhook uris"


def generate_uri(cloud: Cloud, account_id: str) -> str:
    """Return a URI that one webhook of the account may have."""
    _ = cloud.require(account_id)
    token = secrets.token_urlsafe(32)
    _keep(cloud, token, {"account": account_id, "webhook": None})
    return f"{cloud.config.url}{PATH}?token={token}"


def put_webhook(cloud: Cloud, resource_id: str, given: Document) -> tuple[int, Document]:
    """Create a webhook, or enable, disable or point it anew: neither its URI nor its expiry can be changed."""
    known = cloud.find(resource_id)
    asked = part(given, "properties")
    if known is None:
        return 201, _created(cloud, resource_id, asked)
    if asked.get("uri") and _token(str(asked["uri"])) != known["token"]:
        raise bad_request("Property 'uri' cannot be updated.")
    return 200, patch_webhook(cloud, resource_id, given)


def _created(cloud: Cloud, resource_id: str, asked: Document) -> Document:
    account_id = resource_id.rsplit("/", 2)[0]
    runbook = str(part(asked, "runbook").get("name", ""))
    _ = cloud.require(f"{account_id}/runbooks/{runbook}")
    expires = seconds_of(str(asked.get("expiryTime", "")))
    if expires <= cloud.now().at:
        raise bad_request("The expiryTime is in the past.")
    uri = str(asked.get("uri") or generate_uri(cloud, account_id))
    token = _token(uri)
    if _uris(cloud).get(token, {}).get("account") != account_id:
        raise bad_request("The property uri is no URI that was generated for this account.")
    if _uris(cloud)[token]["webhook"] is not None:
        raise ArmError(409, "Conflict", "The property uri belongs to a webhook.")
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


def patch_webhook(cloud: Cloud, resource_id: str, given: Document) -> Document:
    """Change what may be changed; what else is given has no effect."""
    webhook = cloud.require(resource_id)
    properties: Document = webhook["body"]["properties"]
    asked = part(given, "properties")
    properties |= {key: asked[key] for key in ("isEnabled", "parameters", "runOn") if asked.get(key) is not None}
    if name := part(asked, "runbook").get("name"):
        properties["runbook"] = {"name": name}
    properties["lastModifiedTime"] = timestamp(cloud.now().at)
    return cloud.put(webhook)["body"]


def expire_webhooks(cloud: Cloud) -> None:
    """Let every webhook expire at this moment, as a year does."""
    for webhook in cloud.below(cloud.config.group_id, "Microsoft.Automation/automationAccounts/webhooks"):
        webhook["body"]["properties"]["expiryTime"] = timestamp(cloud.now().at)
        _ = cloud.put(webhook)


def call(cloud: Cloud, moment: Moment, uri: str, body: str, headers: dict[str, str]) -> tuple[int, Document]:
    """Take a POST to a webhook's URI: 202 with the ids of the jobs, or 400, or 404; return status and body."""
    try:
        status, answer = 202, {"JobIds": [_called(cloud, moment, _token(uri), body, headers)]}
    except ArmError as refusal:
        status, answer = refusal.status, refusal.body()
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


def _token(uri: str) -> str:
    return parse_qs(urlsplit(uri).query).get("token", [""])[0]


def _uris(cloud: Cloud) -> dict[str, Document]:
    return cloud.value(_URIS)


def _keep(cloud: Cloud, token: str, use: Document) -> None:
    cloud.set_value(_URIS, **_uris(cloud) | {token: use})
