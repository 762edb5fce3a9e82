"""The one reader of `orrery.toml`, of the environment, and of the secrets' files; read once, frozen.

The environment goes before the file: `ORRERY_SERVER__PORT=9000` is `[server] port`. Secrets are files with the
names that the modules give, in `$CREDENTIALS_DIRECTORY` or `[secrets] directory`, or `ORRERY_` variables.
Unknown keys, variables and secret files are fatal (decision 41); a missing secret is not. A role reads its own
sections and secrets only (decision 40).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from orrery.app.settings.authority import check_authority
from orrery.app.settings.former_names import former_settings, models_in, nearest
from orrery.app.settings.places import (
    DEMO_FILE,
    SYSTEM_FOLDER,
    find_settings_file,
    find_settings_file_if_any,
)
from orrery.app.settings.secrets import Secrets, examine_secrets, uses_of
from orrery.app.settings.sections import Settings, file_model
from orrery.app.settings.tables import Table, laid_over, read_toml, table_of_variables, unknown_variables
from orrery.app.settings.variables import CONFIG_VARIABLE, ENVIRONMENT, SettingsError
from orrery.runtime.former_names import FormerName
from orrery.runtime.module import Role
from orrery.runtime.section import names_of_key
from orrery.runtime.settings import SecretFiles, TlsSettings

__all__ = [
    "CONFIG_VARIABLE",
    "DEMO_FILE",
    "SYSTEM_FOLDER",
    "Examined",
    "Secrets",
    "Settings",
    "SettingsError",
    "examine",
    "find_settings_file",
    "load",
    "load_settings",
    "load_settings_if_any",
    "load_usable",
    "read_settings",
    "settings_file",
    "settings_from",
    "uses_of",
]

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Examined:
    """What a start finds in the files of a deployment; `problems` are sentences, and any of them refuses it."""

    settings: Settings | None
    secrets: Secrets | None
    problems: tuple[str, ...]


def load(path: Path | None = None, role: Role = "site") -> tuple[Settings, Secrets]:
    """Return the settings and secrets of this machine; raise `SettingsError` with all that cannot be used.

    Without `path`, the file is found by `find_settings_file`.
    """
    found = examine(path, role)
    if found.problems or not (found.settings and found.secrets):
        raise SettingsError(" ".join(found.problems))
    return found.settings, found.secrets


def examine(path: Path | None = None, role: Role = "site") -> Examined:
    """Return the settings and secrets of this machine, with every reason against a start.

    While the settings cannot be used, the secrets are read where the mode and their folder are known.
    """
    problems = unknown_variables(ENVIRONMENT, role, file_model(role))
    try:
        file = settings_file(path, role)
        found = read_toml(file)
    except SettingsError as error:
        return Examined(None, None, (*problems, str(error)))
    settings = secrets = None
    try:
        settings = settings_from(found, file.parent, role)
    except SettingsError as error:
        problems.append(str(error))
    if known := settings or _usable(found, file.parent, role):
        secrets = _secrets(known)
        problems += secrets.troubles.values()
    return Examined(settings, secrets, tuple(problems))


def _usable(found: Table, folder: Path, role: Role) -> Settings | None:
    """Return the settings that name the folder of the secrets, whatever is wrong with the others."""
    try:
        return settings_from({name: found[name] for name in ("mode", "secrets") if name in found}, folder, role)
    except SettingsError:
        return None


def _secrets(settings: Settings) -> Secrets:
    return examine_secrets(settings[SecretFiles].directory, ENVIRONMENT, settings.mode, settings.role)


def load_settings(path: Path | None = None, role: Role = "site") -> Settings:
    """Return the settings alone; raise `SettingsError` when they cannot be used."""
    _refuse_unknown_variables(role)
    return _checked(read_settings(settings_file(path, role), role, ENVIRONMENT))


def load_settings_if_any(path: Path | None = None, role: Role = "site") -> Settings:
    """Return the settings alone; without a file, those of the variables, for what needs no deployment.

    Raises `SettingsError` when the file that is named, or that is there, cannot be used.
    """
    _refuse_unknown_variables(role)
    return _checked(read_settings(find_settings_file_if_any(path, ENVIRONMENT, role=role), role, ENVIRONMENT))


def load_usable(path: Path | None = None, role: Role = "site") -> tuple[Settings, Secrets]:
    """Return settings and the secrets that can be used, with the troubles of the others."""
    settings = load_settings(path, role)
    return settings, _secrets(settings)


def settings_file(path: Path | None = None, role: Role = "site") -> Path:
    """Return where the settings are; raise `SettingsError` when they are nowhere."""
    return find_settings_file(path, ENVIRONMENT, role=role)


def settings_from(found: Table, folder: Path, role: Role = "site") -> Settings:
    """Return the settings that a file's contents and the variables make; relative paths begin in `folder`."""
    return _checked(_read(found, folder, role, ENVIRONMENT))


