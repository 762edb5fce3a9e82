"""The processor's API over HTTP: keys, idempotency, faults, and the table of operations (spec 1, Endpoints)."""

import hashlib
import json
import re
from base64 import b64decode
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from starlette.requests import Request
from starlette.responses import Response

from orrery.sandbox.faults import CutConnection, Refusal
from orrery.sandbox.ground import Document
from orrery.sandbox.processor import resources, sessions
from orrery.sandbox.processor.account import ACCOUNT_ID
from orrery.sandbox.processor.call import ApiOperation, Pending, expand, page
from orrery.sandbox.processor.parameters import (
    CREATE_CONFIGURATION,
    CREATE_SESSION,
    CREATE_VALUE_LIST_ITEM,
    CREATE_WEBHOOK_ENDPOINT,
    LIST_BY_TIME,
    LIST_CHARGES,
    LIST_CUSTOMERS,
    LIST_EVENTS,
    LIST_PAGE,
    LIST_PRICES,
    LIST_SESSIONS,
    LIST_VALUE_LIST_ITEMS,
    LIST_VALUE_LISTS,
    NOTHING,
    ONLY_EXPAND,
    UPDATE_ACCOUNT,
    UPDATE_CONFIGURATION,
    UPDATE_WEBHOOK_ENDPOINT,
    Form,
    parse_form,
)
from orrery.sandbox.processor.world import (
    API_VERSION,
    World,
    api_error,
    invalid,
    known_version,
    mode_of,
    new_id,
    unrecognized_url,
)

MAX_KEY_LENGTH = 255
KEPT_SECONDS = 24 * 3600
_KIND = "_idempotency"


