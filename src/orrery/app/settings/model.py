"""The settings of one role: its modules' sections, made into one model of `orrery.toml`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, create_model
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from orrery.app.modules import MODULES
from orrery.runtime.module import Role, load
from orrery.runtime.section import PREFIX, Mode
from orrery.runtime.settings import HasStore

S = TypeVar("S")


@dataclass(frozen=True)
class Settings:
    """Everything but the secrets: the mode, and each section of the role by its class."""

    mode: Mode
    role: Role
    sections: Mapping[type, BaseModel]

    def __getitem__(self, kind: type[S]) -> S:
        return cast("S", self.sections[kind])

    @property
    def store_path(self) -> Path:
        """The store of the role, wherever its settings have it."""
        return self._store.store_path

    def with_store(self, path: Path) -> "Settings":
        """Return the same with another store."""
        return self.with_section(self._store.with_store(path))

    def with_section(self, section: BaseModel) -> "Settings":
        """Return the same with another section in the place of its class."""
        return replace(self, sections={**self.sections, type(section): section})

    @property
    def _store(self) -> HasStore:
        return next(one for one in self.sections.values() if isinstance(one, HasStore))


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


def sections_of(role: Role) -> dict[str, type[BaseModel]]:
    """Return the classes of a role's sections, by their names."""
    named = [one for module in MODULES for one in module.sections]
    return {one.name: load(one.target) for one in named if role in one.roles}


@cache
def file_model(role: Role) -> type[SettingsFile]:
    """Return the model of the file for a role: another role's sections may be there, and are not looked at."""
    own = sections_of(role)
    foreign = {one.name for module in MODULES for one in module.sections} - own.keys()
    fields: dict[str, Any] = {name: (kind, kind()) for name, kind in own.items()}
    fields |= dict.fromkeys(foreign, (dict[str, Any], {}))
    return create_model("SettingsFile", __base__=SettingsFile, **fields)


def settings_of(file: SettingsFile, role: Role) -> Settings:
    """Return the sections that were read."""
    return Settings(file.mode, role, {type(value): value for _, value in file if isinstance(value, BaseModel)})


def deployment_id(settings: Settings, store_key: bytes) -> str:
    """Return the id of this deployment: a digest of its store's key, its mode and what identifies it."""
    own = sections_of(settings.role)
    identity = [key.partition(".") for module in MODULES for key in module.identity]
    values = [str(getattr(settings[own[one]], key)).rstrip("/") for one, _, key in identity if one in own]
    return sha256(json.dumps([store_key.hex(), settings.mode, *values]).encode()).hexdigest()[:16]
