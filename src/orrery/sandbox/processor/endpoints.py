"""Webhook endpoints: their objects, their event types, and their signatures."""

import hashlib
import hmac
import re

from orrery.sandbox.processor.errors import invalid
from orrery.sandbox.processor.versions import known_version
from orrery.sandbox.processor.world import API_VERSION, World, new_id
from orrery.sandbox.state import Document

EVERY_EVENT = "*"
_EVENT_NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")
_URL = re.compile(r"https?://\S+")
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


def read_endpoint_changes(params: Document) -> Document:
    """Return the changes, after checking the fields that have a form."""
    if "url" in params and not _URL.fullmatch(params["url"]):
        raise invalid("Not a valid URL", "url", "url_invalid")
    for number, name in enumerate(params.get("enabled_events", [])):
        if name != EVERY_EVENT and not _EVENT_NAME.fullmatch(name):
            raise invalid(f"Invalid event type: {name[:80]}", f"enabled_events[{number}]")
    if "api_version" in params:
        _ = known_version(params["api_version"], "api_version")
    changes = {key: value for key, value in params.items() if key not in ("disabled", "expand")}
    if "disabled" in params:
        changes["status"] = "disabled" if params["disabled"] else "enabled"
    return changes


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
