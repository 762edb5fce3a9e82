"""The places of the settings file, and the folder for the relative paths in it (decision 50)."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar, cast

from pydantic import BaseModel

from orrery.runtime.module import Role
from orrery.runtime.section import SettingsError

CONFIG_VARIABLE = "ORRERY_CONFIG"
"""The variable that names the settings file; the only one that is not a setting or a secret."""

DEFAULT_FILE = Path("orrery.toml")
SYSTEM_FOLDER = Path("/etc/orrery")
SYSTEM_FILE = SYSTEM_FOLDER / "orrery.toml"
DEMO_FILE = Path(".orrery/orrery.toml")
"""Where the demo leaves its settings, so that the owner's commands find its records."""

_WITH_INIT = "`orrery init` writes one."
_HOW_TO_GET_ONE: dict[Role, str] = {
    "cockpit": "`orrery init --role cockpit` writes one, and `orrery cockpit --sample` needs none."
}

Model = TypeVar("Model", bound=BaseModel)


def find_settings_file(
    named: Path | None, environment: Mapping[str, str], system: Path = SYSTEM_FILE, role: Role = "site"
) -> Path:
    """Return the settings file: the one that is named, else the first that is there, as an absolute path.

    `named` names it, else `$ORRERY_CONFIG`; the candidates are those of `_places`.
    Raises `SettingsError` when none is named and none is there: no command may use the defaults as a deployment.
    """
    if chosen := find_settings_file_if_any(named, environment, system, role):
        return chosen
    places = [place.absolute() for place in _places(environment, system, role)]
    raise SettingsError(
        f"There is no settings file: neither --config nor ${CONFIG_VARIABLE} names one, and none is at "
        f"{', '.join(map(str, places[:-1]))} or {places[-1]}; {_HOW_TO_GET_ONE.get(role, _WITH_INIT)}"
    )


def find_settings_file_if_any(
    named: Path | None, environment: Mapping[str, str], system: Path = SYSTEM_FILE, role: Role = "site"
) -> Path | None:
    """Return the same, or None when none is named and none is there."""
    variable = environment.get(CONFIG_VARIABLE)
    if chosen := named or (Path(variable) if variable else None):
        return chosen.absolute()
    there = next(filter(_is_there, _places(environment, system, role)), None)
    return there.absolute() if there else None


def _places(environment: Mapping[str, str], system: Path, role: Role) -> list[Path]:
    """Return `orrery.toml` here, for the cockpit its user's own one, `system`, and the demo's, in this order."""
    return [DEFAULT_FILE, *(_own(environment) if role == "cockpit" else []), system, DEMO_FILE]


def _own(environment: Mapping[str, str]) -> list[Path]:
    """Return the file in the user's own folder; a user of a container may have none."""
    folder = Path(environment.get("XDG_CONFIG_HOME", ""))
    try:
        # A relative one is to be ignored: the standard says so.
        folder = folder if folder.is_absolute() else Path.home() / ".config"
    except RuntimeError:
        return []
    return [folder / "orrery" / DEFAULT_FILE]


def _is_there(file: Path) -> bool:
    """Return whether anything has that name: one that cannot be read is refused later, and not passed over."""
    try:
        _ = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


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
