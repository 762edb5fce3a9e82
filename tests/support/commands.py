"""Every command of the command line with its options and arguments, as typer sees them."""

import re
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Protocol, cast

import typer

from orrery.app.modules import MODULES
from orrery.app.plain import run
from orrery.runtime.module import Command, load


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
    invoke_without_command: bool
    """Of a group only: it does something by itself."""


COMMANDS = [command for module in MODULES for command in module.commands]


@cache
def commands() -> dict[str, list[Parameter]]:
    """Return the parameters of each command, by what is typed to call it: `orrery access list`."""
    found: dict[str, list[Parameter]] = {}
    for command in COMMANDS:
        if command.plain:
            found[f"orrery {command.name}"] = [*_plain_parameters(plain_help(command))]
        else:
            found |= dict(_walk(_root(command.target), f"orrery {command.name}"))
    return found


def plain_help(command: Command) -> str:
    """Return what a plain command prints for `--help`."""
    with redirect_stdout(printed := StringIO()), suppress(SystemExit):
        _ = run(command, ["--help"])
    return printed.getvalue()


def _plain_parameters(text: str) -> Iterator[Parameter]:
    """Yield the options and arguments in a help of argparse, where an option's line begins with its names."""
    for words in re.findall(r"(?m)^  (\S.*?)(?:  .*)?$", text):
        options = tuple(re.findall(r"-[\w-]+", words)) if words.startswith("-") else ()
        if "--help" not in options:
            yield Parameter(options or (words.upper(),), not options, "")


def help_texts() -> Iterator[tuple[str, str]]:
    """Yield what `--help` says of each command and group, with its options, by what is typed to call it."""
    for command in COMMANDS:
        if command.plain:
            yield f"orrery {command.name}", plain_help(command)
        else:
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
    is_group = hasattr(command, "commands")
    if not is_group or command.invoke_without_command:
        yield typed, [_parameter(each) for each in command.params]
    if not is_group:
        return
    for name, each in command.commands.items():
        yield from _walk(each, f"{typed} {name}")


def _parameter(each: _Parameter) -> Parameter:
    names = (each.name.upper(),) if each.param_type_name == "argument" else tuple(each.opts)
    told = isinstance(each.default, (str, int, Path)) and not isinstance(each.default, bool)
    return Parameter(names, each.required, str(each.default) if told else "")
