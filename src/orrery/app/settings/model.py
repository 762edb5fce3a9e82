"""The settings of one role: its modules' sections, made into one model of `orrery.toml`."""

import json
from functools import cache
from hashlib import sha256

from pydantic import create_model
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from orrery.app.deployment_files.sections import Settings, fields_of, sections_of
from orrery.app.deployment_files.variables import PREFIX
from orrery.app.modules import MODULES
from orrery.runtime.module import Role
from orrery.runtime.section import Mode


class SettingsFile(BaseSettings):
    """The keys of `orrery.toml` outside all sections; the model of a role has its sections beside them."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True, hide_input_in_errors=True
    )

    mode: Mode = "live"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put the environment before the file; read no .env and no secret here."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings


@cache
def file_model(role: Role) -> type[SettingsFile]:
    """Return the model of the file for a role: another role's sections may be there, and are not looked at."""
    return create_model("SettingsFile", __base__=SettingsFile, **fields_of(role))


def deployment_id(settings: Settings, store_key: bytes) -> str:
    """Return the id of this deployment: a digest of its store's key, its mode and what identifies it."""
    own = sections_of(settings.role)
    identity = [key.partition(".") for module in MODULES for key in module.identity]
    values = [str(getattr(settings[own[one]], key)).rstrip("/") for one, _, key in identity if one in own]
    return sha256(json.dumps([store_key.hex(), settings.mode, *values]).encode()).hexdigest()[:16]
