"""The processor's other objects: prices, charges, configurations, fraud lists, events, endpoints, account."""

import hashlib
import hmac
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import cast

from orrery.sandbox.ground import Document
from orrery.sandbox.processor.account import ACCOUNT_CURRENCY, ACCOUNT_ID, ACCOUNT_UNITS_PER, new_configuration
from orrery.sandbox.processor.call import ApiCall, page
from orrery.sandbox.processor.sessions import ENABLED_METHODS
from orrery.sandbox.processor.world import API_VERSION, World, invalid, known_version, new_id

EVERY_EVENT = "*"
_PRIVATE = ("_secrets", "_configured")


def new_endpoint(params: Document, created: int, secrets: tuple[str, ...], key: str | None = None) -> Document:
    """Return an endpoint; its secrets stay in fields of the sandbox's own."""
    return {
        "id": key or new_id("we_"),
        "object": "webhook_endpoint",
        "api_version": params.get("api_version"),
        "application": None,
        "created": created,
        "description": params.get("description"),
        "enabled_events": params["enabled_events"],
        "livemode": False,
        "metadata": params.get("metadata", {}),
        "status": "enabled",
        "url": params["url"],
        "_secrets": list(secrets),
        "_configured": key is not None,
    }


def endpoint_view(endpoint: Document) -> Document:
    """Return the endpoint without the sandbox's own fields."""
    return {key: value for key, value in endpoint.items() if key not in _PRIVATE}


def configure_endpoints(world: World, wanted: tuple[tuple[str, tuple[str, ...]], ...]) -> None:
    """Make the endpoints of the configuration exist with their secrets, and those no longer in it go."""
    known = {endpoint["id"]: endpoint for endpoint in world.state.newest_first("webhook_endpoint")}
    kept: set[str] = set()
    for url, secrets in wanted:
        key = "we_" + hashlib.sha256(url.encode()).hexdigest()[:24]
        params = {"url": url, "enabled_events": [EVERY_EVENT], "api_version": API_VERSION}
        created = known[key]["created"] if key in known else world.now()
        world.save(new_endpoint(params, created, secrets, key))
        kept.add(key)
    for key, endpoint in known.items():
        if endpoint["_configured"] and key not in kept:
            world.state.remove("webhook_endpoint", key)


def wants(endpoint: Document, kind: str) -> bool:
    """Return whether the endpoint gets events of this type."""
    return endpoint["status"] == "enabled" and bool({EVERY_EVENT, kind} & set(endpoint["enabled_events"]))


def sign(body: bytes, secrets: list[str], now: int) -> str:
    """Return the Stripe-Signature header: one v1 a secret, so that secrets can be rotated."""
    signed = f"{now}.".encode() + body
    parts = [hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in secrets]
    return ",".join([f"t={now}", *(f"v1={part}" for part in parts)])


EVENTS_KEPT_SECONDS = 30 * 24 * 3600
"""How long the vendor shows an event."""

_CONFIGURATION = "payment_method_configuration"
_ITEM = "radar.value_list_item"
_LIST = "radar.value_list"
_ENDPOINT = "webhook_endpoint"


def lister(kind: str) -> Callable[[ApiCall], Document]:
    """Return the operation that lists the objects of a kind, newest first."""
    return lambda call: page(call.world.state.newest_first(kind), call.params, call.path)


def getter(kind: str, name: str) -> Callable[[ApiCall], Document]:
    """Return the operation that reads an object of a kind, by the id of that name in the path."""
    return lambda call: call.world.find(kind, call.id, name)


def list_reviews(call: ApiCall) -> Document:
    """GET /v1/reviews: the open ones."""
    reviews = (review for review in call.world.state.newest_first("review") if review["open"])
    return page(reviews, call.params, call.path)


def create_configuration(call: ApiCall) -> Document:
    """POST /v1/payment_method_configurations."""
    parent = call.params.get("parent")
    if parent is not None:
        _ = call.world.find(_CONFIGURATION, parent, "parent", status=400)
    name = call.params.get("name", "Unnamed")
    configuration = new_configuration(new_id("pmc_"), name, is_default=False, parent=parent)
    return _switched(call, configuration)


def update_configuration(call: ApiCall) -> Document:
    """POST /v1/payment_method_configurations/{configuration}."""
    configuration = call.world.find(_CONFIGURATION, call.id, "configuration")
    configuration |= {key: call.params[key] for key in ("name", "active") if key in call.params}
    return _switched(call, configuration)


def _switched(call: ApiCall, configuration: Document) -> Document:
    for slug, switch in call.params.items():
        shown = configuration.get(slug)
        if isinstance(shown, dict):
            preference = switch.get("display_preference", {}).get("preference", "none")
            shown["display_preference"] |= {
                "preference": preference,
                "value": "on" if preference == "on" else "off",
            }
            shown["available"] = preference == "on" and slug in ENABLED_METHODS
    call.world.save(configuration)
    return configuration


