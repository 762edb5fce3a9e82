"""The environment variables of Orrery, by their names: what is unknown is refused (decision 41)."""

from collections.abc import Mapping

from orrery.app.modules import MODULES
from orrery.errors import Invalid
from orrery.runtime.module import Role

PREFIX = "ORRERY_"
"""The prefix of our environment variables."""

CONFIG_VARIABLE = "ORRERY_CONFIG"
"""The variable that names the settings file; the only one that is not a setting or a secret."""


class SettingsError(Invalid):
    """The settings cannot be used; nothing was started. The message holds no values."""


def secret_names() -> tuple[str, ...]:
    """Return the names of every role's secrets."""
    return tuple(one.name for module in MODULES for one in module.secrets)


def ours(environment: Mapping[str, str]) -> list[str]:
    """Return the names of our variables but for that of the settings file, in order."""
    return sorted(name for name in environment if name.upper().startswith(PREFIX) and name != CONFIG_VARIABLE)


def is_secret(variable: str) -> bool:
    """Return whether a variable is a secret of any role."""
    return variable == variable.upper() and variable.removeprefix(PREFIX).lower() in secret_names()


def is_of_another_role(variable: str, role: Role) -> bool:
    """Return whether a variable is a setting in a section of other roles, who alone know what is in it."""
    section, inside, _ = variable.removeprefix(PREFIX).lower().partition("__")
    foreign = {one.name for module in MODULES for one in module.sections if role not in one.roles}
    return bool(inside) and variable == variable.upper() and section in foreign


def unknown_variable(name: str) -> SettingsError:
    return SettingsError(f"The environment variable {name} is neither a setting nor a secret.")
