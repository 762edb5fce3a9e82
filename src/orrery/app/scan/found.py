"""What a scan finds before any settings are read: the file, the day, and the notes about what is missing.

Nothing here imports pydantic.
"""

from datetime import date
from os.path import lexists
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.app.modules import MODULES
from orrery.app.settings.places import find_settings_file_if_any, own_folder
from orrery.app.settings.variables import (
    ENVIRONMENT,
    PREFIX,
    SettingsError,
    keys_of,
    possible_settings,
    unknown_variable,
)

NO_SETTINGS = "There is no settings file: every tenant id counts as foreign, and no domain is known as corporate."
NO_LIST = "There is no watch-list: no person, customer or project is searched for."

LIST_NAME = "watch-list"

_MODE = f"{PREFIX}MODE"
"""It means nothing to a scan, and may be there for another role."""


def today() -> date:
    """Return the day, by which allowances expire."""
    return SystemClock().now().date()


def found_file(config: Path | None) -> Path | None:
    """Return the settings file if there is one; raise `SettingsError` for a variable that would be a setting."""
    _refuse_variables()
    return find_settings_file_if_any(config, ENVIRONMENT, role="scan")


def is_there_a_list() -> bool:
    """Return whether there is a watch-list in its default place."""
    own = own_folder(ENVIRONMENT)
    return own is not None and lexists(own / LIST_NAME)


def _refuse_variables() -> None:
    """A setting in a variable would be a second way into every hook, which no reader of the file sees."""
    own = {name for module in MODULES for one in module.sections if "scan" in one.roles for name in one.names}
    for name in possible_settings(ENVIRONMENT, "scan"):
        if keys_of(name)[0] in own:
            raise SettingsError(
                f"The environment variable {name} does not count for the scanner, whose settings are in its file "
                "alone: write it there, or unset the variable."
            )
        if name != _MODE:
            raise unknown_variable(name)