def read_settings(file: Path | None, role: Role, variables: Mapping[str, str]) -> Settings:
    """Return the values of a file, if any, and of variables; raise `SettingsError` when it cannot be used.

    The file of certificate authorities is not looked at: see `check_authority`.
    """
    return _read(read_toml(file) if file else {}, file.parent if file else Path.cwd(), role, variables)


def _checked(settings: Settings) -> Settings:
    check_authority(settings[TlsSettings].ca_file)
    return settings


def _refuse_unknown_variables(role: Role) -> None:
    if unknown := unknown_variables(ENVIRONMENT, role, file_model(role)):
        raise SettingsError(" ".join(unknown))


def _read(found: Table, folder: Path, role: Role, variables: Mapping[str, str]) -> Settings:
    model, met = file_model(role), set[tuple[type[BaseModel], FormerName]]()
    given = laid_over(found, table_of_variables(variables, role, model))
    try:
        file = model.model_validate(given, context=met)
    except ValidationError as error:
        raise SettingsError(_unusable(error, model, given)) from None
    file = _anchored(file, folder)
    sections = {type(value): value for _, value in file if isinstance(value, BaseModel)}
    outdated = [str(one) for one in former_settings(role) if (one.model, one.former) in met]
    return Settings(file.mode, role, sections, tuple(outdated))


def _unusable(error: ValidationError, model: type[BaseModel], given: Table) -> str:
    """Return what is wrong with settings, key by key, by the names that are `given`; no value is repeated."""
    problems = error.errors(include_url=False, include_input=False)
    sentences = [f"{_key(one['loc'], model, given)}: {_sentence(one, model)}" for one in problems]
    return f"The settings cannot be used: {'; '.join(sentences)}."


def _key(place: Sequence[int | str], model: type[BaseModel], given: Table) -> str:
    """Return a key by its name in the settings; behind a former one is today's."""
    names = list(map(str, place))
    ends = range(len(names), -1, -1)  # the last one may be missing
    found = next([*path, *names[end:]] for end in ends for path in _written(place[:end], [model], given))
    now, written = ".".join(names), ".".join(found)
    return now if written == now else f"{written}, now {now}"


def _written(place: Sequence[int | str], models: Sequence[type[BaseModel]], given: object) -> Iterator[list[str]]:
    """Yield the names under which a place is given. Numbers and kinds of a table lead to no other table."""
    if not place:
        yield []
        return
    first, *rest = place
    own = [one for one in models if first in one.model_fields]
    if not own:
        inner = cast("Sequence[object]", given)[first] if isinstance(first, int) else given
        yield from ([str(first), *more] for more in _written(rest, models, inner))
        return
    below = [kind for one in own for kind in models_in(one.model_fields[str(first)].annotation)]
    table = cast("Table", given) if isinstance(given, dict) else {}
    for name in (each for one in own for each in names_of_key(str(first), one) if each in table):
        yield from ([name, *more] for more in _written(rest, below, table[name]))


def _sentence(problem: ErrorDetails, model: type[BaseModel]) -> str:
    if problem["type"] == "extra_forbidden":
        *tables, key = problem["loc"]
        return f"there is no such key{nearest(str(key), _keys_at(tables, model))}"
    if tags := problem.get("ctx", {}).get("expected_tags"):  # the library's own sentence repeats the value
        return f"kind must be one of {tags}"
    return problem["msg"].removeprefix("Value error, ").rstrip(".")


def _keys_at(tables: Sequence[int | str], model: type[BaseModel]) -> list[str]:
    """Return the keys of a table in the file. Numbers of a list and kinds of a table lead to no other table."""
    there = [model]
    for name in tables:
        if fields := [one.model_fields[name] for one in there if name in one.model_fields]:
            there = [inner for field in fields for inner in models_in(field.annotation)]
    return [key for one in there for key in one.model_fields]


def _anchored(model: Model, folder: Path) -> Model:
    """Return a model with each relative path beginning in `folder`, and `~` replaced by the user's home.

    So a command finds the same store in whatever folder it is typed.
    """
    return model.model_copy(update={name: _anchored_value(value, folder) for name, value in model})


def _anchored_value(value: object, folder: Path) -> object:
    if isinstance(value, BaseModel):
        return _anchored(value, folder)
    if isinstance(value, tuple):
        return tuple(_anchored_value(one, folder) for one in cast("tuple[object, ...]", value))
    if not isinstance(value, Path):
        return value
    try:
        return folder / value.expanduser()
    except RuntimeError:
        raise SettingsError("A path in the settings begins with ~ and a name that is no user's.") from None
