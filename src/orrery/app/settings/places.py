"""The places of the settings file (decision 50)."""

from collections.abc import Mapping
from pathlib import Path

from orrery.app.settings.variables import CONFIG_VARIABLE, SettingsError
from orrery.runtime.module import Role

DEFAULT_FILE = Path("orrery.toml")
SYSTEM_FOLDER = Path("/etc/orrery")
SYSTEM_FILE = SYSTEM_FOLDER / "orrery.toml"
DEMO_FILE = Path(".orrery/orrery.toml")
"""Where the demo leaves its settings, so that the owner's commands find its records."""

_WITH_INIT = "`orrery init` writes one."
_HOW_TO_GET_ONE: dict[Role, str] = {
    "cockpit": "`orrery init --role cockpit` writes one, and `orrery cockpit --sample` needs none.",
    "scan": "`orrery init --role scan` writes one.",
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
    *places, last = [str(place.absolute()) for place in _places(environment, system, role)]
    raise SettingsError(
        f"There is no settings file: neither --config nor ${CONFIG_VARIABLE} names one, and none is at "
        f"{' or '.join(filter(None, (', '.join(places), last)))}; {_HOW_TO_GET_ONE.get(role, _WITH_INIT)}"
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


def own_folder(
    environment: Mapping[str, str], variable: str = "XDG_CONFIG_HOME", default: str = ".config"
) -> Path | None:
    """Return our folder among the user's own of one kind, or None: a user of a container may have no home."""
    folder = Path(environment.get(variable, ""))
    try:
        # The standard ignores a relative one.
        folder = folder if folder.is_absolute() else Path.home() / default
    except RuntimeError:
        return None
    return folder / "orrery"


def _places(environment: Mapping[str, str], system: Path, role: Role) -> list[Path]:
    """Return where a role looks, in this order.

    The scanner never looks here: the folder may be a stranger's repository, whose settings would switch it off.
    """
    own = own_folder(environment)
    of_user = [own / DEFAULT_FILE] if own else []
    if role == "scan":
        return [*of_user, system]
    return [DEFAULT_FILE, *(of_user if role == "cockpit" else []), system, DEMO_FILE]


def _is_there(file: Path) -> bool:
    """Return whether anything has that name: one that cannot be read is refused later, and not passed over."""
    try:
        _ = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