def list_value_lists(call: ApiCall) -> Document:
    """GET /v1/radar/value_lists."""
    lists = [_with_items(call, one) for one in call.world.state.newest_first(_LIST)]
    return page(lists, call.params, call.path)


def _with_items(call: ApiCall, value_list: Document) -> Document:
    url = f"/v1/radar/value_list_items?value_list={value_list['id']}"
    return value_list | {"list_items": page(_items(call), {"value_list": value_list["id"]}, url)}


def _items(call: ApiCall) -> list[Document]:
    return list(call.world.state.newest_first(_ITEM))


def list_value_list_items(call: ApiCall) -> Document:
    """GET /v1/radar/value_list_items: needs `value_list`; `value` is found within others, as documented."""
    _ = call.world.find(_LIST, call.params["value_list"], "value_list")
    params = dict(call.params)
    like: str = params.pop("value", "").lower()
    return page((one for one in _items(call) if like in one["value"].lower()), params, call.path)


def create_value_list_item(call: ApiCall) -> Document:
    """POST /v1/radar/value_list_items."""
    value_list = call.world.find(_LIST, call.params["value_list"], "value_list", status=400)
    value: str = call.params["value"]
    item = {
        "id": new_id("rsli_"),
        "object": _ITEM,
        "created": call.world.now(),
        "created_by": value_list["created_by"],
        "livemode": False,
        "value": value,
        "value_list": value_list["id"],
    }
    there: list[str] = [one["value"] for one in _items(call) if one["value_list"] == value_list["id"]]
    if value.lower() in (one.lower() for one in there):
        raise invalid("This value is already in the list.", "value", "resource_already_exists")
    call.world.save(item)
    return item


def delete_value_list_item(call: ApiCall) -> Document:
    """DELETE /v1/radar/value_list_items/{item}."""
    item = call.world.find(_ITEM, call.id, "item")
    call.world.state.remove(_ITEM, item["id"])
    return item | {"deleted": True}


def get_balance(call: ApiCall) -> Document:
    """GET /v1/balance: what succeeded and was not refunded, in the account's own currency."""
    settled = sum(_settled(charge) for charge in call.world.state.newest_first("charge"))
    available = [{"amount": settled, "currency": ACCOUNT_CURRENCY, "source_types": {"card": settled}}]
    pending = [{"amount": 0, "currency": ACCOUNT_CURRENCY, "source_types": {"card": 0}}]
    return {"object": "balance", "available": available, "livemode": call.world.livemode, "pending": pending}


def _settled(charge: Document) -> int:
    kept = charge["amount"] - charge["amount_refunded"] if charge["status"] == "succeeded" else 0
    return round(kept * ACCOUNT_UNITS_PER.get(charge["currency"], 1.0))


def get_account(call: ApiCall) -> Document:
    """GET /v1/account."""
    return call.world.find("account", ACCOUNT_ID, "account")


def patch_account(call: ApiCall) -> Document:
    """PATCH /v1/account: spec 1 has it; the vendor itself would not know this route (decision 17)."""
    account = get_account(call)
    changes = {key: value for key, value in call.params.items() if key != "expand"}
    _merge(account, changes)
    call.world.record([account], ("account.updated", account))
    return account


def _merge(target: Document, changes: Document) -> None:
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(target.get(key), dict):
            _merge(target[key], cast("Document", value))
        else:
            target[key] = value


def list_events(call: ApiCall) -> Document:
    """GET /v1/events: those of the last 30 days."""
    params = dict(call.params)
    types = params.pop("types", None)
    delivered = params.pop("delivery_success", None)
    pattern: str = params.pop("type", "*")
    oldest = call.world.now() - EVENTS_KEPT_SECONDS
    events = (
        event
        for event in call.world.state.newest_first("event")
        if event["created"] > oldest
        and (types is None or event["type"] in types)
        and fnmatchcase(event["type"], pattern)
        and (delivered is None or (event["pending_webhooks"] == 0) == delivered)
    )
    return page(events, params, call.path)


def list_endpoints(call: ApiCall) -> Document:
    """GET /v1/webhook_endpoints."""
    found = page(call.world.state.newest_first(_ENDPOINT), call.params, call.path)
    return found | {"data": [endpoint_view(endpoint) for endpoint in found["data"]]}


def create_endpoint(call: ApiCall) -> Document:
    """POST /v1/webhook_endpoints: the one answer that shows the signing secret."""
    if "api_version" in call.params:
        _ = known_version(call.params["api_version"], "api_version")
    secret = new_id("whsec_sandbox_", 8)
    endpoint = new_endpoint(call.params, call.world.now(), (secret,))
    call.world.save(endpoint)
    return endpoint_view(endpoint) | {"secret": secret}


def update_endpoint(call: ApiCall) -> Document:
    """POST /v1/webhook_endpoints/{webhook_endpoint}: it is disabled or enabled, as in the dashboard."""
    endpoint = call.world.find(_ENDPOINT, call.id, "webhook_endpoint")
    endpoint["status"] = "disabled" if call.params.get("disabled") else "enabled"
    call.world.save(endpoint)
    return endpoint_view(endpoint)
