"""Why a text cannot be a certain secret: the texts that people paste by mistake. No message contains a value."""

import re
from typing import Literal

Mode = Literal["live", "test", "sandbox"]

SHORTEST_SECRET = 8
"""Characters: a shorter secret can be guessed, and hiding it in a log would hide harmless texts."""

BLANKS_ALLOWED = "mail_password"
"""Some mail services hand out passwords in groups of four; its characters are the owner's affair."""

PROCESSOR_KEY = re.compile(r"(?P<kind>sk|rk)_(?:[a-z]+_)?(?P<mode>live|test)_\S+")
"""A secret key of the processor or a restricted one; an organization's has a further part (``sk_org_live_…``)."""

_SIGNING_SECRET = re.compile(r"whsec_\S+")

_QUOTES = "'\"`\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"

_BYTE_ORDER_MARK = "\ufeff"

_KINDS = (
    (re.compile(r"pk_(?:[a-z]+_)?(?:live|test)_"), "a publishable key (pk_…)"),
    (re.compile(r"[sr]k_(?:[a-z]+_)?(?:live|test)_"), "an API key of the processor"),
    (re.compile(r"whsec_"), "a webhook signing secret (whsec_…)"),
)
"""The prefixes of the processor's values: in a wrong place such a value would be sent to another company."""


def why_unusable(name: str, text: str, mode: Mode) -> str:
    """Return in a sentence why `text` cannot be the secret `name`, or nothing. `text` has no blanks around it."""
    match name:
        case "analytics_service_account_key":
            return _why_short(name, text)  # what else is wrong with the file stops the counter alone
        case "webhook_signing_secret":
            return next((why for part in text.split() if (why := _why_no_signing_secret(part))), "")
        case "access_service_token":
            tokens = [line for line in map(str.strip, text.splitlines()) if line]
            found = (_why_no_single_value(name, one) or _why_misplaced(name, one) for one in tokens)
            return next((why for why in found if why), "")
        case "processor_api_key":
            return _why_no_single_value(name, text) or _why_no_processor_key(text, mode)
        case _:
            return _why_no_single_value(name, text) or _why_misplaced(name, text)


def _why_no_signing_secret(part: str) -> str:
    name, advice = "webhook_signing_secret", "put the endpoint's signing secret (whsec_…) there."
    if why := _why_badly_written(name, part):
        return why
    if _SIGNING_SECRET.fullmatch(part):
        return ""
    kind = _kind(part)
    return f"{name} holds {kind}: {advice}" if kind else f"A line of {name} is no signing secret: {advice}"


def _why_no_processor_key(key: str, mode: Mode) -> str:
    name, advice = "processor_api_key", "put a secret key (sk_…) or a restricted one (rk_…) there."
    found = PROCESSOR_KEY.fullmatch(key)
    if found is None:
        return f"{name} is {_kind(key) or 'no API key of the processor'}: {advice}"
    if (found["mode"] == "live") != (mode == "live"):
        return f"{name} is a {found['mode']} key, but the mode is {mode}."
    return ""


def _why_misplaced(name: str, text: str) -> str:
    kind = _kind(text)
    return f"The secret {name} is {kind}: put the right value there." if kind else ""


def _why_no_single_value(name: str, text: str) -> str:
    if len(text.splitlines()) > 1:
        return f"The secret {name} has more than one line: put one value there, and nothing else."
    if name != BLANKS_ALLOWED and len(text.split()) > 1:
        return f"The secret {name} has white space inside: put one value there, and nothing else."
    return _why_badly_written(name, text)


def _why_short(name: str, part: str) -> str:
    return (
        f"The secret {name} is shorter than {SHORTEST_SECRET} characters." if len(part) < SHORTEST_SECRET else ""
    )


def _why_badly_written(name: str, part: str) -> str:
    checked = part[:1] if name == BLANKS_ALLOWED else part
    if checked.startswith(_BYTE_ORDER_MARK) or not checked.isprintable():
        return (
            f"The secret {name} holds an invisible character, as a byte order mark: write it anew as plain text."
        )
    if name != BLANKS_ALLOWED and part != part.strip(_QUOTES):
        return f"The secret {name} stands in quotes: leave them out."
    return _why_short(name, part)


def _kind(text: str) -> str:
    return next((kind for form, kind in _KINDS if form.match(text)), "")
