"""The base class of the settings' sections."""

from pydantic import BaseModel, ConfigDict

from orrery.errors import Invalid

PREFIX = "ORRERY_"
"""The prefix of our environment variables."""


class SettingsError(Invalid):
    """The settings cannot be used; nothing was started. The message holds no values."""


class Section(BaseModel):
    """Frozen; refuses unknown keys, and never repeats a value in an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
