"""What the management API can be asked: each operation with its path, and what it does."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from orrery.sandbox.cloud import access, alerts, automation, jobs, machine
from orrery.sandbox.cloud.automation import generate_uri, patch_webhook, put_webhook
from orrery.sandbox.cloud.machine import listed_events
from orrery.sandbox.cloud.resources import Cloud, bad_request, new_guid, not_found
from orrery.sandbox.ground import Document

_GROUP = "/subscriptions/{subscription}/resourceGroups/{group}/providers"
_ACCOUNT = f"{_GROUP}/Microsoft.Automation/automationAccounts/{{account}}"
_RUNBOOK = f"{_ACCOUNT}/runbooks/{{runbook}}"
_WEBHOOK = f"{_ACCOUNT}/webhooks/{{webhook}}"
_JOB = f"{_ACCOUNT}/jobs/{{job}}"
_MACHINE = f"{_GROUP}/Microsoft.Compute/virtualMachines/{{machine}}"
_PAGE = 100


@dataclass(frozen=True, slots=True)
class ArmRequest:
    """One request: the ids in its path, the query, the JSON or the text of the body, and the headers."""

    path: str
    ids: Mapping[str, str]
    query: Mapping[str, str]
    document: Document
    text: str
    headers: Mapping[str, str]

    def upto(self, words: int) -> str:
        """Return the path without that many words at its end."""
        return self.path.rsplit("/", words)[0]


@dataclass(frozen=True, slots=True)
class ArmAnswer:
    """A status, a body (JSON, or text of `kind`), and headers."""

    status: int
    body: Document | str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    kind: str = "text/plain"


Run = Callable[[Cloud, ArmRequest], ArmAnswer]


@dataclass(frozen=True, slots=True)
class ArmOperation:
    """One operation. `name` is that by which faults name it, behind the method."""

    method: str
    name: str
    template: str
    run: Run

    def ids(self, path: str) -> dict[str, str] | None:
        """Return the words of the path that the template leaves open, or None for another path."""
        pattern = re.sub(r"\\\{(\w+)\\\}", _group, re.escape(self.template))
        found = re.fullmatch(pattern, path, re.IGNORECASE)
        return found.groupdict() if found else None


def _group(match: re.Match[str]) -> str:
    return f"(?P<{match[1]}>/.+)" if match[1] == "scope" else f"(?P<{match[1]}>[^/]+)"


def _pair(found: tuple[int, Document]) -> ArmAnswer:
    return ArmAnswer(*found)


def _body(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    return ArmAnswer(200, cloud.require(asked.path)["body"])


def _delete(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    return ArmAnswer(200 if cloud.remove(asked.path) else 204)


def _delete_webhook(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    if not cloud.remove(asked.path):
        raise not_found(asked.path)
    return ArmAnswer(200)


def _delete_runbook(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    """Delete a runbook with the webhooks that start it."""
    for webhook in cloud.below(f"{asked.upto(2)}/webhooks"):
        if webhook["body"]["properties"]["runbook"]["name"].lower() == asked.ids["runbook"].lower():
            _ = cloud.remove(webhook["body"]["id"])
    return _delete(cloud, asked)


def _list(values: list[Document]) -> ArmAnswer:
    return ArmAnswer(200, {"value": values})


def _parts_of_account(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    _ = cloud.require(asked.upto(1))
    return _list([one["body"] for one in cloud.below(asked.path)])


def _script(cloud: Cloud, runbook_id: str, which: str) -> ArmAnswer:
    return ArmAnswer(200, automation.text_of(cloud, runbook_id, which), kind="text/powershell")


def _replace_draft(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    automation.replace_draft(cloud, asked.upto(2), asked.text)
    return _accepted(cloud, "Microsoft.Automation", "draft")


def _publish(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    automation.publish(cloud, asked.upto(1))
    return _accepted(cloud, "Microsoft.Automation", "publish")


def _start(cloud: Cloud, _: ArmRequest) -> ArmAnswer:
    machine.start(cloud, cloud.now(), "operator")
    return _accepted(cloud, "Microsoft.Compute", "start")


def _accepted(cloud: Cloud, provider: str, what: str) -> ArmAnswer:
    config = cloud.config
    place = f"{config.url}/subscriptions/{config.subscription}/providers/{provider}/locations/{config.location}"
    number = f"{what}-{new_guid()}?api-version=2024-10-23"
    headers = {"Azure-AsyncOperation": f"{place}/operations/{number}", "x-ms-retry-after-ms": "100"}
    return ArmAnswer(202, None, headers | {"Location": f"{place}/operationResults/{number}"})


def _is_under_way(cloud: Cloud, asked: ArmRequest) -> bool:
    return asked.ids["operation"].startswith("start-") and machine.state_of(cloud)["power"] == "starting"


def _operation_status(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    status = "InProgress" if _is_under_way(cloud, asked) else "Succeeded"
    return ArmAnswer(200, {"name": asked.ids["operation"], "status": status})


def _operation_result(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    return ArmAnswer(202 if _is_under_way(cloud, asked) else 200)


def _machine(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    with_view = asked.query.get("$expand", "").lower() == "instanceview"
    body = machine.machine_body(cloud, with_view=with_view)
    return ArmAnswer(200, body, {"ETag": body["etag"]})


def _retag(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    tags: Any = asked.document.get("tags")
    body = machine.retag(cloud, tags, asked.headers.get("if-match"))
    return ArmAnswer(200, body, {"ETag": body["etag"]})


def _jobs(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    found = jobs.listed(cloud, asked.upto(1))
    if wanted := asked.query.get("$filter"):
        named = re.fullmatch(r"properties/runbook/name eq '([^']*)'", wanted)
        if named is None:
            raise bad_request(f"The filter '{wanted}' is not supported.")
        found = [one for one in found if one["properties"]["runbook"]["name"].lower() == named[1].lower()]
    top, skip = asked.query.get("$top", str(_PAGE)), asked.query.get("$skip", "0")
    if not (top.isdecimal() and skip.isdecimal()):
        raise bad_request("The parameters $top and $skip are whole numbers.")
    page = found[int(skip) : int(skip) + min(int(top), _PAGE)]
    body: Document = {"value": page}
    if len(found) > int(skip) + _PAGE and "$top" not in asked.query:
        more = {"api-version": asked.query["api-version"], "$skip": int(skip) + _PAGE}
        body["nextLink"] = f"{cloud.config.url}{asked.path}?{urlencode(more)}"
    return ArmAnswer(200, body)


def _job(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    return ArmAnswer(200, jobs.find_job(cloud, asked.upto(2), asked.ids["job"])["body"])


def _output(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    return ArmAnswer(200, str(jobs.find_job(cloud, asked.upto(3), asked.ids["job"])["output"]))


def _roles(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    return _list(access.assignments(cloud, asked.ids["scope"], asked.query.get("$filter", "")))


_ROLES = "{scope}/providers/Microsoft.Authorization/roleAssignments"
_INSIGHTS = f"{_GROUP}/Microsoft.Insights"
_IDENTITY = f"{_GROUP}/Microsoft.ManagedIdentity/userAssignedIdentities/{{identity}}"
_POLLED = "/subscriptions/{subscription}/providers/{provider}/locations/{location}"


def _of(kind: str, template: str, put: Run) -> tuple[ArmOperation, ...]:
    """Return the three operations that most resources have."""
    return (
        ArmOperation("PUT", kind, template, put),
        ArmOperation("GET", kind, template, _body),
        ArmOperation("DELETE", kind, template, _delete),
    )


OPERATIONS = (
    *_of("identity", _IDENTITY, lambda cloud, it: _pair(access.put_identity(cloud, it.path, it.document))),
    *_of(
        "role",
        f"{_ROLES}/{{name}}",
        lambda cloud, it: ArmAnswer(
            201, access.put_assignment(cloud, it.ids["scope"], it.ids["name"], it.document)
        ),
    ),
    ArmOperation("GET", "roles", _ROLES, _roles),
    *_of("account", _ACCOUNT, lambda cloud, it: _pair(automation.put_account(cloud, it.path, it.document))),
    ArmOperation(
        "PATCH",
        "account",
        _ACCOUNT,
        lambda cloud, it: ArmAnswer(200, automation.patch_account(cloud, it.path, it.document)),
    ),
    ArmOperation(
        "GET", "usages", f"{_ACCOUNT}/usages", lambda cloud, it: _list(automation.usages(cloud, it.upto(1)))
    ),
    ArmOperation("DELETE", "runbook", _RUNBOOK, _delete_runbook),
    *_of("runbook", _RUNBOOK, lambda cloud, it: _pair(automation.put_runbook(cloud, it.path, it.document))),
    ArmOperation(
        "GET",
        "content",
        f"{_RUNBOOK}/content",
        lambda cloud, it: _script(cloud, it.upto(1), "content"),
    ),
    ArmOperation(
        "GET",
        "draft",
        f"{_RUNBOOK}/draft/content",
        lambda cloud, it: _script(cloud, it.upto(2), "draft"),
    ),
    ArmOperation("PUT", "draft", f"{_RUNBOOK}/draft/content", _replace_draft),
    ArmOperation("POST", "publish", f"{_RUNBOOK}/publish", _publish),
    ArmOperation(
        "POST",
        "uri",
        f"{_ACCOUNT}/webhooks/generateUri",
        lambda cloud, it: ArmAnswer(200, generate_uri(cloud, it.upto(2))),
    ),
    ArmOperation("GET", "runbooks", f"{_ACCOUNT}/runbooks", _parts_of_account),
    ArmOperation("GET", "webhooks", f"{_ACCOUNT}/webhooks", _parts_of_account),
    ArmOperation("DELETE", "webhook", _WEBHOOK, _delete_webhook),
    ArmOperation(
        "PATCH",
        "webhook",
        _WEBHOOK,
        lambda cloud, it: ArmAnswer(200, patch_webhook(cloud, it.path, it.document)),
    ),
    *_of("webhook", _WEBHOOK, lambda cloud, it: _pair(put_webhook(cloud, it.path, it.document))),
    ArmOperation("GET", "jobs", f"{_ACCOUNT}/jobs", _jobs),
    ArmOperation("GET", "job", _JOB, _job),
    ArmOperation("GET", "output", f"{_JOB}/output", _output),
    *_of(
        "group",
        f"{_INSIGHTS}/actionGroups/{{action}}",
        lambda cloud, it: _pair(alerts.put_group(cloud, it.path, it.document)),
    ),
    *_of(
        "alert",
        f"{_INSIGHTS}/activityLogAlerts/{{alert}}",
        lambda cloud, it: _pair(alerts.put_alert(cloud, it.path, it.document)),
    ),
    ArmOperation("GET", "alerts", f"{_INSIGHTS}/activityLogAlerts", lambda cloud, _: _list(alerts.alerts(cloud))),
    ArmOperation(
        "GET",
        "events",
        "/subscriptions/{subscription}/providers/Microsoft.Insights/eventtypes/management/values",
        lambda cloud, it: _list(listed_events(cloud, it.query.get("$filter", ""))),
    ),
    ArmOperation("GET", "machine", _MACHINE, _machine),
    ArmOperation("PATCH", "machine", _MACHINE, _retag),
    ArmOperation(
        "GET",
        "instanceView",
        f"{_MACHINE}/instanceView",
        lambda cloud, _: ArmAnswer(200, machine.instance_view(cloud)),
    ),
    ArmOperation("POST", "start", f"{_MACHINE}/start", _start),
    ArmOperation(
        "GET",
        "health",
        f"{_MACHINE}/providers/Microsoft.ResourceHealth/availabilityStatuses/current",
        lambda cloud, _: ArmAnswer(200, machine.availability(cloud)),
    ),
    ArmOperation("GET", "operation", f"{_POLLED}/operations/{{operation}}", _operation_status),
    ArmOperation("GET", "operation", f"{_POLLED}/operationResults/{{operation}}", _operation_result),
)
"""The first that fits a request is taken."""
