"""The section `[waitlist]` of `orrery.toml`."""

from pydantic import Field

from orrery.runtime.section import Section


class WaitlistSettings(Section):
    """How many entries there may be, and how many requests a client may make in a minute."""

    most: int = Field(100, ge=1)
    per_minute: int = Field(10, ge=1)
