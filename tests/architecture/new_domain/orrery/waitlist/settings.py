"""The section `[waitlist]` of `orrery.toml`."""

from pydantic import Field

from orrery.runtime.section import Section


class WaitlistSettings(Section):
    """How many may wait."""

    most: int = Field(100, ge=1)
