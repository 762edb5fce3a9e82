"""The processor's API over HTTP: keys, versions, parameters, idempotency, faults, answers."""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence

from starlette.requests import Request
from starlette.responses import Response

from orrery.sandbox.faults import CutConnection
from orrery.sandbox.processor.account import ACCOUNT_ID
from orrery.sandbox.processor.call import Operation, Pending
from orrery.sandbox.processor.errors import ApiError, invalid, unrecognized_url
from orrery.sandbox.processor.expand import expand
from orrery.sandbox.processor.forms import Form, parse_form
from orrery.sandbox.processor.idempotency import IdempotencyKeys, fingerprint
from orrery.sandbox.processor.operations import OPERATIONS, UNUSED
from orrery.sandbox.processor.versions import known_version
from orrery.sandbox.processor.world import API_VERSION, World, mode_of, new_id
from orrery.sandbox.state import Document

EVERYTHING = "*"
"""The permission of an unrestricted key."""

_FORM = "application/x-www-form-urlencoded"
_SHOWN_TAIL, _LEAST_HIDDEN = 4, 8
_PLAYED = " If the vendor has it: the sandbox has only what Orrery uses (docs/reference/sandbox.md)."
_RETRY: dict[int, str] = {400: "false", 401: "false", 403: "false", 404: "false", 409: "true", 429: "true"}
_REQUEST_ID_LENGTH = 14
MAX_BODY_BYTES = 1 << 20


class Api:
    """Answers requests to /v1/…, each in the world of its key's mode, or in the first one.

    `keys` maps each API key to its permissions (`*`, `charge_read`, …).
    """

    def __init__(self, worlds: Sequence[World], keys: Mapping[str, frozenset[str]]) -> None:
        self._by_mode = {world.mode: _OneApi(world, keys) for world in worlds}
        self._first = self._by_mode[worlds[0].mode]

    async def answer(self, request: Request) -> Response:
        """Answer one request, faults included."""
        return await self._meant(request).answer(request)

    def _meant(self, request: Request) -> "_OneApi":
        try:
            return self._by_mode.get(mode_of(_api_key(request)), self._first)
        except ApiError:  # no key, which the first world refuses after its faults
            return self._first


class _OneApi:
    """The API of one world."""

    def __init__(self, world: World, keys: Mapping[str, frozenset[str]]) -> None:
        self._world = world
        self._keys = keys
        self._used = IdempotencyKeys(world)

    async def answer(self, request: Request) -> Response:
        """Answer one request, faults included."""
        broken = self._world.faults.instead("processor", request.url.path)
        if broken is not None:
            return broken
        request_id = new_id("req_", _REQUEST_ID_LENGTH)
        headers = {"Request-Id": request_id, "Stripe-Version": API_VERSION}
        try:
            status, body = await self._carry_out(request, headers)
        except ApiError as refusal:
            status, body = refusal.status, refusal.body(request_id, self._world.base_url)
        if status in _RETRY:
            headers["Stripe-Should-Retry"] = _RETRY[status]
        answer = Response(json.dumps(body, indent=2), status, headers, "application/json")
        return self._broken_after(request.url.path, answer)

    def _broken_after(self, path: str, answer: Response) -> Response:
        faults, clock = self._world.faults, self._world.clock
        return (
            CutConnection() if faults.take("cut_after", path) else faults.late("lost_answer", answer, clock, path)
        )

    async def _carry_out(self, request: Request, headers: dict[str, str]) -> tuple[int, Document]:
        self._world.expire_due()
        path = request.url.path
        permissions = self._permissions(request)
        headers["Stripe-Version"] = version = _version(request)
        if self._world.faults.take("rate_limit", path):
            raise ApiError(429, "Request rate limit exceeded.", code="rate_limit", stored=False)
        if request.method == "PATCH" and self._world.faults.take("patch_404", path):
            raise unrecognized_url(request.method, path)
        operation, ids = _route(request.method, path)
        if self._world.faults.take("no_permission", path):
            permissions = frozenset[str]()
        _check_permission(permissions, operation, _masked(_api_key(request)))
        form = await _read_form(request)
        key = request.headers.get("idempotency-key") if request.method == "POST" else None
        pending = Pending(operation, path, ids, form, version)
        return await (self._run(pending) if key is None else self._run_once(pending, key, headers))

    async def _run_once(self, pending: Pending, key: str, headers: dict[str, str]) -> tuple[int, Document]:
        headers["Idempotency-Key"] = key
        asked = fingerprint(pending.operation.method, pending.path, pending.form)
        first = self._used.first_answer(key, asked)
        if first is not None:
            headers |= {"Idempotent-Replayed": "true", "Original-Request": first["request_id"]}
            return first["status"], first["body"]
        with self._used.held(key):
            try:
                status, body = await self._run(pending)
            except ApiError as refusal:
                if not refusal.stored:
                    raise
                status, body = refusal.status, refusal.body(headers["Request-Id"], self._world.base_url)
            self._used.keep(key, asked, status, body, headers["Request-Id"])
        return status, body

    async def _run(self, pending: Pending) -> tuple[int, Document]:
        slow = self._world.faults.take("latency", pending.path)
        if slow is not None:
            await self._world.clock.sleep(1.0 if slow.value is None else slow.value)
        call = pending.read(self._world)
        if self._world.faults.take("server_error", pending.path):
            raise ApiError(500, "An unknown error occurred.", "api_error")
        answer = pending.operation.run(call)
        return 200, expand(self._world, answer, call.params.get("expand", []))

    def _permissions(self, request: Request) -> frozenset[str]:
        key = _api_key(request)
        permissions = self._keys.get(key)
        if permissions is None:
            raise ApiError(401, f"Invalid API Key provided: {_masked(key)}", stored=False)
        return permissions


