"""Whether a secret has the prefix and form that its vendor gives it. Pure; no message contains a value."""

import json
import re
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from orrery.settings.secrets import Secrets
from orrery.settings.unusable import PROCESSOR_KEY, Mode, why_unusable
from orrery.syntax.base_url import THIS_MACHINE

_KINDS = {"sk": "unrestricted, though a restricted one (rk_) is advised", "rk": "restricted"}
_HASH = re.compile(r"[0-9a-fA-F]{64}")
_HINTS = {
    "push_token": (re.compile(r"tk_[A-Za-z0-9]+"), "ntfy's own tokens begin with tk_; this one does not"),
    "tracker_token": (
        re.compile(r"(?:gh[opsu]_|github_pat_)[A-Za-z0-9_]+|[0-9a-f]{40}"),
        "it has not the form of GitHub's tokens",
    ),
}


@dataclass(frozen=True, slots=True)
class Form:
    """The fault in a secret's form, as a sentence, or else a note about it, as a phrase."""

    wrong: str = ""
    note: str = ""


def form_of(name: str, secrets: Secrets, mode: Mode) -> Form:
    """Return how a secret that is present looks."""
    if why := why_unusable(name, secrets.reveal(name) or "", mode):
        return Form(why)
    match name:
        case "processor_api_key":
            return _processor_key(secrets.normalized(name))
        case "webhook_signing_secret" | "access_service_token":
            return Form(note="several, for a rotation" if len(secrets.parts(name)) > 1 else "")
        case "admin_password_hash":
            return _password_hash(secrets.normalized(name))
        case "analytics_service_account_key":
            return _service_account(secrets.normalized(name))
        case _:
            return _hint(name, secrets.normalized(name))


def _processor_key(key: str) -> Form:
    found = PROCESSOR_KEY.fullmatch(key)
    return Form(note=f"a {found['mode']} key, {_KINDS[found['kind']]}" if found else "")


def _password_hash(text: str) -> Form:
    return Form() if _HASH.fullmatch(text) else Form("It is no SHA-256 in hexadecimal digits: nobody is admitted.")


def _hint(name: str, text: str) -> Form:
    form, note = _HINTS.get(name, (None, ""))
    return Form() if form is None or form.fullmatch(text) else Form(note=note)


def is_service_account(text: str) -> bool:
    """Return whether a text is the key file of a service account, as far as its JSON tells."""
    return not isinstance(_key_file(text), Form)


def _service_account(text: str) -> Form:
    given = _key_file(text)
    if isinstance(given, Form):
        return given
    return Form() if _loads(given.get("private_key")) else Form("The private key in it cannot be read.")


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
        load_pem_private_key(pem.encode() if isinstance(pem, str) else b"", password=None)
    except (TypeError, ValueError, UnsupportedAlgorithm):
        return False
    return True
