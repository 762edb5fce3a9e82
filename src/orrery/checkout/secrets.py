"""The secrets of the checkout: the processor's API key and signing secret, and the practice sites' token."""

import re

from orrery.checkout.settings import CheckoutSettings, SitesSettings
from orrery.runtime.secret import (
    Form,
    SecretKind,
    SecretUse,
    one_a_line,
    unused,
    why_badly_written,
    why_no_single_value,
)
from orrery.runtime.section import Mode, Sections

_API_KEY = re.compile(r"(?P<kind>sk|rk)_(?:[a-z]+_)?(?P<mode>live|test)_\S+")
"""A secret key of the processor or a restricted one; an organization's has a further part (``sk_org_live_…``)."""

_SIGNING_SECRET = re.compile(r"whsec_\S+")

_MISTAKES = (
    (re.compile(r"pk_(?:[a-z]+_)?(?:live|test)_"), "a publishable key (pk_…)"),
    (re.compile(r"[sr]k_(?:[a-z]+_)?(?:live|test)_"), "an API key of the processor"),
    (re.compile(r"whsec_"), "a webhook signing secret (whsec_…)"),
)
"""The prefixes of the processor's values: in a wrong place such a value would be sent to another company."""

_RIGHTS = {"sk": "unrestricted, though a restricted one (rk_) is advised", "rk": "restricted"}


def _use(sections: Sections, stops: str) -> SecretUse:
    if sections[CheckoutSettings].products:
        return SecretUse(needed=True, stops=stops, essential=True)
    return unused("No product is configured.")


def _why_no_api_key(name: str, text: str, mode: Mode) -> str:
    if why := why_no_single_value(name, text):
        return why
    found = _API_KEY.fullmatch(text)
    if found is None:
        kind = API_KEY.recognized(text) or "no API key of the processor"
        return f"{name} is {kind}: put a secret key (sk_…) or a restricted one (rk_…) there."
    if (found["mode"] == "live") != (mode == "live"):
        return f"{name} is a {found['mode']} key, but the mode is {mode}."
    return ""


def _api_key_form(text: str, _mode: Mode) -> Form:
    found = _API_KEY.fullmatch(text)
    return Form(note=f"a {found['mode']} key, {_RIGHTS[found['kind']]}" if found else "")


def _why_no_signing_secret(name: str, text: str, _mode: Mode) -> str:
    return next((why for part in text.split() if (why := _why_no_line(name, part))), "")


def _why_no_line(name: str, part: str) -> str:
    advice = "put the endpoint's signing secret (whsec_…) there."
    if why := why_badly_written(name, part):
        return why
    if _SIGNING_SECRET.fullmatch(part):
        return ""
    kind = API_KEY.recognized(part)
    return f"{name} holds {kind}: {advice}" if kind else f"A line of {name} is no signing secret: {advice}"


def _why_no_tokens(name: str, text: str, _mode: Mode) -> str:
    return next((why for line in one_a_line(text) if (why := why_no_single_value(name, line))), "")


def _note_several(values: list[str]) -> Form:
    return Form(note="several, for a rotation" if len(values) > 1 else "")


API_KEY = SecretKind(
    use=lambda sections: _use(sections, "the checkout answers 503 and nothing is sold or reconciled."),
    unusable=_why_no_api_key,
    form=_api_key_form,
    is_certain=True,
    recognizes=_MISTAKES,
)

SIGNING_SECRET = SecretKind(
    use=lambda sections: _use(
        sections, "the webhook answers 503; who pays gets access only when the reconciliation comes round."
    ),
    unusable=_why_no_signing_secret,
    form=lambda text, _: _note_several(text.split()),
    values=str.split,
    several=True,
    is_certain=True,
)
"""One secret a line: several during a rotation (decision 7)."""


def _use_of_token(sections: Sections) -> SecretUse:
    if sections[CheckoutSettings].needs_access_check(sections[SitesSettings].sites()):
        return _use(sections, "practice sites cannot ask who has access; their pages stay closed.")
    return unused("No site asks who has access: their web servers ask the access gate.")


SERVICE_TOKEN = SecretKind(
    use=_use_of_token,
    unusable=_why_no_tokens,
    form=lambda text, _: _note_several(one_a_line(text)),
    values=one_a_line,
    several=True,
)
"""One token a line: several during a rotation."""
