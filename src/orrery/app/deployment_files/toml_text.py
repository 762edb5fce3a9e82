"""The text of a settings file, and what is wrong with it, in sentences that repeat no value."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from orrery.app.deployment_files.ownership import read_own
from orrery.app.deployment_files.variables import SettingsError


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a settings file holds; raise `SettingsError`."""
    try:
        return tomllib.loads(read_own(path, "The settings file"))
    except FileNotFoundError:
        raise SettingsError(f"There is no settings file {path}; `orrery init` writes one.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The settings file {path} cannot be read ({type(error).__name__}).") from None
    except tomllib.TOMLDecodeError as error:
        where = str(error).rpartition("(")[2].rstrip(")")
        raise SettingsError(f"The settings file {path} is not valid TOML ({where}).") from None


def unusable(error: ValidationError) -> SettingsError:
    """Return what is wrong with settings, key by key."""
    problems = error.errors(include_url=False, include_input=False)
    said = [f"{'.'.join(str(part) for part in one['loc'])}: {_sentence(one)}" for one in problems]
    return SettingsError(f"The settings cannot be used: {'; '.join(said)}.")


def _sentence(problem: ErrorDetails) -> str:
    if tags := problem.get("ctx", {}).get("expected_tags"):  # the library's own sentence repeats the value
        return f"kind must be one of {tags}"
    return problem["msg"].removeprefix("Value error, ").rstrip(".")
