"""The secret of the cloud layer: the URI of its webhook, which `apply` keeps (spec 3, Authentication)."""

from urllib.parse import urlsplit

from orrery.gateway.cloud.settings import CloudSettings
from orrery.runtime.secret import SecretKind, SecretUse, unused, why_no_single_value
from orrery.runtime.section import Mode, Sections

WEBHOOK_URI_FILE = "gateway_webhook_uri"
"""The secret's name, and that of its file."""


def _use(sections: Sections) -> SecretUse:
    if sections[CloudSettings].machine is None:
        return unused("No machine is named in [cloud].")
    return SecretUse(needed=False, stops="", idle="`orrery gateway cloud apply` makes and keeps it.")


def _why_no_uri(name: str, text: str, _mode: Mode) -> str:
    if why := why_no_single_value(name, text):
        return why
    parts = urlsplit(text)
    if parts.scheme != "https" or not parts.hostname:
        return f"The secret {name} is no web address: `orrery gateway cloud apply` makes a new one without it."
    return ""


WEBHOOK_URI = SecretKind(use=_use, unusable=_why_no_uri)
