"""Settings from a file alone, without pydantic-settings: those of a role whose commands must start fast."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from orrery.app.deployment_files.anchoring import anchored
from orrery.app.deployment_files.sections import Settings, fields_of, settings_of
from orrery.app.deployment_files.toml_text import read_toml, unusable
from orrery.runtime.module import Role
from orrery.runtime.section import Mode


class PlainFile(BaseModel):
    """The keys of `orrery.toml` outside all sections, without the environment."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    mode: Mode = "live"


def plain_settings(file: Path | None, role: Role) -> Settings:
    """Return what a file says, or the defaults; raise `SettingsError` when it cannot be used."""
    found = read_toml(file) if file else {}
    try:
        read = create_model("PlainFile", __base__=PlainFile, **fields_of(role))(**found)
    except ValidationError as error:
        raise unusable(error) from None
    whole = anchored(read, file.parent if file else Path.cwd())
    return settings_of(whole.mode, role, whole)
