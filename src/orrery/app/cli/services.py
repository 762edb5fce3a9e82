"""The settings and logs of the root's own commands, which need no services or compose them in their own way."""

from pathlib import Path
from typing import Annotated

import typer

from orrery.app.settings.reader import Secrets, Settings, load
from orrery.logs import Redaction, configure
from orrery.runtime.console.runner import CONFIG_HELP
from orrery.runtime.module import Role
from orrery.runtime.settings import LogSettings

Config = Annotated[Path | None, typer.Option("--config", "-c", help=CONFIG_HELP)]


def configured(config: Path | None, *, quiet: bool = False, role: Role = "site") -> tuple[Settings, Secrets]:
    """Return a role's settings and secrets, with logs set up so that neither can leak."""
    settings, secrets = load(config, role)
    level = "warning" if quiet else settings[LogSettings].level
    configure(settings[LogSettings].format, level, Redaction(secrets.values()))
    return settings, secrets
