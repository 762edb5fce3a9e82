"""Every former name of a setting or a secret, by its declaration; the name nearest to a mistyped one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import get_args

from pydantic import BaseModel

from orrery.app.modules import MODULES
from orrery.app.settings.sections import file_model, sections_of
from orrery.runtime.former_names import FormerName
from orrery.runtime.module import Role
from orrery.runtime.section import Section, former_names

WRITE_NEW = "Write today's names, and take out what means nothing."
"""What to do about names of before."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """One declaration. `old` and `new` are whole keys, as `server.port`, or secrets; what is gone has no `new`.

    `model` is the section that declares it, or None for a secret.
    """

    former: FormerName
    old: str
    new: str
    model: type[BaseModel] | None = None

    def __str__(self) -> str:
        if self.new:
            return f"{self.old} is called {self.new} since {self.former.since}"
        return f"{self.old} means nothing since {self.former.since}: {self.former.instead.rstrip('.')}"


def why_outdated(*met: str) -> str:
    """Return in a sentence which names of before were met, or nothing."""
    return f"{'; '.join(met)}." if met else ""


def former_settings(role: Role) -> list[Renaming]:
    """Return the former names of a role's sections, and of the keys in them, tables inside included."""
    foreign = {one.name for module in MODULES for one in module.sections} - sections_of(role).keys()
    found = dict.fromkeys(_declared(file_model(role)))
    return [one for one in found if one.new not in foreign]


def former_secrets(role: Role) -> list[Renaming]:
    """Return the former names of a role's secrets, and the secrets that are no more."""
    named = [one for module in MODULES for one in module.secrets if role in one.roles]
    renamed = [Renaming(former, former.old, one.name) for one in named for former in one.former]
    gone = [
        Renaming(one, one.old, "") for module in MODULES if role in module.roles for one in module.retired_secrets
    ]
    return [*renamed, *gone]


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield the tables that a key may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from models_in(inner)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that is most like another one, as the end of a sentence, or nothing."""
    return "".join(f"; the nearest is {one}" for one in get_close_matches(name, list(known), n=1))


def _declared(model: type[BaseModel], above: str = "") -> Iterator[Renaming]:
    for name, field in model.model_fields.items():
        for one in former_names(field):
            yield Renaming(one, above + one.old, above + name, model)
        for inner in models_in(field.annotation):
            yield from _declared(inner, f"{above}{name}.")
    for one in model.RETIRED if issubclass(model, Section) else ():
        yield Renaming(one, above + one.old, "", model)
