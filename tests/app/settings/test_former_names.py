"""Former names of settings and secrets, enumerated from their declarations: what each release wrote is read.

`tests/architecture/test_former_names.py` runs this file over a module that was renamed in two releases.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from itertools import pairwise, product
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

from orrery.app.modules import MODULES
from orrery.app.settings.former_names import Renaming, former_secrets, former_settings
from orrery.app.settings.reader import read_settings, settings_from
from orrery.app.settings.secrets import examine_secrets
from orrery.app.settings.sections import file_model, sections_of
from orrery.app.settings.variables import SettingsError
from orrery.runtime.former_names import FormerName
from orrery.runtime.module import Role
from orrery.runtime.section import former_names
from tests.support.machine import Machine, machine_in

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


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return an empty folder that is the working directory."""
    return machine_in(tmp_path, monkeypatch)


def of_release(release: str, name: str, former: Iterable[FormerName]) -> str:
    """Return what a release called something."""
    return next((one.old for one in former if RELEASES.index(one.since) > RELEASES.index(release)), name)


def written(release: str, section: BaseModel) -> dict[str, Any]:
    """Return a table as a release wrote it, with the defaults of today."""
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


@pytest.mark.parametrize(("role", "release"), list(product(ROLES, RELEASES)))
def test_what_a_release_wrote_is_read(machine: Machine, role: Role, release: str) -> None:
    """In the file, in a variable for each key and for each section; each name of before is told, and no other."""
    table, folder = file_of(release, role), machine.folder
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


@pytest.mark.parametrize(("role", "one"), SETTINGS)
def test_a_former_name_leads_to_the_name_of_today(role: Role, one: Renaming) -> None:
    """A wrong value is refused by today's name, two names at once in one sentence; what is gone is passed over."""
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


@pytest.mark.parametrize(("role", "one"), SECRETS)
@pytest.mark.parametrize("source", ["file", "copy", "variable"])
def test_a_secret_of_before_is_read(machine: Machine, role: Role, one: Renaming, source: str) -> None:
    """From a file, from a service manager's copy and from a variable; twice at once it is refused by its name."""
    folder, variables = machine.secret("unused", ""), dict[str, str]()
    (folder / "unused").unlink()

    def put(name: str) -> None:
        if source == "variable":
            variables[f"ORRERY_{name.upper()}"] = "a-value-of-before"
        else:
            (folder / (f"{role}_{name}" if source == "copy" else name)).write_text("a-value-of-before")

    put(one.old)
    found = examine_secrets(folder, variables, "live", role)
    assert found.outdated == (f"the secret {one}",)
    assert "" not in found.troubles
    if one.new:
        assert found.reveal(one.new) == "a-value-of-before" or one.new in found.troubles
        put(one.new)
        twice = examine_secrets(folder, variables, "live", role).troubles[one.new]
        assert (
            twice == f"The secrets {one.new} and {one.old} are one: keep {one.new}, and remove what else there is."
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[server]\nprot = 1\n", "server.prot: there is no such key; the nearest is port."),
        ("[sever]\n", "sever: there is no such key; the nearest is server."),
        ("[server]\nqqq = 1\n", "server.qqq: there is no such key."),
        (
            "[[checkout.products]]\nvendor_slag = 1\n",
            "vendor_slag: there is no such key; the nearest is vendor_slug",
        ),
    ],
)
def test_the_nearest_key_is_named(machine: Machine, text: str, said: str) -> None:
    """A key that is none is refused with the one that may be meant, of the same table."""
    machine.write(text)
    assert said in machine.refusal()


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("ORRERY_SERVER__PROT", "; the nearest is ORRERY_SERVER__PORT."),
        ("ORRERY_PUSH_TOKN", "; the nearest is ORRERY_PUSH_TOKEN."),
        ("ORRERY_QQQQQQQQ", "secret."),
    ],
)
def test_the_nearest_variable_is_named(machine: Machine, variable: str, nearest: str) -> None:
    """The same of a variable."""
    machine.write("")
    machine.set(**{variable: "x"})
    assert machine.refusal().endswith(nearest)


def test_the_nearest_secret_is_named(machine: Machine) -> None:
    """The same of a secret's file."""
    machine.write('[secrets]\ndirectory = "secrets"\n')
    machine.secret("push_tokn", "x")
    assert machine.refusal().endswith("; the nearest is push_token.")


def test_a_mailbox_of_another_kind_has_other_keys(machine: Machine) -> None:
    """Inside a table of several kinds, too."""
    table = {"cockpit": {"mailboxes": [{"kind": "imap", "track": "B", "account": "a@b.example", "hots": "x"}]}}
    with pytest.raises(SettingsError, match="hots: there is no such key; the nearest is host"):
        settings_from(table, machine.folder, "cockpit")
