"""Why the identity platform refuses, in sentences; its own may name a person, so only its numbers are quoted."""

import re
from collections.abc import Mapping
from typing import Any, cast

from orrery.ports.identity import IdentityRefused

_SENTENCES = {
    "50020": "this account is not in the track's tenant",
    "50034": "this account is not in the track's tenant",
    "50058": "no account is signed in there",
    "53003": "the tenant's policy forbids it: sign in with `--browser`, or on a device that the policy allows",
    "65001": "the app's permissions have no consent: sign in with `--browser` to consent, or ask an "
    "administrator of the tenant",
    "65004": "the consent was declined",
    "70017": "the sign-in was declined",
    "70020": "the code was not typed in time",
    "90002": "there is no such tenant: check `tenant` in the settings",
    "90094": "an administrator of the tenant must consent to the app's permissions",
    "700016": "there is no such app in the tenant: check `client` in the settings",
    "7000218": "the registered app does not allow public clients: switch on `Allow public client flows`",
}
"""By the number of the vendor's error (AADSTS)."""

_ERRORS = {
    "access_denied": "the sign-in or the consent was declined",
    "authorization_declined": "the sign-in was declined",
    "authorization_pending": "the code was not typed in time",
    "code_expired": "the code was not typed in time",
    "expired_token": "the code was not typed in time",
}
"""By the name of the error, where it has no number that is known."""


def refusal(answer: Mapping[str, Any]) -> IdentityRefused:
    """Return the error of an answer without tokens."""
    error, numbers = _word(answer.get("error")), _numbers(answer)
    why = next((_SENTENCES[one] for one in numbers if one in _SENTENCES), _ERRORS.get(error, ""))
    code = ", ".join([*([error] if error else []), *(f"AADSTS{one}" for one in numbers)]) or "no reason given"
    sentence = f"The identity provider refuses the sign-in: {why} ({code})." if why else f"Its code: {code}."
    return IdentityRefused(
        sentence if why else f"The identity provider refuses the sign-in. {sentence}", code=error
    )


def _numbers(answer: Mapping[str, Any]) -> list[str]:
    codes = answer.get("error_codes")
    if isinstance(codes, list):
        return [str(one) for one in cast("list[object]", codes) if isinstance(one, int)]
    return re.findall(r"AADSTS(\d{4,9})\b", str(answer.get("error_description", "")))[:1]


def _word(value: object) -> str:
    return value if isinstance(value, str) and re.fullmatch(r"[a-z_]{1,60}", value) else ""
