"""A wrong value is answered with one sentence of ours, whatever the option takes (issue 39, line 6)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast, get_args

import pytest
import typer

from orrery.app.wrong_call import sentence_about
from orrery.runtime.console.runner import Runner
from orrery.runtime.module import load
from tests.support.commands import COMMANDS
from tests.support.program import run_orrery
from tests.support.tables import each_case

_NO_WRONG_VALUE = {str, bool, Path, Runner}
"""What an option may take that has no wrong value for typer: the commands examine texts and files themselves."""

_SENTENCE = re.compile(
    r"(--[\w-]+|\w+) takes "
    r"(a day, such as [\d-]+|"
    r"a (whole )?number( of at (least|most) \d+| from \d+ to \d+)?|[\w-]+(, [\w-]+)* or [\w-]+)"
    r"\. Type `orrery [a-z -]+ --help`\."
)


def typed_options() -> Iterator[tuple[str, Any, list[str]]]:
    """Yield each command with an option or argument of a type that has wrong values, and a call with one."""
    for command in COMMANDS:
        if not command.plain:
            found = load(command.target)
            if not isinstance(found, typer.Typer):
                found, alone = typer.Typer(add_completion=False), found
                found.command()(alone)
            yield from _below(cast("Any", typer.main.get_command(found)), f"orrery {command.name}", [])


def _below(command: Any, name: str, words: list[str], root: Any = None) -> Iterator[tuple[str, Any, list[str]]]:  # noqa: ANN401  a command of typer's, whose classes have no public name
    for word, below in getattr(command, "commands", {}).items():
        yield from _below(below, name, [*words, word], root or command)
    for one in command.params:
        kind = one.type_descriptor.annotation
        if kind not in _NO_WRONG_VALUE and not set(get_args(kind)) & _NO_WRONG_VALUE:
            value = ["?!"] if one.param_type_name == "argument" else [one.opts[0], "?!"]
            yield name, root or command, [*words, *value]


@each_case(("name", "command", "words"), typed_options)
def test_a_wrong_value_is_answered_with_what_it_takes(name: str, command: Any, words: list[str]) -> None:  # noqa: ANN401  a command of typer's
    """No machine's words and no other's: the option, what it takes, and where more is shown."""
    with pytest.raises(typer.TyperException) as refused:
        command.main(words, prog_name=name, standalone_mode=False)
    assert _SENTENCE.fullmatch(sentence_about(refused.value)), sentence_about(refused.value)


@each_case(
    ("typed", "sentence"),
    [
        (
            "access list --limit abc",
            "--limit takes a whole number from 1 to 100000. Type `orrery access list --help`.",
        ),
        ("access list --state x", "--state takes open, ended or revoked. Type `orrery access list --help`."),
        ("access list --nope", "No such option: --nope. Type `orrery access list --help`."),
        ("access revoke ref_x", "Missing option '--reason' / '-r'. Type `orrery access revoke --help`."),
        ("access list more", "Got unexpected extra argument(s) (more). Type `orrery access list --help`."),
        ("restore no.db", "File 'no.db' does not exist. Type `orrery restore --help`."),
        ("quux", "No such command 'quux'. Type `orrery --help`."),
    ],
)
def test_a_wrong_call_is_one_sentence(typed: str, sentence: str) -> None:
    """It ends with exit code 2, and names the command that shows what is right."""
    ended = run_orrery(*typed.split())
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", f"{sentence}\n")


def test_a_group_alone_shows_its_help() -> None:
    """As before, with exit code 2."""
    ended = run_orrery("access")
    assert (ended.returncode, "Commands:" in ended.stdout + ended.stderr) == (2, True)
