"""What the management API can be asked: each operation with its path, and what it does."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from orrery.sandbox.cloud import access, alerts, automation, jobs, machine
from orrery.sandbox.cloud.automation import generate_uri, patch_webhook, put_webhook
from orrery.sandbox.cloud.machine import listed_events
from orrery.sandbox.cloud.resources import Cloud, new_guid, not_found
from orrery.sandbox.ground import Document
from orrery.sandbox.operations import Operation, matched

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
    """List the newest jobs, of one runbook if the filter names it."""
    named = re.fullmatch(r"properties/runbook/name eq '([^']*)'", asked.query.get("$filter", ""))
    wanted = named[1].lower() if named else ""
    found = [
        one
        for one in jobs.listed(cloud, asked.upto(1))
        if wanted in {"", one["properties"]["runbook"]["name"].lower()}
    ]
    return _list(found[: int(asked.query.get("$top", _PAGE))])


def _job(cloud: Cloud, asked: ArmRequest, words: int) -> Document:
    return jobs.find_job(cloud, asked.upto(words), asked.ids["job"])


def _roles(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    return _list(access.assignments(cloud, asked.ids["scope"], asked.query.get("$filter", "")))


def _assign(cloud: Cloud, asked: ArmRequest) -> ArmAnswer:
    return ArmAnswer(201, access.put_assignment(cloud, asked.ids["scope"], asked.ids["name"], asked.document))


_ROLES = "{scope}/providers/Microsoft.Authorization/roleAssignments"
_INSIGHTS = f"{_GROUP}/Microsoft.Insights"
_IDENTITY = f"{_GROUP}/Microsoft.ManagedIdentity/userAssignedIdentities/{{identity}}"
_POLLED = "/subscriptions/{subscription}/providers/{provider}/locations/{location}"


def _of(kind: str, template: str, put: Run) -> tuple[Operation[Run], ...]:
    """Return the three operations that most resources have."""
    runs = {"PUT": put, "GET": _body, "DELETE": _delete}
    return tuple(Operation(method, template, run, name=kind) for method, run in runs.items())


def _stored(put: Callable[[Cloud, str, Document], tuple[int, Document]]) -> Run:
    """Return the operation of a PUT or PATCH that answers with a status and the resource."""
    return lambda cloud, asked: ArmAnswer(*put(cloud, asked.path, asked.document))


def _row(method: str, name: str, template: str, run: Run) -> Operation[Run]:
    return Operation(method, template, run, name=name)


OPERATIONS: tuple[Operation[Run], ...] = (
    *_of("identity", _IDENTITY, _stored(access.put_identity)),
    *_of("role", f"{_ROLES}/{{name}}", _assign),
    _row("GET", "roles", _ROLES, _roles),
    *_of("account", _ACCOUNT, _stored(automation.put_account)),
    _row("PATCH", "account", _ACCOUNT, _stored(automation.patch_account)),
    _row("GET", "usages", f"{_ACCOUNT}/usages", lambda cloud, it: _list(automation.usages(cloud, it.upto(1)))),
    _row("DELETE", "runbook", _RUNBOOK, _delete_runbook),
    *_of("runbook", _RUNBOOK, _stored(automation.put_runbook)),
    _row("GET", "content", f"{_RUNBOOK}/content", lambda cloud, it: _script(cloud, it.upto(1), "content")),
    _row("GET", "draft", f"{_RUNBOOK}/draft/content", lambda cloud, it: _script(cloud, it.upto(2), "draft")),
    _row("PUT", "draft", f"{_RUNBOOK}/draft/content", _replace_draft),
    _row("POST", "publish", f"{_RUNBOOK}/publish", _publish),
    _row(
        "POST",
        "uri",
        f"{_ACCOUNT}/webhooks/generateUri",
        lambda cloud, it: ArmAnswer(200, generate_uri(cloud, it.upto(2))),
    ),
    _row("GET", "runbooks", f"{_ACCOUNT}/runbooks", _parts_of_account),
    _row("GET", "webhooks", f"{_ACCOUNT}/webhooks", _parts_of_account),
    _row("DELETE", "webhook", _WEBHOOK, _delete_webhook),
    _row("PATCH", "webhook", _WEBHOOK, _stored(patch_webhook)),
    *_of("webhook", _WEBHOOK, _stored(put_webhook)),
    _row("GET", "jobs", f"{_ACCOUNT}/jobs", _jobs),
    _row("GET", "job", _JOB, lambda cloud, it: ArmAnswer(200, _job(cloud, it, 2)["body"])),
    _row("GET", "output", f"{_JOB}/output", lambda cloud, it: ArmAnswer(200, str(_job(cloud, it, 3)["output"]))),
    *_of("group", f"{_INSIGHTS}/actionGroups/{{action}}", _stored(alerts.put_group)),
    *_of("alert", f"{_INSIGHTS}/activityLogAlerts/{{alert}}", _stored(alerts.put_alert)),
    _row("GET", "alerts", f"{_INSIGHTS}/activityLogAlerts", lambda cloud, _: _list(alerts.alerts(cloud))),
    _row(
        "GET",
        "events",
        "/subscriptions/{subscription}/providers/Microsoft.Insights/eventtypes/management/values",
        lambda cloud, it: _list(listed_events(cloud, it.query.get("$filter", ""))),
    ),
    _row("GET", "machine", _MACHINE, _machine),
    _row("PATCH", "machine", _MACHINE, _retag),
    _row(
        "GET",
        "instanceView",
        f"{_MACHINE}/instanceView",
        lambda cloud, _: ArmAnswer(200, machine.instance_view(cloud)),
    ),
    _row("POST", "start", f"{_MACHINE}/start", _start),
    _row(
        "GET",
        "health",
        f"{_MACHINE}/providers/Microsoft.ResourceHealth/availabilityStatuses/current",
        lambda cloud, _: ArmAnswer(200, machine.availability(cloud)),
    ),
    _row("GET", "operation", f"{_POLLED}/operations/{{operation}}", _operation_status),
    _row("GET", "operation", f"{_POLLED}/operationResults/{{operation}}", _operation_result),
)
"""The first that fits a request is taken."""


def carry_out(cloud: Cloud, method: str, path: str, document: Document, text: str) -> Document | str | None:
    """Carry out an operation without a client; return the body of its answer."""
    operation, match = matched(OPERATIONS, method, path) or (None, None)
    if operation is None or match is None:
        raise not_found(path)
    return operation.run(cloud, ArmRequest(path, match.groupdict(), {}, document, text, {})).body
