"""The folder for the relative paths in a settings file."""

from pathlib import Path
from typing import TypeVar, cast

from pydantic import BaseModel

from orrery.app.deployment_files.variables import SettingsError

Model = TypeVar("Model", bound=BaseModel)


def anchored(settings: Model, folder: Path) -> Model:
    """Return the settings with each relative path beginning in `folder`, and `~` replaced by the user's home.

    So a command finds the same store in whatever folder it is typed. Raises `SettingsError` for a `~name` that is
    no user's.
    """
    return settings.model_copy(update={name: _anchored(value, folder) for name, value in settings})


def _anchored(value: object, folder: Path) -> object:
    if isinstance(value, BaseModel):
        return anchored(value, folder)
    if isinstance(value, tuple):
        return tuple(_anchored(one, folder) for one in cast("tuple[object, ...]", value))
    if not isinstance(value, Path):
        return value
    try:
        return folder / value.expanduser()
    except RuntimeError:
        raise SettingsError("A path in the settings begins with ~ and a name that is no user's.") from None
