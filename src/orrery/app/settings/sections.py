"""The sections of one role, and their values in the settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, create_model

from orrery.app.modules import MODULES
from orrery.runtime.former_names import FormerName
from orrery.runtime.module import Role, load
from orrery.runtime.section import Mode, Section
from orrery.runtime.settings import HasStore

S = TypeVar("S")

Unread = dict[str, Any] | list[Any]
"""A section of another role: a table, or several."""


@dataclass(frozen=True)
class Settings:
    """Everything but the secrets: the mode, and each section of the role by its class.

    `outdated` are sentences, without their ends, about names of before that were met.
    """

    mode: Mode
    role: Role
    sections: Mapping[type, BaseModel]
    outdated: tuple[str, ...] = ()

    def __getitem__(self, kind: type[S]) -> S:
        return cast("S", self.sections[kind])

    @property
    def store(self) -> HasStore:
        """The section with the store of the role."""
        return next(one for one in self.sections.values() if isinstance(one, HasStore))

    def with_store(self, path: Path) -> "Settings":
        """Return the same with another store."""
        return self.with_section(self.store.with_store(path))

    def with_section(self, section: BaseModel) -> "Settings":
        """Return the same with another section in the place of its class."""
        return replace(self, sections={**self.sections, type(section): section})


def sections_of(role: Role) -> dict[str, type[BaseModel]]:
    """Return the classes of a role's sections, by their names."""
    named = [one for module in MODULES for one in module.sections]
    return {one.name: load(one.target) for one in named if role in one.roles}


class SettingsFile(Section):
    """The keys of `orrery.toml` outside all sections; the model of a role has its sections beside them."""

    mode: Mode = "live"


@cache
def file_model(role: Role) -> type[SettingsFile]:
    """Return the model of the file for a role: another role's sections may be there, and are not looked at."""
    own = sections_of(role)
    named = [one for module in MODULES for one in module.sections]
    fields: dict[str, Any] = {one.name: _field(own.get(one.name, Unread), one.former) for one in named}
    model = create_model("SettingsFile", __base__=SettingsFile, **fields)
    model.RETIRED = tuple(one for module in MODULES for one in module.retired_sections)
    return model


def _field(kind: Any, former: Sequence[FormerName]) -> Any:  # noqa: ANN401  as `create_model` takes it
    declared: Any = kind
    for one in former:
        declared = Annotated[declared, one]
    return declared, {} if kind is Unread else kind()
