"""The settings, logs, open store and services that the owner's commands share."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from orrery.app import Orrery, opened
from orrery.logs import Redaction, configure
from orrery.settings import Secrets, Settings, load

T = TypeVar("T")

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        help="The settings file; else $ORRERY_CONFIG, orrery.toml here, in /etc/orrery, or the demo's.",
    ),
]
Reason = Annotated[
    str, typer.Option("--reason", "-r", help="Why; it is kept with what was done.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def configured(config: Path | None, *, quiet: bool = False) -> tuple[Settings, Secrets]:
    """Return settings and secrets, with logs set up so that neither can leak."""
    settings, secrets = load(config)
    level = "warning" if quiet else settings.log.level
    configure(settings.log.format, level, Redaction(secrets.values()))
    return settings, secrets


def with_services(config: Path | None, action: Callable[[Orrery], Awaitable[T]]) -> T:
    """Run `action` with the services over the open store, and return its result."""
    settings, secrets = configured(config, quiet=True)

    async def work() -> T:
        async with opened(settings, secrets) as orrery:
            return await action(orrery)

    return asyncio.run(work())
