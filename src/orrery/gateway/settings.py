"""The section `[gateway]` of `orrery.toml`, as the site reads it."""

from pydantic import Field

from orrery.runtime.section import Section

MINIMUM_GRACE = 120
"""Seconds: two pings. One that is late is no silence."""


class GatewaySettings(Section):
    """Whether a guest pings this site, and for how many seconds it may be silent (decision 40).

    The default is longer than a shutdown of the gateway's machine takes, which is 3 to 7 minutes (spec 3, Limits).
    `token_script` is on the gateway's machine, and is only named in advice.
    """

    pings: bool = False
    ping_grace: int = Field(600, ge=MINIMUM_GRACE, le=86_400)
    token_script: str | None = Field(None, pattern=r"^/[A-Za-z0-9_.@/-]{1,200}$")
