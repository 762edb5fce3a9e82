"""The commands with their options: each has a name and a sentence; only the one that is used is imported."""

import inspect
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from orrery.app.main import command_of
from orrery.app.modules import MODULES
from orrery.errors import OrreryError
from orrery.runtime.module import Command, load

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from orrery.runtime.console.runner import Runner

_NAME = "orrery"

_COMPLETED_VARIABLES = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""The variables in which the shells' completion scripts pass the typed text: bash's, and that of the others."""

WIDEST = 120
"""Columns of the help."""


def run(arguments: Sequence[str]) -> None:
    """Run a command; an error that is raised on purpose ends it with its sentence and its exit code."""
    words = [*arguments, *_to_complete()[1:]]
    try:
        code = _application(words)(
            prog_name=_NAME, obj=partial(runner_for, command_of(words)), standalone_mode=False
        )
    except OrreryError as error:
        _end(str(error), error.exit_code)
    except typer.TyperException as error:
        from orrery.app.wrong_call import sentence_about  # noqa: PLC0415  a right call needs none

        _end(sentence_about(error), error.exit_code)
    except typer.Abort:
        _end("Nothing was typed: it ended.", OrreryError.exit_code)
    sys.exit(code)


def _end(sentence: str, code: int) -> NoReturn:
    from orrery.runtime.console.terminal import new_console, visible  # noqa: PLC0415  rich doubles the time to start

    lines = map(visible, sentence.split("\n"))
    new_console(stderr=True).print("\n".join(lines), style="red", markup=False)
    sys.exit(code)


def runner_for(command: Command | None, config: "Path | None") -> "AbstractContextManager[Runner]":
    """Return the runner of a deployment: only a command that is run composes one."""
    from orrery.app.runner import runner_of  # noqa: PLC0415  it imports a store, and `--help` none

    if command is None:
        return runner_of(config)
    own = [module.name for module in MODULES if command in module.commands]
    return runner_of(config, None if command.whole else own, command.role)


def _application(words: Sequence[str]) -> typer.Typer:
    root = typer.Typer(
        name=_NAME,
        help="One person's checkout and live counter, and the desk to watch them from.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # boxes around the help take longer than all else of it
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
    )
    _ = root.callback()(_options)
    wanted = command_of(words)
    _fill(root, "", wanted)
    return root


def _fill(group: typer.Typer, above: str, wanted: Command | None) -> None:
    """Add the commands right below a group, whose words are `above`; only the wanted one is loaded."""
    for command in _below(above):
        word = command.name.removeprefix(above)
        if wanted and wanted.name.startswith(f"{command.name} "):
            between = typer.Typer(no_args_is_help=True)
            _ = between.callback()(_only_a_group)
            _fill(between, f"{command.name} ", wanted)
            group.add_typer(between, name=word, help=command.summary, short_help=command.summary)
        elif command == wanted:
            _add(group, word, command)
        else:
            _ = group.command(word, short_help=command.summary)(_only_listed)


def _below(above: str) -> list[Command]:
    commands = [command for module in MODULES for command in module.commands]
    return [one for one in commands if one.name.startswith(above) and " " not in one.name.removeprefix(above)]


def _add(group: typer.Typer, word: str, command: Command) -> None:
    found = load(command.target)
    if isinstance(found, typer.Typer):
        _show_whole_summaries(found)
        for further in _below(f"{command.name} "):
            last = further.name.removeprefix(f"{command.name} ")
            _ = found.command(last, short_help=further.summary)(_only_listed)
        group.add_typer(found, name=word, help=command.summary, short_help=command.summary)
    else:
        _, _, further_help = (inspect.getdoc(found) or "").partition("\n\n")
        whole = f"{command.summary}\n\n{further_help}"
        group.command(word, help=whole, short_help=command.summary)(found)


def _show_whole_summaries(group: typer.Typer) -> None:
    """Without this the list of a group's commands cuts each summary to fit on one line."""
    for command in group.registered_commands:
        text = inspect.getdoc(command.callback) if command.callback else None
        command.short_help = command.short_help or (text or "").partition("\n\n")[0].replace("\n", " ")


def _to_complete() -> list[str]:
    """Return the words of a line that the shell wants completed: they are not among the arguments."""
    return " ".join(os.environ.get(name, "") for name in _COMPLETED_VARIABLES).split()  # noqa: TID251  the shell's own


def _show_version(value: bool) -> None:  # noqa: FBT001  typer calls it with the flag
    if value:
        from importlib.metadata import version  # noqa: PLC0415  it takes longer than a help needs besides typer

        typer.echo(f"orrery {version('orrery')}")
        raise typer.Exit


def _options(
    _version: Annotated[  # noqa: FBT002  a flag of the command line, read by its callback
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Handle the options before the command."""


def _only_a_group() -> None:
    """Make a group of what holds one command only."""


def _only_listed() -> None:
    """Replace a command that is only listed, not run."""