def _api_key(request: Request) -> str:
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and credentials.strip():
        return credentials.strip()
    if scheme.lower() == "basic":
        return _basic_user(credentials)
    message = "You did not provide an API key: send it in the Authorization header, as 'Bearer YOUR_SECRET_KEY'."
    raise ApiError(401, message, stored=False)


def _basic_user(credentials: str) -> str:
    try:
        return base64.b64decode(credentials, validate=True).decode().partition(":")[0]
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ApiError(401, "The Authorization header is not valid HTTP Basic.", stored=False) from error


def _masked(key: str) -> str:
    """Return a key as the vendor shows it: its kind and its last four characters."""
    kind = re.match(r"[a-z]{2}_(?:test|live)_", key)
    shown = kind[0] if kind else ""
    tail = key[-_SHOWN_TAIL:] if len(key) > len(shown) + _LEAST_HIDDEN else ""
    return shown + "*" * (len(key) - len(shown) - len(tail)) + tail


def _version(request: Request) -> str:
    return known_version(request.headers.get("stripe-version", API_VERSION))


def _route(method: str, path: str) -> tuple[Operation, dict[str, str]]:
    for operation in (*OPERATIONS, *UNUSED):
        ids = _ids(operation.path, path) if operation.method == method else None
        if ids is not None:
            return operation, ids
    raise unrecognized_url(method, path, _PLAYED)


def _ids(template: str, path: str) -> dict[str, str] | None:
    wanted, given = template.split("/"), path.split("/")
    if len(wanted) != len(given):
        return None
    pairs = list(zip(wanted, given, strict=True))
    if any(want != have for want, have in pairs if not want.startswith("{")):
        return None
    return {want.strip("{}"): have for want, have in pairs if want.startswith("{")}


def _check_permission(held: frozenset[str], operation: Operation, shown: str) -> None:
    needed = operation.permission
    if held & {EVERYTHING, needed, needed.replace("_read", "_write")}:
        return
    message = (
        f"The provided key '{shown}' does not have the required permissions for this endpoint on account "
        f"'{ACCOUNT_ID}'. Having the 'rak_{needed}' permission would allow this request to continue."
    )
    raise ApiError(403, message, code="more_permissions_required", stored=False)


async def _read_form(request: Request) -> dict[str, Form]:
    if request.method in ("GET", "DELETE"):
        return parse_form(request.scope["query_string"])
    body = await request.body()
    if len(body) > MAX_BODY_BYTES:
        raise ApiError(413, "Request body too large.", stored=False)
    kind = request.headers.get("content-type", _FORM).partition(";")[0].strip().lower()
    if body and kind != _FORM:
        raise invalid(f"Invalid request: the content type must be {_FORM}.")
    return parse_form(body)
