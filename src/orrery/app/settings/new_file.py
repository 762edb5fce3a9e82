"""The text of a new settings file: every key of a role, explained, with its default."""

import re
from importlib.resources import files
from pathlib import Path

from orrery.app.settings.former_names import former_secrets, former_settings
from orrery.app.settings.places import SYSTEM_FOLDER
from orrery.app.settings.secrets import secret_kinds
from orrery.app.settings.sections import sections_of
from orrery.runtime.module import Role
from orrery.runtime.own_store import NotDeclaredError

STATE = Path("/var/lib/orrery")
"""The state folder of the system's service, as in its unit."""

_OF_THE_SYSTEM = {
    r'(?m)^(\w+) = "\.orrery/': rf'\1 = "{STATE}/',
    r'(?m)^directory = "secrets"': f'directory = "{SYSTEM_FOLDER}/secrets"',
    r'(?m)^# directory = "backups"': f'directory = "{STATE}-backups"',
}
"""The values that are others in the system's folder, where the service may not write."""


def settings_text(folder: Path, role: Role = "site") -> str:
    """Return a role's settings file for a folder: every key explained, with its default but for the mode."""
    head = files("orrery").joinpath("web/init/head.toml").read_text(encoding="utf-8")
    text = "\n".join([head, *map(_explained, sections_of(role).items())])
    text = text.replace("{secrets}", "\n#   ".join(secret_kinds(role)))
    text += "".join(f"\n# {one}." for one in (*former_settings(role), *former_secrets(role)))
    for here, there in _OF_THE_SYSTEM.items() if is_the_systems(folder) else ():
        text = re.sub(here, there, text)
    return text


def _explained(section: tuple[str, type]) -> str:
    """Return the text about a section, which is in the folder of its module; raise `NotDeclaredError`."""
    name, kind = section
    package = kind.__module__.rpartition(".")[0]
    found = files(package).joinpath(f"init/{name}.toml")
    if not found.is_file():
        raise NotDeclaredError(f"{package} has no init/{name}.toml, which explains each key of [{name}].")
    return found.read_text(encoding="utf-8")


def is_the_systems(folder: Path) -> bool:
    """Return whether a folder is that of the system's service."""
    return folder.resolve() == SYSTEM_FOLDER.resolve()
