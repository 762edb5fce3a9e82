"""Webhooks as the processor sends them, and as nobody should."""

import hmac
import json
from typing import Any

import httpx2

from tests.support.deployment import SIGNING_SECRET, Deployment

WEBHOOK = "/guided/api/webhook"


def signed(shop: Deployment, event: dict[str, Any] | list[Any] | str | float | None) -> tuple[bytes, str]:
    """Return a body and its header, signed now."""
    return sign_bytes(shop, json.dumps(event, indent=2).encode())


def sign_bytes(shop: Deployment, body: bytes) -> tuple[bytes, str]:
    """Return any body and its Stripe-Signature header, signed now."""
    at = shop.sandbox.now()
    return body, f"t={at},v1={hmac.digest(SIGNING_SECRET.encode(), b'%d.' % at + body, 'sha256').hex()}"


def send(shop: Deployment, body: bytes, stripe_signature: str) -> httpx2.Response:
    """Post a webhook."""
    headers = {"Content-Type": "application/json", "Stripe-Signature": stripe_signature}
    return shop.client.post(shop.public + WEBHOOK, content=body, headers=headers)
