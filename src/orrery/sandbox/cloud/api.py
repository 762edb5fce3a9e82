"""The cloud over HTTP: the management API, the token endpoint and the webhooks."""

import json
import re
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.cloud.access import AccessTokens, expired
from orrery.sandbox.cloud.automation import WEBHOOK_PATH, call_webhook
from orrery.sandbox.cloud.operations import OPERATIONS, ArmAnswer, ArmOperation, ArmRequest
from orrery.sandbox.cloud.resources import TOKEN_PATH, Cloud, arm_error, bad_request, new_guid, not_found
from orrery.sandbox.faults import Fault, Refusal
from orrery.sandbox.ground import Document, SandboxGround


def _leaves(found: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401  JSON of any shape
    if isinstance(found, dict):
        return {name: _leaves(value, change) for name, value in cast("Document", found).items()}
    if isinstance(found, list):
        return [_leaves(value, change) for value in cast("list[Any]", found)]
    return change(found)


SHAPES: tuple[Callable[[Any], Any], ...] = (
    lambda _: [],
    lambda _: {},
    lambda _: None,
    lambda _: "text",
    lambda found: _leaves(found, lambda _: None),
    lambda found: _leaves(found, lambda _: ["a list"]),
    lambda found: dict.fromkeys(found) | {"id": "/of/another", "value": [None]},
)
"""What becomes of an answer."""


def reshaped(answer: Response, shape: int) -> Response:
    """Return an answer in another shape."""
    try:
        found = json.loads(bytes(answer.body))
    except ValueError:
        found = {}
    return Response(json.dumps(SHAPES[shape](found)), answer.status_code, media_type="application/json")


MOST_SHOWN = 50
"""How many requests are remembered to be shown."""

CALL = "POST call"
"""How faults name a call of a webhook's URI, which is none to the management API."""

TOKEN = "GET token"  # noqa: S105  a name of faults
"""How faults name a question for a managed identity's token."""

_VERSION = re.compile(r"\d{4}-\d\d-\d\d(-preview)?")
_NOT_ALLOWED = (
    "The client 'somebody@cosmos.example' with object id '00000000-0000-4000-8000-0000000000ab' does not have "
    "authorization to perform action 'of/that/kind' over scope '/subscriptions/of/that' or the scope is invalid."
)
_UNREGISTERED = "The subscription is not registered to use namespace 'Microsoft.Automation'."
_REFUSALS: dict[str, Callable[[Fault], Refusal]] = {
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
        self._clock = ground.clock
        self._faults = ground.faults
        self._refusals = {**_REFUSALS, "cloud_401": self._expired}
        self.tokens = AccessTokens(cloud)
        self.requests: deque[Document] = deque(maxlen=MOST_SHOWN)

    def routes(self) -> list[Route]:
        return [
            Route(TOKEN_PATH, self.token, methods=["GET"]),
            Route(WEBHOOK_PATH, self.webhook, methods=["POST"]),
            Route("/subscriptions/{rest:path}", self.answer, methods=_METHODS),
            Route("//subscriptions/{rest:path}", self.answer, methods=_METHODS),
        ]

    async def token(self, request: Request) -> Response:
        """Give a managed identity a token."""
        broken = self._faults.instead("cloud", TOKEN)
        if broken is not None:
            return self._shown(request, TOKEN, 0, broken)
        try:
            self._faults.refuse(self._refusals, TOKEN)
            header = request.headers.get("x-identity-header", "")
            answer = JSONResponse(self.tokens.issue(header, request.query_params))
        except Refusal as refusal:
            answer = refusal.answer()
        return self._shown(request, TOKEN, answer.status_code, self._late(TOKEN, answer))

    async def webhook(self, request: Request) -> Response:
        """Start a runbook's job."""
        self._cloud.catch_up()
        body = (await request.body()).decode(errors="replace")
        headers = {
            name: request.headers[name] for name in ("content-type", "user-agent") if name in request.headers
        }
        broken = self._faults.instead("cloud", CALL)
        if broken is not None:
            return broken
        moment = self._cloud.now()
        status, answer = call_webhook(self._cloud, moment, str(request.url), body, headers)
        return self._late(CALL, JSONResponse(answer, status))

    async def answer(self, request: Request) -> Response:
        """Answer one request to the management API, faults included."""
        path = "/" + request.url.path.strip("/")
        body = await request.body()
        self._cloud.catch_up()
        operation, ids = _found(request.method, path)
        subject = f"{request.method} {operation.name if operation else 'unknown'}"
        broken = self._faults.instead("cloud", subject)
        if broken is not None:
            return self._shown(request, subject, 0, broken)
        try:
            self._faults.refuse(self._refusals, subject)
            self.tokens.check(request.headers.get("authorization", ""))
            asked = _read(request, path, ids, body)
            answer = _as_response(self._carried_out(operation, asked))
        except Refusal as refusal:
            answer = refusal.answer()
        answer.headers["x-ms-request-id"] = new_guid()
        return self._shown(request, subject, answer.status_code, self._late(subject, answer))

    def _carried_out(self, operation: ArmOperation | None, asked: ArmRequest) -> ArmAnswer:
        if not _VERSION.fullmatch(asked.query.get("api-version", "")):
            raise bad_request("The api-version query parameter is required.", "MissingApiVersionParameter")
        self._check_place(asked)
        if operation is None:
            raise not_found(asked.path)
        return operation.run(self._cloud, asked)

    def _check_place(self, asked: ArmRequest) -> None:
        """Refuse another subscription, resource group or machine than those that there are."""
        config = self._cloud.config
        words = asked.path.split("/")
        if words[2].lower() != config.subscription:
            raise arm_error(404, "SubscriptionNotFound", f"The subscription '{words[2]}' could not be found.")
        group = asked.ids.get("group", config.resource_group)
        if group.lower() != config.resource_group.lower():
            raise arm_error(404, "ResourceGroupNotFound", f"Resource group '{group}' could not be found.")
        if asked.ids.get("machine", config.machine).lower() != config.machine.lower():
            raise not_found(asked.path)

    def _expired(self, _: Fault) -> Refusal:
        return expired(self._cloud.now().at)

    def _late(self, subject: str, answer: Response) -> Response:
        shaped = self._faults.take("cloud_odd", subject)
        if shaped is not None:
            answer = reshaped(answer, int(shaped.value or 0))
        return self._faults.late("cloud_lost_answer", answer, self._clock, subject)

    def _shown(self, request: Request, subject: str, status: int, answer: Response) -> Response:
        query = dict(request.query_params)
        self.requests.append({"at": self._cloud.now().at, "what": subject, "status": status, "query": query})
        return answer


def _found(method: str, path: str) -> tuple[ArmOperation | None, Mapping[str, str]]:
    for operation in OPERATIONS:
        ids = operation.ids(path) if operation.method == method else None
        if ids is not None:
            return operation, ids
    return None, {}


def _read(request: Request, path: str, ids: Mapping[str, str], body: bytes) -> ArmRequest:
    text = body.decode(errors="replace")
    document: Document = {}
    if body and "json" in request.headers.get("content-type", ""):
        document = json.loads(text)
    return ArmRequest(path, ids, dict(request.query_params), document, text, request.headers)


def _as_response(answer: ArmAnswer) -> Response:
    if isinstance(answer.body, dict):
        return JSONResponse(answer.body, answer.status, dict(answer.headers))
    kind = None if answer.body is None else answer.kind
    return Response(answer.body, answer.status, dict(answer.headers), kind)
