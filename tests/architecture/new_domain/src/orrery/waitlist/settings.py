"""The section `[waitlist]` of `orrery.toml`."""

from pydantic import Field

from orrery.runtime.section import Section


class WaitlistSettings(Section):
    """How many entries there may be."""

    most: int = Field(100, ge=1)
