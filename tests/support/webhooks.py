"""Webhooks as the processor sends them, and as nobody should."""

import hashlib
import hmac
import json
from typing import Any

import httpx2

from tests.support.deployment import SIGNING_SECRET, Deployment

WEBHOOK = "/guided/api/webhook"


def signature(body: bytes, at: int, secret: str = SIGNING_SECRET) -> str:
    """Return the hex HMAC-SHA256 of `at.body`."""
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()


def header(body: bytes, at: int) -> str:
    """Return the Stripe-Signature header that the processor would send."""
    return f"t={at},v1={signature(body, at)}"


def signed(shop: Deployment, event: dict[str, Any] | list[Any] | str | float | None) -> tuple[bytes, str]:
    """Return a body and its header, signed now."""
    return sign_bytes(shop, json.dumps(event, indent=2).encode())


def sign_bytes(shop: Deployment, body: bytes) -> tuple[bytes, str]:
    """Return any body and its header, signed now."""
    return body, header(body, shop.sandbox.now())


def send(shop: Deployment, body: bytes, stripe_signature: str) -> httpx2.Response:
    """Post a webhook."""
    headers = {"Content-Type": "application/json", "Stripe-Signature": stripe_signature}
    return shop.client.post(shop.public + WEBHOOK, content=body, headers=headers)
