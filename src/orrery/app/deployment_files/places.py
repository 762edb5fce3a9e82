"""The places of the settings file (decision 50)."""

from collections.abc import Mapping
from pathlib import Path

from orrery.app.deployment_files.variables import CONFIG_VARIABLE, SettingsError
from orrery.runtime.module import Role

DEFAULT_FILE = Path("orrery.toml")
SYSTEM_FOLDER = Path("/etc/orrery")
SYSTEM_FILE = SYSTEM_FOLDER / "orrery.toml"
DEMO_FILE = Path(".orrery/orrery.toml")
"""Where the demo leaves its settings, so that the owner's commands find its records."""

_WITH_INIT = "`orrery init` writes one."
_HOW_TO_GET_ONE: dict[Role, str] = {
    "cockpit": "`orrery init --role cockpit` writes one, and `orrery cockpit --sample` needs none."
}


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
