"""The former names of settings and secrets, enumerated from their declarations: what each release wrote is read.

`tests/app/settings/test_former_names.py` walks over those of this release, that of `tests/architecture`
over those of a module that was renamed in two releases, in a copy of the package.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from itertools import pairwise, product
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, RootModel, ValidationError

from orrery.app.modules import MODULES
from orrery.app.settings.former_names import Renaming, former_secrets, former_settings
from orrery.app.settings.reader import read_settings, settings_from
from orrery.app.settings.secrets import examine_secrets
from orrery.app.settings.sections import file_model, sections_of
from orrery.runtime.former_names import FormerName
from orrery.runtime.module import Role
from orrery.runtime.section import former_names

ROLES = [role for role in get_args(Role) if role != "guest"]  # it has no settings
SETTINGS = [(role, one) for role in ROLES for one in former_settings(role)]
SECRETS = [(role, one) for role in ROLES for one in former_secrets(role)]
RELEASES = [
    "",
    *sorted({one.former.since for _, one in (*SETTINGS, *SECRETS)}, key=lambda since: since.split(".")),
]
"""Each release that renamed something, behind the one before all of them."""

NO_VALUE = date(1979, 5, 27)
"""A value that no key takes."""


def of_release(release: str, name: str, former: Iterable[FormerName]) -> str:
    """Return what a release called something."""
    return next((one.old for one in former if RELEASES.index(one.since) > RELEASES.index(release)), name)


def written(release: str, section: BaseModel) -> Any:  # noqa: ANN401  a table, or a list of them
    """Return a section as a release wrote it, with the defaults of today."""
    if isinstance(section, RootModel):
        return section.model_dump(mode="json")
    kind = type(section)
    names = {name: of_release(release, name, former_names(field)) for name, field in kind.model_fields.items()}
    values = {name: getattr(section, name) for name in kind.model_fields}
    dumped = {
        name: written(release, value) if isinstance(value, BaseModel) else section.model_dump(mode="json")[name]
        for name, value in values.items()
        if value is not None
    }
    return {names[name]: value for name, value in dumped.items()}


def file_of(release: str, role: Role) -> dict[str, Any]:
    """Return the role's file as a release wrote it."""
    named = {one.name: one for module in MODULES for one in module.sections}
    own = sections_of(role)
    return {of_release(release, name, named[name].former): written(release, kind()) for name, kind in own.items()}


def variables_of(table: Mapping[str, Any], above: str = "ORRERY_") -> Iterator[tuple[str, str]]:
    """Yield the same as variables, one a key; what is in capitals is no variable's."""
    for name, value in table.items():
        if isinstance(value, dict) and value and above != "ORRERY_":
            yield f"{above}{name}".upper(), json.dumps(value)
        elif isinstance(value, dict):
            yield from variables_of(value, f"{above}{name}__")  # pyright: ignore[reportUnknownArgumentType]  any table
        else:
            yield f"{above}{name}".upper(), value if isinstance(value, str) else json.dumps(value)


RELEASE_CASES = list(product(ROLES, RELEASES))
SECRET_CASES = [(role, one, source) for role, one in SECRETS for source in ("file", "copy", "variable")]


def documented() -> set[tuple[str, str, str]]:
    """Return the rows that the reference has: old name, name of today or what to do, release."""
    declared = [one for _, one in (*SETTINGS, *SECRETS)]
    return {(one.old, one.new or one.former.instead, one.former.since) for one in declared}


def check_release(folder: Path, role: Role, release: str) -> None:
    """Read what a release wrote in the file, in a variable for each key and for each section.

    Each name of before is told, and no other.
    """
    table = file_of(release, role)
    whole = {f"ORRERY_{name.upper()}": json.dumps(value) for name, value in table.items()}
    later = {str(one) for of, one in SETTINGS if of == role and one.new}
    later = {one for one in later if RELEASES.index(one.rpartition(" ")[2]) > RELEASES.index(release)}
    for found in (
        settings_from(table, folder, role),
        read_settings(None, role, dict(variables_of(table))),
        read_settings(None, role, whole),
    ):
        assert found.sections == settings_from({}, folder, role).sections
        assert set(found.outdated) <= later
        assert bool(found.outdated) == bool(later)


def check_setting(role: Role, one: Renaming) -> None:
    """Give a wrong value under a former name, and two names at once; pass over what is gone."""
    model, old = one.model or file_model(role), one.old.rpartition(".")[2]
    if not one.new:
        model.model_validate({old: NO_VALUE})
        return
    new = one.new.rpartition(".")[2]
    with pytest.raises(ValidationError) as refused:
        model.model_validate({old: NO_VALUE})
    assert new in {problem["loc"][0] for problem in refused.value.errors()}
    others = [each.old for each in former_names(model.model_fields[new])]
    for first, second in pairwise([new, *others]):
        with pytest.raises(ValidationError, match=f"{first} and {second} are one: keep {new}, and remove"):
            model.model_validate({first: NO_VALUE, second: NO_VALUE})


def check_secret(folder: Path, role: Role, one: Renaming, source: str) -> None:
    """Read a secret of before from a file, a service manager's copy and a variable; refuse two at once."""
    variables = dict[str, str]()

    def put(name: str) -> None:
        if source == "variable":
            variables[f"ORRERY_{name.upper()}"] = "a-value-of-before"
        else:
            (folder / (f"{role}_{name}" if source == "copy" else name)).write_text("a-value-of-before")

    if one.new and source == "variable":
        variables |= {f"ORRERY_{one.old.upper()}": " ", f"ORRERY_{one.new.upper()}": "a-value-of-today"}
        empty = examine_secrets(folder, variables, "live", role)
        assert (empty.outdated, empty.reveal(one.new)) == ((), "a-value-of-today")
        variables.clear()
    put(one.old)
    found = examine_secrets(folder, variables, "live", role)
    assert found.outdated == (f"the secret {one}",)
    assert "" not in found.troubles
    if one.new:
        assert found.reveal(one.new) == "a-value-of-before" or f"{one.old}, now" in found.troubles[one.new]
        put(one.new)
        twice = examine_secrets(folder, variables, "live", role).troubles[one.new]
        assert (
            twice == f"The secrets {one.new} and {one.old} are one: keep {one.new}, and remove what else there is."
        )
