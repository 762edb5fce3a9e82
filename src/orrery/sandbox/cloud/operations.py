"""What the management API can be asked: each operation with its path, and what it does."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.responses import JSONResponse, PlainTextResponse, Response

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


Run = Callable[[Cloud, ArmRequest], Response]


def _body(cloud: Cloud, asked: ArmRequest) -> Response:
    return JSONResponse(cloud.require(asked.path)["body"])


def _delete(cloud: Cloud, asked: ArmRequest) -> Response:
    return Response(status_code=200 if cloud.remove(asked.path) else 204)


def _list(values: list[Document]) -> Response:
    return JSONResponse({"value": values})


def _parts_of_account(cloud: Cloud, asked: ArmRequest) -> Response:
    _ = cloud.require(asked.upto(1))
    return _list([one["body"] for one in cloud.below(asked.path)])


def _text(cloud: Cloud, runbook_id: str, which: str) -> Response:
    """Return the `draft` or the published `content`; there may be none, which is not found."""
    if (text := cloud.require(runbook_id)[which]) is None:
        raise not_found(f"{runbook_id}/{which}")
    return PlainTextResponse(text)


def _replace_draft(cloud: Cloud, asked: ArmRequest) -> Response:
    automation.replace_draft(cloud, asked.upto(2), asked.text)
    return _accepted(cloud, "Microsoft.Automation", "draft")


def _publish(cloud: Cloud, asked: ArmRequest) -> Response:
    automation.publish(cloud, asked.upto(1))
    return _accepted(cloud, "Microsoft.Automation", "publish")


def _start(cloud: Cloud, _: ArmRequest) -> Response:
    machine.start(cloud, cloud.now(), "operator")
    return _accepted(cloud, "Microsoft.Compute", "start")


def _accepted(cloud: Cloud, provider: str, what: str) -> Response:
    config = cloud.config
    place = f"{config.url}/subscriptions/{config.subscription}/providers/{provider}/locations/{config.location}"
    number = f"{what}-{new_guid()}?api-version=2024-10-23"
    headers = {"Azure-AsyncOperation": f"{place}/operations/{number}", "x-ms-retry-after-ms": "100"}
    return Response(status_code=202, headers=headers | {"Location": f"{place}/operationResults/{number}"})


def _is_under_way(cloud: Cloud, asked: ArmRequest) -> bool:
    return asked.ids["operation"].startswith("start-") and machine.state_of(cloud)["power"] == "starting"


def _operation_status(cloud: Cloud, asked: ArmRequest) -> Response:
    status = "InProgress" if _is_under_way(cloud, asked) else "Succeeded"
    return JSONResponse({"name": asked.ids["operation"], "status": status})


def _operation_result(cloud: Cloud, asked: ArmRequest) -> Response:
    return Response(status_code=202 if _is_under_way(cloud, asked) else 200)


def _machine(cloud: Cloud, asked: ArmRequest) -> Response:
    body: Document = cloud.require(asked.path)["body"]
    if asked.query.get("$expand", "").lower() == "instanceview":
        body["properties"]["instanceView"] = machine.instance_view(cloud)
    return JSONResponse(body, headers={"ETag": body["etag"]})


def _retag(cloud: Cloud, asked: ArmRequest) -> Response:
    body = machine.retag(cloud, asked.document["tags"], asked.headers.get("if-match"))
    return JSONResponse(body, headers={"ETag": body["etag"]})


def _jobs(cloud: Cloud, asked: ArmRequest) -> Response:
    """List the newest jobs, of one runbook if the filter names it."""
    named = re.fullmatch(r"properties/runbook/name eq '([^']*)'", asked.query.get("$filter", ""))
    found = [
        one
        for one in jobs.listed(cloud, asked.upto(1))
        if named is None or named[1].lower() == one["properties"]["runbook"]["name"].lower()
    ]
    return _list(found[: int(asked.query.get("$top", _PAGE))])


def _output(cloud: Cloud, asked: ArmRequest) -> Response:
    return PlainTextResponse(cloud.require(asked.upto(1))["output"])


def _roles(cloud: Cloud, asked: ArmRequest) -> Response:
    return _list(access.assignments(cloud, asked.ids["scope"], asked.query.get("$filter", "")))


def _assign(cloud: Cloud, asked: ArmRequest) -> Response:
    assigned = access.put_assignment(cloud, asked.ids["scope"], asked.ids["name"], asked.document)
    return JSONResponse(assigned, 201)


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

    def run(cloud: Cloud, asked: ArmRequest) -> Response:
        status, body = put(cloud, asked.path, asked.document)
        return JSONResponse(body, status)

    return run


def _row(method: str, name: str, template: str, run: Run) -> Operation[Run]:
    return Operation(method, template, run, name=name)


OPERATIONS: tuple[Operation[Run], ...] = (
    *_of("identity", _IDENTITY, _stored(access.put_identity)),
    *_of("role", f"{_ROLES}/{{name}}", _assign),
    _row("GET", "roles", _ROLES, _roles),
    *_of("account", _ACCOUNT, _stored(automation.put_account)),
    _row("PATCH", "account", _ACCOUNT, _stored(automation.patch_account)),
    _row("GET", "usages", f"{_ACCOUNT}/usages", lambda cloud, it: _list(automation.usages(cloud, it.upto(1)))),
    *_of("runbook", _RUNBOOK, _stored(automation.put_runbook)),
    _row("GET", "content", f"{_RUNBOOK}/content", lambda cloud, it: _text(cloud, it.upto(1), "content")),
    _row("GET", "draft", f"{_RUNBOOK}/draft/content", lambda cloud, it: _text(cloud, it.upto(2), "draft")),
    _row("PUT", "draft", f"{_RUNBOOK}/draft/content", _replace_draft),
    _row("POST", "publish", f"{_RUNBOOK}/publish", _publish),
    _row(
        "POST",
        "uri",
        f"{_ACCOUNT}/webhooks/generateUri",
        lambda cloud, it: PlainTextResponse(generate_uri(cloud, it.upto(2))),
    ),
    _row("GET", "runbooks", f"{_ACCOUNT}/runbooks", _parts_of_account),
    _row("GET", "webhooks", f"{_ACCOUNT}/webhooks", _parts_of_account),
    _row("PATCH", "webhook", _WEBHOOK, _stored(patch_webhook)),
    *_of("webhook", _WEBHOOK, _stored(put_webhook)),
    _row("GET", "jobs", f"{_ACCOUNT}/jobs", _jobs),
    _row("GET", "job", _JOB, _body),
    _row("GET", "output", f"{_JOB}/output", _output),
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
        lambda cloud, _: JSONResponse(machine.instance_view(cloud)),
    ),
    _row("POST", "start", f"{_MACHINE}/start", _start),
    _row(
        "GET",
        "health",
        f"{_MACHINE}/providers/Microsoft.ResourceHealth/availabilityStatuses/current",
        lambda cloud, _: JSONResponse(machine.availability(cloud)),
    ),
    _row("GET", "operation", f"{_POLLED}/operations/{{operation}}", _operation_status),
    _row("GET", "operation", f"{_POLLED}/operationResults/{{operation}}", _operation_result),
)
"""The first that fits a request is taken."""


def carry_out(cloud: Cloud, method: str, path: str, document: Document, text: str) -> Response:
    """Carry out an operation without a client."""
    operation, match = matched(OPERATIONS, method, path) or (None, None)
    if operation is None or match is None:
        raise not_found(path)
    return operation.run(cloud, ArmRequest(path, match.groupdict(), {}, document, text, {}))
