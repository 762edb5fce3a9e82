"""What the settings and the watch-list say to a scan. Without any, nothing here imports pydantic."""

import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from orrery.adapters.clock import SystemClock
from orrery.app.deployment_files.places import find_settings_file_if_any, own_folder
from orrery.app.deployment_files.variables import (
    PREFIX,
    SettingsError,
    is_of_another_role,
    is_secret,
    ours,
    unknown_variable,
)
from orrery.app.modules import MODULES
from orrery.scanner.allowances import Allowances
from orrery.scanner.deployment import Loaded

if TYPE_CHECKING:
    from orrery.app.scan.files import ScanFiles

NO_SETTINGS = "There is no settings file: every tenant id counts as foreign, and no domain is known as corporate."
NO_LIST = "There is no watch-list: no person, customer or project is searched for."

LIST_NAME, TOLD_NAME = "watch-list", "told"

_MODE = f"{PREFIX}MODE"
"""It means nothing to a scan, and may be there for another role."""


def load(config: Path | None) -> Loaded:
    """Return what a scan knows of the deployment; see `ScanDeployment.load`."""
    environment, file = _found(config)
    own = own_folder(environment)
    if file is None and not (own and os.path.lexists(own / LIST_NAME)):
        return Loaded(allowances=Allowances(today=today()), notes=(NO_SETTINGS, NO_LIST))
    return _files(file, environment).loaded()


def today() -> date:
    """Return the day, by which allowances expire."""
    return SystemClock().now().date()


def scan_files(config: Path | None) -> "ScanFiles":
    """Return the files of the role, as its settings have them; raise `SettingsError`."""
    environment, file = _found(config)
    return _files(file, environment)


def _files(file: Path | None, environment: Mapping[str, str]) -> "ScanFiles":
    from orrery.app.deployment_files.plain import plain_settings  # noqa: PLC0415  it imports pydantic
    from orrery.app.scan.files import ScanFiles  # noqa: PLC0415  the same

    return ScanFiles(file, environment, plain_settings(file, "scan"))


def _found(config: Path | None) -> tuple[Mapping[str, str], Path | None]:
    """Return the environment, and the settings file if there is one; raise `SettingsError`."""
    environment = os.environ  # noqa: TID251  this is the one place of the role that reads it
    _refuse_variables(environment)
    return environment, find_settings_file_if_any(config, environment, role="scan")


def _refuse_variables(environment: Mapping[str, str]) -> None:
    """A setting in a variable would be a second way into every hook, which no reader of the file sees."""
    own = {one.name for module in MODULES for one in module.sections if "scan" in one.roles}
    for name in ours(environment):
        if name.removeprefix(PREFIX).partition("__")[0].lower() in own:
            raise SettingsError(
                f"The environment variable {name} does not count for the scanner, whose settings are in its file "
                "alone: write it there, or unset the variable."
            )
        if not (name == _MODE or is_secret(name) or is_of_another_role(name, "scan")):
            raise unknown_variable(name)
