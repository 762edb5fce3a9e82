"""The environment variables of Orrery, by their names: what is unknown is refused (decision 41)."""

import os
from collections.abc import Mapping

from orrery.app.modules import MODULES
from orrery.errors import Invalid
from orrery.runtime.module import Role

ENVIRONMENT: Mapping[str, str] = os.environ  # noqa: TID251  the one place that reads it
"""The environment of this process, as it is at each look."""

PREFIX = "ORRERY_"
"""The prefix of our environment variables."""

DELIMITER = "__"
"""The separator of section and key in a variable's name."""

CONFIG_VARIABLE = "ORRERY_CONFIG"
"""The variable that names the settings file; the only one that is not a setting or a secret."""


class SettingsError(Invalid):
    """The settings cannot be used; nothing was started. The message holds no values."""


def secret_names() -> tuple[str, ...]:
    """Return the names of every role's secrets."""
    return tuple(one.name for module in MODULES for one in module.secrets)


def names_of_secret(name: str) -> tuple[str, ...]:
    """Return every name that a secret is read under: today's, and those of before."""
    return next(one.names for module in MODULES for one in module.secrets if one.name == name)


def known_secret_names() -> set[str]:
    """Return the names of every role's secrets, with those of before, and of the secrets that are no more."""
    gone = {one.old for module in MODULES for one in module.retired_secrets}
    return gone.union(*(one.names for module in MODULES for one in module.secrets))


def possible_settings(environment: Mapping[str, str], role: Role) -> list[str]:
    """Return which of our variables can only be settings of a role, in order: no secrets, nothing of other roles.

    What is in a section of other roles is not looked at. `ORRERY_CONFIG` is left out.
    """
    ours = sorted(name for name in environment if name.upper().startswith(PREFIX) and name != CONFIG_VARIABLE)
    return [name for name in ours if name != name.upper() or not (_is_secret(name) or _is_foreign(name, role))]


def _is_secret(variable: str) -> bool:
    return variable.removeprefix(PREFIX).lower() in known_secret_names()


def _is_foreign(variable: str, role: Role) -> bool:
    named = [one for module in MODULES for one in module.sections if keys_of(variable)[0] in one.names]
    return any(role not in one.roles for one in named)


def keys_of(variable: str) -> list[str]:
    """Return the keys that a variable names, from the outermost: `ORRERY_SERVER__PORT` is `port` in `server`."""
    return variable.removeprefix(PREFIX).lower().split(DELIMITER)


def unknown_variable(name: str, nearest: str = "") -> SettingsError:
    """Return the refusal of a variable; `nearest` ends the sentence."""
    return SettingsError(f"The environment variable {name} is neither a setting nor a secret{nearest}.")
