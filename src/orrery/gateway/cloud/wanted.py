"""What should be in the cloud, from the settings (spec 3, Cloud resources); pure.

The webhook's name ends with a digest of its URI: so the one URI that is kept shows which webhook is its own, and
what a crash left behind is found by its name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from orrery.ports.cloud import AlertKind

WEBHOOK_LIFETIME = timedelta(days=365)
"""How long a webhook lasts (spec 3, Limits): the vendor allows no longer, and no extension."""

CONDITIONS: Mapping[AlertKind, tuple[tuple[str, str], ...]] = {
    "health": (("category", "ResourceHealth"), ("properties.currentHealthStatus", "Unavailable")),
    "deallocate": (
        ("category", "Administrative"),
        ("operationName", "Microsoft.Compute/virtualMachines/deallocate/action"),
        ("status", "Succeeded"),
    ),
}
"""What each alert waits for: an event for which all of these hold."""

_DIGITS = 8


@dataclass(frozen=True, slots=True)
class WantedResources:
    """The names in the settings, and the text of the runbook once the identity is known."""

    identity: str
    account: str
    runbook: str
    webhook: str
    action_group: str
    alerts: Mapping[AlertKind, str]
    email: str


def webhook_name(prefix: str, uri: str) -> str:
    """Return the name of the webhook with a URI."""
    return f"{prefix}-{sha256(uri.encode()).hexdigest()[:_DIGITS]}"


def is_own(name: str, prefix: str) -> bool:
    """Return whether a webhook's name is one that `webhook_name` makes."""
    return re.fullmatch(rf"{re.escape(prefix)}-[0-9a-f]{{{_DIGITS}}}", name, re.IGNORECASE) is not None


def same_id(one: str, other: str) -> bool:
    """Return whether two ids name the same resource: the cloud does not keep their case."""
    return one.rstrip("/").lower() == other.rstrip("/").lower()
