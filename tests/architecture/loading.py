"""Lists what each command and each role loads: a process each, forked off before what is its own is loaded.

usage: python -m tests.architecture.loading PART SITE COCKPIT

It prints a JSON list for each: its name, and every module.
PART is `site`, `cockpit`, `others` or `listening`; SITE and COCKPIT are the settings files of the two roles with
services.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from orrery.app.command_line import runner_for
from orrery.app.modules import MODULES
from orrery.runtime.console.runner import Services
from orrery.runtime.module import Command, load

SERVERS = ("serve", "demo", "sandbox")
"""What listens loads it all, as `listening` does."""

CONFIGS: dict[str, Path] = dict(zip(("site", "cockpit"), map(Path, sys.argv[2:]), strict=True))


def main(part: str) -> None:
    """List what is loaded to run the commands of a role over its services; or the others; or to listen."""
    commands = [one for module in MODULES for one in module.commands if not one.plain]
    over_services = [one for one in commands if one.role in CONFIGS and not one.target.startswith("orrery.app.")]
    if part in CONFIGS:
        _forked(f"role {part}", partial(_prepare, part), [one for one in over_services if one.role == part])
    elif part == "listening":
        _forked(part, _listen)
    else:
        for command in commands:
            if command not in over_services and command.name not in SERVERS:
                _forked(command.name, partial(load, command.target))


def _forked(name: str, act: Callable[[], object], then: list[Command] | None = None) -> None:
    """List what there is after `act`; with it loaded, run each command of `then`."""
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        assert status == 0, name
        return
    _ = act()
    print(json.dumps([name, *sys.modules]), flush=True)  # noqa: T201  what the test reads
    for command in then or ():
        _forked(command.name, partial(_run, command))
    os._exit(0)


def _prepare(role: str) -> None:
    load("orrery.app.settings.reader:load")(CONFIGS[role], role)
    load("orrery.app.runner:runner_of")


def _run(command: Command) -> None:
    load(command.target)
    with runner_for(command, CONFIGS[command.role]) as runner:
        runner.run(_nothing)


async def _nothing(_: Services) -> None:
    """Do nothing with the services: they are composed for whoever asks."""


def _listen() -> None:
    load("orrery.app.cli.serve:command")

    async def listen() -> None:
        opened: Any = load("orrery.app.composition:opened")
        async with opened(*load("orrery.app.settings.reader:load")(CONFIGS["site"])) as orrery:
            load("orrery.app.http_apps:apps_of")(orrery)

    asyncio.run(listen())


if __name__ == "__main__":
    main(sys.argv[1])
