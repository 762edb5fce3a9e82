"""Every command of the command line with its options and arguments, as typer sees them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol, cast

import typer

from orrery.app.modules import MODULES
from orrery.runtime.module import load


@dataclass(frozen=True, slots=True)
class Parameter:
    """An option (`--config`, `-c`) or an argument (`FILE`); `default` is empty where there is none."""

    names: tuple[str, ...]
    required: bool
    default: str


class _Parameter(Protocol):
    help: str | None
    opts: list[str]
    param_type_name: str
    name: str
    required: bool
    default: object


class _Command(Protocol):
    help: str | None
    params: list[_Parameter]
    commands: Mapping[str, "_Command"]
    """Of a group only."""


COMMANDS = [command for module in MODULES for command in module.commands]


@cache
def commands() -> dict[str, list[Parameter]]:
    """Return the parameters of each command, by what is typed to call it: `orrery access list`."""
    found: dict[str, list[Parameter]] = {}
    for command in COMMANDS:
        found |= dict(_walk(_root(command.target), f"orrery {command.name}"))
    return found


def help_texts() -> Iterator[tuple[str, str]]:
    """Yield what `--help` says of each command and group, with its options, by what is typed to call it."""
    for command in COMMANDS:
        yield from _help(_root(command.target), f"orrery {command.name}")


def _help(command: _Command, typed: str) -> Iterator[tuple[str, str]]:
    told = [command.help, *(getattr(each, "help", None) for each in command.params)]
    yield typed, "\n".join(filter(None, told))
    for name, each in getattr(command, "commands", {}).items():
        yield from _help(each, f"{typed} {name}")


def _root(target: str) -> _Command:
    found = load(target)
    if not isinstance(found, typer.Typer):
        application = typer.Typer(add_completion=False)
        application.command()(found)
        found = application
    return cast("_Command", typer.main.get_command(found))


def _walk(command: _Command, typed: str) -> Iterator[tuple[str, list[Parameter]]]:
    if not hasattr(command, "commands"):
        yield typed, [_parameter(each) for each in command.params]
        return
    for name, each in command.commands.items():
        yield from _walk(each, f"{typed} {name}")


def _parameter(each: _Parameter) -> Parameter:
    names = (each.name.upper(),) if each.param_type_name == "argument" else tuple(each.opts)
    told = isinstance(each.default, (str, int, Path)) and not isinstance(each.default, bool)
    return Parameter(names, each.required, str(each.default) if told else "")
