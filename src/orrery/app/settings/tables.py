"""What the settings file and the variables hold, as tables of plain values, before a section looks at them."""

import json
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_origin

from pydantic import BaseModel

from orrery.app.settings.former_names import nearest
from orrery.app.settings.ownership import read_own
from orrery.app.settings.variables import (
    DELIMITER,
    PREFIX,
    SettingsError,
    keys_of,
    possible_settings,
    secret_names,
    unknown_variable,
)
from orrery.errors import words_of
from orrery.runtime.module import Role
from orrery.runtime.section import Section, names_of_key

Table = dict[str, Any]


def read_toml(path: Path) -> Table:
    """Return what a settings file holds; raise `SettingsError`."""
    try:
        return tomllib.loads(read_own(path, "The settings file"))
    except FileNotFoundError:
        raise SettingsError(f"There is no settings file {path}; `orrery init` writes one.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"The settings file {path} cannot be read: {words_of(error)}.{_elsewhere(path)}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        where = str(error).rpartition("(")[2].rstrip(")")
        raise SettingsError(f"The settings file {path} is not valid TOML ({where}).") from None


def _elsewhere(path: Path) -> str:
    """Return what to type where a shell is in another user's folder, as in root's after `sudo -u orrery`."""
    if os.access(path.parent, os.X_OK, effective_ids=True):
        return ""
    return f" This user may not enter {path.parent}: type `cd /` first, or name another file with `--config`."


def unknown_variables(environment: Mapping[str, str], role: Role, file: type[BaseModel]) -> list[str]:
    """Return a sentence for each variable that is no key of the file."""
    unknown = [name for name in possible_settings(environment, role) if _kind(name, file) is None]
    known = _variables_of(file) if unknown else []
    return [str(unknown_variable(name, nearest(name, known))) for name in unknown]


def table_of_variables(environment: Mapping[str, str], role: Role, file: type[BaseModel]) -> Table:
    """Return the settings in variables; raise `SettingsError` for a list or a table that is no JSON."""
    table: Table = {}
    for name in possible_settings(environment, role):
        if kind := _kind(name, file):
            table = laid_over(table, _nested(keys_of(name), _value(name, environment[name], kind)))
    return table


def laid_over(below: Table, above: Table) -> Table:
    """Return two tables as one: of each key what is `above`, and of a table in both again each key."""
    found = {**below}
    for key, value in above.items():
        lower = below.get(key)
        inner = isinstance(lower, dict) and isinstance(value, dict)
        found[key] = laid_over(cast("Table", lower), cast("Table", value)) if inner else value
    return found


def _nested(keys: Sequence[str], value: object) -> Table:
    first, *inner = keys
    return {first: _nested(inner, value) if inner else value}


def _kind(variable: str, file: type[BaseModel]) -> object:
    """Return the type of the key that a variable names, or None when it names none."""
    kind: object = file
    for key in keys_of(variable):
        if not (isinstance(kind, type) and issubclass(kind, Section)):
            return None
        if key in {one.old for one in kind.RETIRED}:
            return str
        fields = kind.model_fields
        kind = next((fields[name].annotation for name in fields if key in names_of_key(name, kind)), None)
    return kind if variable == variable.upper() else None


def _variables_of(file: type[BaseModel]) -> list[str]:
    """Return the variables that there are."""
    names = [*_keys_in(file), *([name] for name in secret_names())]
    return [PREFIX + DELIMITER.join(one).upper() for one in names]


def _keys_in(model: type[BaseModel]) -> Iterator[list[str]]:
    for name, field in model.model_fields.items():
        yield [name]
        if isinstance(kind := field.annotation, type) and issubclass(kind, Section):
            yield from ([name, *inner] for inner in _keys_in(kind))


def _value(variable: str, text: str, kind: object) -> object:
    """Return the value in a variable: a list or a table is written as JSON, anything else as it is."""
    if not text or not _is_written_as_json(kind):
        return text
    try:
        return json.loads(text)
    except ValueError:
        section = f"{PREFIX}{keys_of(variable)[0].upper()}"
        raise SettingsError(
            f"The {section} variables cannot be read: a list or a table is written as JSON."
        ) from None


def _is_written_as_json(kind: object) -> bool:
    plain = get_origin(kind) or kind
    return isinstance(plain, type) and issubclass(plain, (BaseModel, Collection)) and plain is not str
