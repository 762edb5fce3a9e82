"""The secrets of the live counter: the owner's password, and the keys of the provider and of the tracker."""

import json
import re
from typing import cast
from urllib.parse import urlsplit

from orrery.live.settings import LiveSettings, MonitorSettings
from orrery.runtime.secret import Form, SecretKind, SecretUse, unused, why_short
from orrery.runtime.section import Mode, Sections
from orrery.syntax.base_url import THIS_MACHINE

_HASH = re.compile(r"[0-9a-fA-F]{64}")
_TRACKER_TOKEN = re.compile(r"(?:gh[opsu]_|github_pat_)[A-Za-z0-9_]+|[0-9a-f]{40}")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{20,}")


def is_service_account(text: str) -> bool:
    """Return whether a text is the key file of a service account, as far as its JSON shows."""
    return not isinstance(_key_file(text), Form)


def _counts(sections: Sections) -> bool:
    return sections[LiveSettings].property_id is not None


def _password_use(sections: Sections) -> SecretUse:
    return SecretUse(
        _counts(sections),
        "no owner is admitted: no refresh from outside, no owner's reads, no owner's page.",
        idle="Without it the owner's page admits no one.",
    )


def _password_form(text: str, _mode: Mode) -> Form:
    return Form() if _HASH.fullmatch(text) else Form("It is no SHA-256 in hexadecimal digits: it admits no owner.")


def _key_use(sections: Sections) -> SecretUse:
    if not _counts(sections):
        return unused("No analytics property is configured.")
    return SecretUse(needed=True, stops="the live counter is not refreshed, and is empty after 30 minutes.")


def _key_form(text: str, _mode: Mode) -> Form:
    given = _key_file(text)
    if isinstance(given, Form):
        return given
    return Form() if _loads(given.get("private_key")) else Form("The private key in it cannot be read.")


def _key_values(text: str) -> list[str]:
    """Return a JSON key file's text, and each string in it that looks like the key or a line of the key."""
    lines = _BASE64.findall(text.replace("\\n", "\n"))
    return [part for part in (text, *lines) if part]


def _key_file(text: str) -> dict[str, object] | Form:
    try:
        read: object = json.loads(text)
    except (ValueError, RecursionError):
        return Form("It is no JSON: put the key file there as it was downloaded.")
    given = cast("dict[str, object]", read) if isinstance(read, dict) else {}
    if given.get("type") != "service_account" or not isinstance(given.get("client_email"), str):
        return Form("It is not the key file of a service account.")
    if not _is_safe(given.get("token_uri")):
        return Form("Its token address is not https://.")
    return given


def _is_safe(address: object) -> bool:
    if not isinstance(address, str):
        return False
    try:
        parts = urlsplit(address)
    except ValueError:  # brackets that hold no address
        return False
    return parts.scheme == "https" or parts.hostname in THIS_MACHINE


def _loads(pem: object) -> bool:
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415  only this check needs the library
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415  the same

    try:
        _ = load_pem_private_key(pem.encode() if isinstance(pem, str) else b"", password=None)
    except (TypeError, ValueError, UnsupportedAlgorithm):
        return False
    return True


def _tracker_use(sections: Sections) -> SecretUse:
    if _counts(sections) and sections[MonitorSettings].tracker == "github":
        return SecretUse(needed=True, stops="no issue is opened when the counter degrades.")
    return unused("No issue is opened with a tracker that wants one.")


def _tracker_form(text: str, _mode: Mode) -> Form:
    return Form(note="" if _TRACKER_TOKEN.fullmatch(text) else "it has not the form of GitHub's tokens")


PASSWORD_HASH = SecretKind(use=_password_use, form=_password_form)

SERVICE_ACCOUNT_KEY = SecretKind(
    use=_key_use,
    unusable=lambda name, text, _: why_short(
        name, text
    ),  # what else is wrong with the file stops the counter alone
    form=_key_form,
    values=_key_values,
    is_certain=True,
)
"""The JSON key file of the analytics provider's service account, as it was downloaded."""

TRACKER_TOKEN = SecretKind(use=_tracker_use, form=_tracker_form)
