"""The processor's API over HTTP: keys, idempotency, faults, and the table of operations (spec 1, Endpoints)."""

import json
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping, Sequence

from starlette.requests import Request
from starlette.responses import Response

from orrery.sandbox.faults import FaultyRequest, Refusal, Refusals
from orrery.sandbox.ground import Document
from orrery.sandbox.operations import Operation, matched
from orrery.sandbox.processor import resources, sessions
from orrery.sandbox.processor.account import ACCOUNT_ID
from orrery.sandbox.processor.call import ApiCall, ApiRun, expand, page
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
    Shape,
    parse_form,
    read_parameters,
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


def first_answer(world: World, key: str, asked: str) -> Document | None:
    """Return the stored `status` and `body` of an idempotency key's first use, or None when there was none.

    Raises `Refusal` for a key that is too long, in use, or was used for something else within a day.
    """
    if len(key) > MAX_KEY_LENGTH:
        raise invalid(f"An idempotency key has at most {MAX_KEY_LENGTH} characters.")
    if key in world.keys_in_use:
        message = "Another request with this idempotency key is in progress. Please try again later."
        raise api_error(409, message, "idempotency_error", "idempotency_key_in_use")
    stored = world.state.get(_KIND, key)
    if stored is None or stored["created"] < world.now() - KEPT_SECONDS:
        return None
    if stored["asked"] != asked:
        message = f"Keys for idempotent requests can only be used with the same parameters: '{key}' was not."
        raise api_error(400, message, "idempotency_error")
    return stored


_CONFIGURATIONS = "/v1/payment_method_configurations"
_ENDPOINTS = "/v1/webhook_endpoints"
_ITEMS = "/v1/radar/value_list_items"
_SESSIONS = "/v1/checkout/sessions"
_CONFIGURATION = f"{_CONFIGURATIONS}/{{configuration}}"
_SESSION = f"{_SESSIONS}/{{session}}"


def _row(
    method: str, path: str, right: str, takes: Shape, run: Callable[[ApiCall], Document]
) -> Operation[ApiRun]:
    return Operation(method, path, ApiRun(takes, run), (right,))


OPERATIONS: tuple[Operation[ApiRun], ...] = (
    _row("POST", _SESSIONS, "checkout_session_write", CREATE_SESSION, sessions.create),
    _row("GET", _SESSIONS, "checkout_session_read", LIST_SESSIONS, sessions.list_all),
    _row("GET", _SESSION, "checkout_session_read", ONLY_EXPAND, resources.getter("checkout.session", "session")),
    _row("POST", f"{_SESSION}/expire", "checkout_session_write", ONLY_EXPAND, sessions.expire_one),
    _row("GET", "/v1/prices", "price_read", LIST_PRICES, resources.lister("price")),
    _row("GET", "/v1/charges", "charge_read", LIST_CHARGES, resources.lister("charge")),
    _row("GET", "/v1/customers", "customer_read", LIST_CUSTOMERS, resources.lister("customer")),
    _row(
        "GET",
        _CONFIGURATIONS,
        "payment_method_configuration_read",
        LIST_PAGE,
        resources.lister("payment_method_configuration"),
    ),
    _row(
        "POST",
        _CONFIGURATIONS,
        "payment_method_configuration_write",
        CREATE_CONFIGURATION,
        resources.create_configuration,
    ),
    _row(
        "GET",
        _CONFIGURATION,
        "payment_method_configuration_read",
        ONLY_EXPAND,
        resources.getter("payment_method_configuration", "configuration"),
    ),
    _row(
        "POST",
        _CONFIGURATION,
        "payment_method_configuration_write",
        UPDATE_CONFIGURATION,
        resources.update_configuration,
    ),
    _row("GET", "/v1/radar/value_lists", "value_list_read", LIST_VALUE_LISTS, resources.list_value_lists),
    _row("GET", _ITEMS, "value_list_read", LIST_VALUE_LIST_ITEMS, resources.list_value_list_items),
    _row("POST", _ITEMS, "value_list_write", CREATE_VALUE_LIST_ITEM, resources.create_value_list_item),
    _row("DELETE", f"{_ITEMS}/{{item}}", "value_list_write", NOTHING, resources.delete_value_list_item),
    _row("GET", "/v1/reviews", "review_read", LIST_BY_TIME, resources.list_reviews),
    _row("GET", "/v1/balance", "balance_read", ONLY_EXPAND, resources.get_balance),
    _row("GET", "/v1/account", "account_read", ONLY_EXPAND, resources.get_account),
    _row("PATCH", "/v1/account", "account_write", UPDATE_ACCOUNT, resources.patch_account),
    _row("GET", "/v1/events", "event_read", LIST_EVENTS, resources.list_events),
    _row("GET", "/v1/events/{id}", "event_read", ONLY_EXPAND, resources.getter("event", "id")),
    _row("GET", _ENDPOINTS, "webhook_read", LIST_PAGE, resources.list_endpoints),
    _row("POST", _ENDPOINTS, "webhook_write", CREATE_WEBHOOK_ENDPOINT, resources.create_endpoint),
    _row(
        "POST",
        f"{_ENDPOINTS}/{{webhook_endpoint}}",
        "webhook_write",
        UPDATE_WEBHOOK_ENDPOINT,
        resources.update_endpoint,
    ),
)

UNUSED = tuple(
    _row("GET", f"/v1/{name}s", f"{name}_read", LIST_PAGE, lambda call: page([], call.params, call.path))
    for name in ("invoice", "payout", "subscription")
)
"""Empty lists that no client of ours needs: only to check whether a restricted key is refused here."""


EVERYTHING = "*"
"""The permission of an unrestricted key."""

