"""The cloud over HTTP: the management API, the token endpoint and the webhooks."""

import json
import re
from collections import deque

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.cloud.access import AccessTokens, expired
from orrery.sandbox.cloud.automation import WEBHOOK_PATH, call_webhook
from orrery.sandbox.cloud.operations import OPERATIONS, ArmRequest, Run
from orrery.sandbox.cloud.resources import TOKEN_PATH, Cloud, arm_error, bad_request, new_guid, not_found
from orrery.sandbox.faults import Refusals
from orrery.sandbox.ground import Document, SandboxGround
from orrery.sandbox.operations import Operation, matched

MOST_SHOWN = 50
"""How many requests are remembered to be shown."""

_VERSION = re.compile(r"\d{4}-\d\d-\d\d(-preview)?")
_NOT_ALLOWED = (
    "The client 'somebody@cosmos.example' with object id '00000000-0000-4000-8000-0000000000ab' does not have "
    "authorization to perform action 'of/that/kind' over scope '/subscriptions/of/that' or the scope is invalid."
)
_UNREGISTERED = "The subscription is not registered to use namespace 'Microsoft.Automation'."
_REFUSALS: Refusals = {
    "cloud_403": lambda _: arm_error(403, "AuthorizationFailed", _NOT_ALLOWED),
    "cloud_409": lambda _: arm_error(409, "Conflict", "Another operation is in progress."),
    "cloud_unregistered": lambda _: arm_error(409, "MissingSubscriptionRegistration", _UNREGISTERED),
    "cloud_429": lambda fault: arm_error(
        429, "TooManyRequests", "Too many requests.", {"Retry-After": f"{fault.value or 1:.0f}"}
    ),
    "cloud_500": lambda _: arm_error(500, "InternalServerError", "The server has failed."),
}
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


class CloudApi:
    """Answers who manages the cloud, who wants a token, and who calls a webhook."""

    def __init__(self, cloud: Cloud, ground: SandboxGround) -> None:
        self._cloud = cloud
        self._faults = ground.faults
        self._tokens = AccessTokens(cloud)
        self.requests: deque[Document] = deque(maxlen=MOST_SHOWN)
        self._operations: tuple[Operation[Run], ...] = (
            Operation("GET", TOKEN_PATH, self._token, name="token"),
            Operation("POST", WEBHOOK_PATH, _call, name="call"),
            *OPERATIONS,
        )

    def routes(self) -> list[Route]:
        paths = (TOKEN_PATH, WEBHOOK_PATH, "/subscriptions/{rest:path}", "//subscriptions/{rest:path}")
        return [Route(path, self.answer, methods=_METHODS) for path in paths]

    async def answer(self, request: Request) -> Response:
        """Answer one request, faults included."""
        path = "/" + request.url.path.strip("/")
        text = (await request.body()).decode(errors="replace")
        self._cloud.catch_up()
        operation, match = matched(self._operations, request.method, path) or (None, None)
        called = operation.call if operation else f"{request.method} unknown"

        async def carried_out() -> Response:
            is_json = path != WEBHOOK_PATH and "json" in request.headers.get("content-type", "")
            document: Document = json.loads(text) if text and is_json else {}
            ids = match.groupdict() if match else {}
            asked = ArmRequest(path, ids, dict(request.query_params), document, text, request.headers)
            if path.startswith("/subscriptions/"):
                self._check(asked)
            if operation is None:
                raise not_found(path)
            return operation.run(self._cloud, asked)

        refusals: Refusals = {**_REFUSALS, "cloud_401": lambda _: expired(self._cloud.now().at)}
        if path == WEBHOOK_PATH:
            answer = await self._faults.request("cloud call", called).answer({}, carried_out)
        else:
            answer = await self._faults.request("cloud", called).answer(refusals, carried_out)
        answer.headers["x-ms-request-id"] = new_guid()
        shown = {"at": self._cloud.now().at, "what": called, "status": answer.status_code}
        query = {name: value for name, value in request.query_params.items() if name != "token"}
        self.requests.append(shown | {"query": query})
        return answer

    def _token(self, _: Cloud, asked: ArmRequest) -> Response:
        """Give a managed identity a token."""
        return JSONResponse(self._tokens.issue(asked.headers.get("x-identity-header", ""), asked.query))

    def _check(self, asked: ArmRequest) -> None:
        """Refuse a request without a token or a version, and another place than those that there are."""
        self._tokens.check(asked.headers.get("authorization", ""))
        if not _VERSION.fullmatch(asked.query.get("api-version", "")):
            raise bad_request("The api-version query parameter is required.", "MissingApiVersionParameter")
        config = self._cloud.config
        subscription = asked.path.split("/")[2]
        if subscription.lower() != config.subscription:
            raise arm_error(404, "SubscriptionNotFound", f"The subscription '{subscription}' could not be found.")
        group = asked.ids.get("group", config.resource_group)
        if group.lower() != config.resource_group.lower():
            raise arm_error(404, "ResourceGroupNotFound", f"Resource group '{group}' could not be found.")
        if asked.ids.get("machine", config.machine).lower() != config.machine.lower():
            raise not_found(asked.path)


def _call(cloud: Cloud, asked: ArmRequest) -> Response:
    """Start a runbook's job."""
    headers = {name: asked.headers[name] for name in ("content-type", "user-agent") if name in asked.headers}
    status, answer = call_webhook(cloud, cloud.now(), asked.query.get("token", ""), asked.text, headers)
    return JSONResponse(answer, status)