def fingerprint(method: str, path: str, form: dict[str, Form]) -> str:
    """Return a digest of the request."""
    asked = json.dumps([method, path, form], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()


class IdempotencyKeys:
    """The keys that were used in the last day, and those in use right now."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._in_use: set[str] = set()

    def first_answer(self, key: str, asked: str) -> Document | None:
        """Return the stored `status` and `body` of this key's first use, or None when there was none.

        Raises `Refusal` for a key that is too long, in use, or was used for something else.
        """
        if len(key) > MAX_KEY_LENGTH:
            raise invalid(f"An idempotency key has at most {MAX_KEY_LENGTH} characters.")
        if key in self._in_use:
            message = "Another request with this idempotency key is in progress. Please try again later."
            raise api_error(409, message, "idempotency_error", "idempotency_key_in_use")
        self._prune()
        stored = self._world.state.get(_KIND, key)
        if stored is not None and stored["asked"] != asked:
            message = f"Keys for idempotent requests can only be used with the same parameters: '{key}' was not."
            raise api_error(400, message, "idempotency_error")
        return stored

    def keep(self, key: str, asked: str, status: int, body: Document, request_id: str) -> None:
        """Store the first answer."""
        answer = {"asked": asked, "status": status, "body": body, "request_id": request_id}
        self._world.state.save({"object": _KIND, "id": key, "created": self._world.now(), **answer})

    @contextmanager
    def held(self, key: str) -> Generator[None]:
        """Hold the key while its request is carried out."""
        self._in_use.add(key)
        try:
            yield
        finally:
            self._in_use.discard(key)

    def _prune(self) -> None:
        oldest_kept = self._world.now() - KEPT_SECONDS
        for key in self._world.state.older_than(_KIND, oldest_kept):
            self._world.state.remove(_KIND, key)


_CONFIGURATIONS = "/v1/payment_method_configurations"
_ENDPOINTS = "/v1/webhook_endpoints"
_ITEMS = "/v1/radar/value_list_items"
_SESSIONS = "/v1/checkout/sessions"

OPERATIONS: tuple[ApiOperation, ...] = tuple(
    ApiOperation(*row)
    for row in (
        ("POST", _SESSIONS, "checkout_session_write", CREATE_SESSION, sessions.create),
        ("GET", _SESSIONS, "checkout_session_read", LIST_SESSIONS, sessions.list_all),
        (
            "GET",
            f"{_SESSIONS}/{{session}}",
            "checkout_session_read",
            ONLY_EXPAND,
            resources.getter("checkout.session", "session"),
        ),
        (
            "POST",
            f"{_SESSIONS}/{{session}}/expire",
            "checkout_session_write",
            ONLY_EXPAND,
            sessions.expire_one,
        ),
        ("GET", "/v1/prices", "price_read", LIST_PRICES, resources.lister("price")),
        ("GET", "/v1/charges", "charge_read", LIST_CHARGES, resources.lister("charge")),
        ("GET", "/v1/customers", "customer_read", LIST_CUSTOMERS, resources.lister("customer")),
        (
            "GET",
            _CONFIGURATIONS,
            "payment_method_configuration_read",
            LIST_PAGE,
            resources.lister("payment_method_configuration"),
        ),
        (
            "POST",
            _CONFIGURATIONS,
            "payment_method_configuration_write",
            CREATE_CONFIGURATION,
            resources.create_configuration,
        ),
        (
            "GET",
            f"{_CONFIGURATIONS}/{{configuration}}",
            "payment_method_configuration_read",
            ONLY_EXPAND,
            resources.getter("payment_method_configuration", "configuration"),
        ),
        (
            "POST",
            f"{_CONFIGURATIONS}/{{configuration}}",
            "payment_method_configuration_write",
            UPDATE_CONFIGURATION,
            resources.update_configuration,
        ),
        (
            "GET",
            "/v1/radar/value_lists",
            "value_list_read",
            LIST_VALUE_LISTS,
            resources.list_value_lists,
        ),
        ("GET", _ITEMS, "value_list_read", LIST_VALUE_LIST_ITEMS, resources.list_value_list_items),
        ("POST", _ITEMS, "value_list_write", CREATE_VALUE_LIST_ITEM, resources.create_value_list_item),
        ("DELETE", f"{_ITEMS}/{{item}}", "value_list_write", NOTHING, resources.delete_value_list_item),
        ("GET", "/v1/reviews", "review_read", LIST_BY_TIME, resources.list_reviews),
        ("GET", "/v1/balance", "balance_read", ONLY_EXPAND, resources.get_balance),
        ("GET", "/v1/account", "account_read", ONLY_EXPAND, resources.get_account),
        ("PATCH", "/v1/account", "account_write", UPDATE_ACCOUNT, resources.patch_account),
        ("GET", "/v1/events", "event_read", LIST_EVENTS, resources.list_events),
        ("GET", "/v1/events/{id}", "event_read", ONLY_EXPAND, resources.getter("event", "id")),
        ("GET", _ENDPOINTS, "webhook_read", LIST_PAGE, resources.list_endpoints),
        ("POST", _ENDPOINTS, "webhook_write", CREATE_WEBHOOK_ENDPOINT, resources.create_endpoint),
        (
            "POST",
            f"{_ENDPOINTS}/{{webhook_endpoint}}",
            "webhook_write",
            UPDATE_WEBHOOK_ENDPOINT,
            resources.update_endpoint,
        ),
        (
            "DELETE",
            f"{_ENDPOINTS}/{{webhook_endpoint}}",
            "webhook_write",
            NOTHING,
            resources.delete_endpoint,
        ),
    )
)

UNUSED: tuple[ApiOperation, ...] = tuple(
    ApiOperation("GET", f"/v1/{name}s", f"{name}_read", LIST_PAGE, lambda call: page([], call.params, call.path))
    for name in ("invoice", "payout", "subscription")
)
"""Empty lists that no client of ours needs: only to check whether a restricted key is refused here."""


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
        except Refusal:  # no key, which the first world refuses after its faults
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
        except Refusal as refusal:
            status, body = refusal.status, self._logged(refusal, request_id)
        if status in _RETRY:
            headers["Stripe-Should-Retry"] = _RETRY[status]
        answer = Response(json.dumps(body, indent=2), status, headers, "application/json")
        return self._broken_after(request.url.path, answer)

    def _logged(self, refusal: Refusal, request_id: str) -> Document:
        error: Document = refusal.body["error"]
        return {"error": error | {"request_log_url": f"{self._world.base_url}/#{request_id}"}}

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
            raise api_error(429, "Request rate limit exceeded.", code="rate_limit")
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
            except Refusal as refusal:
                if "param" in refusal.body["error"]:  # a failed validation, which the vendor does not store
                    raise
                status, body = refusal.status, self._logged(refusal, headers["Request-Id"])
            self._used.keep(key, asked, status, body, headers["Request-Id"])
        return status, body

    async def _run(self, pending: Pending) -> tuple[int, Document]:
        slow = self._world.faults.take("latency", pending.path)
        if slow is not None:
            await self._world.clock.sleep(1.0 if slow.value is None else slow.value)
        call = pending.read(self._world)
        if self._world.faults.take("server_error", pending.path):
            raise api_error(500, "An unknown error occurred.", "api_error")
        answer = pending.operation.run(call)
        return 200, expand(self._world, answer, call.params.get("expand", []))

    def _permissions(self, request: Request) -> frozenset[str]:
        key = _api_key(request)
        permissions = self._keys.get(key)
        if permissions is None:
            raise api_error(401, f"Invalid API Key provided: {_masked(key)}")
        return permissions


def _api_key(request: Request) -> str:
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and credentials.strip():
        return credentials.strip()
    if scheme.lower() == "basic":  # as the owner's curl sends it, by the how-to
        return _basic_user(credentials)
    message = "You did not provide an API key: send it in the Authorization header, as 'Bearer YOUR_SECRET_KEY'."
    raise api_error(401, message)


def _basic_user(credentials: str) -> str:
    try:
        user, _, _ = b64decode(credentials, validate=True).decode().partition(":")
    except ValueError as error:
        raise api_error(401, "The Authorization header is not valid HTTP Basic.") from error
    return user


def _masked(key: str) -> str:
    """Return a key as the vendor shows it: its kind and its last four characters."""
    kind = re.match(r"[a-z]{2}_(?:test|live)_", key)
    shown = kind[0] if kind else ""
    tail = key[-_SHOWN_TAIL:] if len(key) > len(shown) + _LEAST_HIDDEN else ""
    return shown + "*" * (len(key) - len(shown) - len(tail)) + tail


def _version(request: Request) -> str:
    return known_version(request.headers.get("stripe-version", API_VERSION))


def _route(method: str, path: str) -> tuple[ApiOperation, dict[str, str]]:
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


def _check_permission(held: frozenset[str], operation: ApiOperation, shown: str) -> None:
    needed = operation.permission
    if held & {EVERYTHING, needed, needed.replace("_read", "_write")}:
        return
    message = (
        f"The provided key '{shown}' does not have the required permissions for this endpoint on account "
        f"'{ACCOUNT_ID}'. Having the 'rak_{needed}' permission would allow this request to continue."
    )
    raise api_error(403, message, code="more_permissions_required")


async def _read_form(request: Request) -> dict[str, Form]:
    if request.method in ("GET", "DELETE"):
        return parse_form(request.scope["query_string"])
    body = await request.body()
    if len(body) > MAX_BODY_BYTES:
        raise api_error(413, "Request body too large.")
    kind = request.headers.get("content-type", _FORM).partition(";")[0].strip().lower()
    if body and kind != _FORM:
        raise invalid(f"Invalid request: the content type must be {_FORM}.")
    return parse_form(body)