_PLAYED = " If the vendor has it: the sandbox has only what Orrery uses (docs/reference/sandbox.md)."
_RETRY: dict[int, str] = {400: "false", 401: "false", 403: "false", 404: "false", 409: "true", 429: "true"}
_REQUEST_ID_LENGTH = 14
_FAULTS: Refusals = {"rate_limit": lambda _: api_error(429, "Request rate limit exceeded.", code="rate_limit")}


class Api:
    """Answers requests to /v1/…, each in the world of its key's mode, or in the first one.

    `keys` maps each API key to its permissions (`*`, `charge_read`, …).
    """

    def __init__(self, worlds: Sequence[World], keys: Mapping[str, frozenset[str]]) -> None:
        self._worlds = worlds
        self._keys = keys

    async def answer(self, request: Request) -> Response:
        """Answer one request, faults included."""
        mode = mode_of(_api_key(request))
        world = next((one for one in self._worlds if one.mode == mode), self._worlds[0])
        headers = {"Request-Id": new_id("req_", _REQUEST_ID_LENGTH), "Stripe-Version": API_VERSION}

        struck = world.faults.request("processor", request.url.path)
        refusals: Refusals = dict(_FAULTS)
        if request.method == "PATCH":
            refusals |= {"patch_404": lambda _: unrecognized_url(request.method, request.url.path)}

        async def carried_out() -> Response:
            return _answer(*await self._carry_out(world, request, struck, headers), headers)

        def shown(refusal: Refusal) -> Response:
            return _answer(refusal.status, _logged(world, refusal, headers), headers)

        return await struck.answer(refusals, carried_out, shown)

    async def _carry_out(
        self, world: World, request: Request, struck: FaultyRequest, headers: dict[str, str]
    ) -> tuple[int, Document]:
        world.expire_due()
        path = request.url.path
        permissions = self._permissions(_api_key(request))
        version = headers["Stripe-Version"] = known_version(request.headers.get("stripe-version", API_VERSION))
        if (found := matched((*OPERATIONS, *UNUSED), request.method, path)) is None:
            raise unrecognized_url(request.method, path, _PLAYED)
        operation, match = found
        _check_permission(frozenset[str]() if struck.take("no_permission") else permissions, operation, request)
        in_query = request.method in {"GET", "DELETE"}
        form = parse_form(request.scope["query_string"] if in_query else await request.body())
        name = (*match.groups(), "")[0]

        async def run() -> Document:
            if (slow := struck.take("latency")) is not None:
                await world.clock.sleep(1.0 if slow.value is None else slow.value)
            call = ApiCall(world, path, name, read_parameters(operation.run.parameters, form), version)
            if struck.take("server_error"):
                raise api_error(500, "An unknown error occurred.", "api_error")
            return expand(world, operation.run.run(call), call.params.get("expand", []))

        key = request.headers.get("idempotency-key") if request.method == "POST" else None
        if key is None:
            return 200, await run()
        return await _run_once(world, run, key, json.dumps([path, form], sort_keys=True), headers)

    def _permissions(self, key: str) -> frozenset[str]:
        if not key:
            raise api_error(401, "You did not provide an API key: send it in the Authorization header.")
        if key not in self._keys:
            raise api_error(401, f"Invalid API Key provided: {_masked(key)}")
        return self._keys[key]


def _logged(world: World, refusal: Refusal, headers: Mapping[str, str]) -> Document:
    error: Document = refusal.body["error"]
    return {"error": error | {"request_log_url": f"{world.base_url}/#{headers['Request-Id']}"}}


async def _run_once(
    world: World, run: Callable[[], Awaitable[Document]], key: str, asked: str, headers: dict[str, str]
) -> tuple[int, Document]:
    headers["Idempotency-Key"] = key
    first = first_answer(world, key, asked)
    if first is not None:
        headers |= {"Idempotent-Replayed": "true", "Original-Request": first["request_id"]}
        return first["status"], first["body"]
    world.keys_in_use.add(key)
    try:
        status, body = 200, await run()
    except Refusal as refusal:
        if "param" in refusal.body["error"]:  # a failed validation, which the vendor does not store
            raise
        status, body = refusal.status, _logged(world, refusal, headers)
    finally:
        world.keys_in_use.discard(key)
    answer: Document = {"asked": asked, "status": status, "body": body, "request_id": headers["Request-Id"]}
    world.state.save({"object": _KIND, "id": key, "created": world.now(), **answer})
    return status, body


def _answer(status: int, body: Document, headers: dict[str, str]) -> Response:
    if status in _RETRY:
        headers["Stripe-Should-Retry"] = _RETRY[status]
    return Response(json.dumps(body, indent=2), status, headers, "application/json")


def _api_key(request: Request) -> str:
    """Return the key as a bearer, or as the owner's curl sends it by the how-to; empty without one."""
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "basic":
        try:
            credentials = b64decode(credentials).decode(errors="replace").partition(":")[0]
        except ValueError:
            return ""
    return credentials.strip()


_SHOWABLE = 24
"""Characters of a key from which its first eight and its last four give nothing away."""


def _masked(key: str) -> str:
    """Return a key as the vendor shows it: its kind and its last four characters."""
    if len(key) < _SHOWABLE:
        return "*" * len(key)
    return f"{key[:8]}{'*' * (len(key) - 12)}{key[-4:]}"


def _check_permission(held: frozenset[str], operation: Operation[ApiRun], request: Request) -> None:
    [needed] = operation.right
    if held & {EVERYTHING, needed, needed.replace("_read", "_write")}:
        return
    message = (
        f"The provided key '{_masked(_api_key(request))}' does not have the required permissions for this "
        f"endpoint on account '{ACCOUNT_ID}'. Having the 'rak_{needed}' permission would allow this request to "
        "continue."
    )
    raise api_error(403, message, code="more_permissions_required")
