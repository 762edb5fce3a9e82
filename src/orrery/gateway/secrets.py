"""The secret of the gateway's site: the token of the pings."""

from orrery.gateway.settings import GatewaySettings
from orrery.runtime.secret import SecretKind, SecretUse, unused, why_no_single_value
from orrery.runtime.section import Mode, Sections

SHORTEST_TOKEN = 32
"""Characters: `openssl rand -hex 32` makes 64."""


def _use(sections: Sections) -> SecretUse:
    if not sections[GatewaySettings].pings:
        return unused("No guest pings this site.")
    return SecretUse(needed=True, stops="pings get a 503, and whether the gateway works is unknown.")


def _why_no_token(name: str, text: str, _mode: Mode) -> str:
    if why := why_no_single_value(name, text):
        return why
    if len(text) < SHORTEST_TOKEN:
        return f"The secret {name} is shorter than {SHORTEST_TOKEN} characters: type `openssl rand -hex 32`."
    return ""


PING_TOKEN = SecretKind(use=_use, unusable=_why_no_token)
