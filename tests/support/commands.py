"""Every command of the command line with its options and arguments, as typer sees them."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol, cast

import typer

from orrery import cli


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


@cache
def commands() -> dict[str, list[Parameter]]:
    """Return the parameters of each command, by what is typed to call it: `orrery access list`."""
    found: dict[str, list[Parameter]] = {}
    for module in pkgutil.iter_modules(cli.__path__):
        if root := _root(module.name):
            found |= dict(_walk(root, f"orrery {module.name}"))
    return found


def help_texts() -> Iterator[tuple[str, str]]:
    """Yield what `--help` says of each command and group, with its options, by what is typed to call it."""
    for module in pkgutil.iter_modules(cli.__path__):
        if root := _root(module.name):
            yield from _help(root, f"orrery {module.name}")


def _help(command: _Command, typed: str) -> Iterator[tuple[str, str]]:
    told = [command.help, *(getattr(each, "help", None) for each in command.params)]
    yield typed, "\n".join(filter(None, told))
    for name, each in getattr(command, "commands", {}).items():
        yield from _help(each, f"{typed} {name}")


def _root(name: str) -> _Command | None:
    module = importlib.import_module(f"orrery.cli.{name}")
    if hasattr(module, "group"):
        return cast("_Command", typer.main.get_command(module.group))
    if not hasattr(module, "command"):
        return None
    application = typer.Typer(add_completion=False)
    application.command()(module.command)
    return cast("_Command", typer.main.get_command(application))


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
