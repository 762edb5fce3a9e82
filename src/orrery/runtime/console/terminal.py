"""What may be printed on a terminal, and how: nothing that was stored or answered can steer it."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from rich.console import Console  # noqa: TID251  the one place that makes one
from rich.markup import escape

from orrery.syntax import lines

COMMAND = re.compile(r"(`|: |^ +)(sudo -u orrery )?orrery (?=[a-z])")
"""How each command begins, in a sentence or alone on a line; the service's user types some."""

_TYPED_AS = "TYPED_AS"
"""The variable that has how a command in a container is typed outside of it; the service's user runs it."""


def new_console(*, stderr: bool = False, soft_wrap: bool = True, width: int | None = None) -> Console:
    """Return a console that leaves a text as it is: it makes no picture of the `:100:` in an address."""
    return Console(stderr=stderr, soft_wrap=soft_wrap, width=width, emoji=False, highlight=False)


def visible(text: str) -> str:
    """Return a text without what could steer a terminal, and with its commands as they are typed here."""
    return COMMAND.sub(_as_typed, lines.visible(text))


def _as_typed(found: re.Match[str]) -> str:
    if outside := typed_outside():
        return f"{found[1]}{outside} "
    return found[0] if found[2] else f"{found[1]}{_typed_here()} "


def typed_outside() -> str:
    """Return how a command in this container is typed outside of it, or nothing where there is no container."""
    return os.environ.get(_TYPED_AS, "")  # noqa: TID251  the container's, and no setting of ours


def typed(program: str, variables: Mapping[str, str], found: Callable[[str], str | None] = shutil.which) -> str:
    """Return how a person typed `program` of ours, which may be called anything else by a program."""
    if as_outside := variables.get(_TYPED_AS):
        return as_outside
    path = Path(program)
    if path.parts[-2:] == ("orrery", "__main__.py"):
        return "uv run orrery" if _OF_UV in variables else "python -m orrery"
    if path.name != "orrery" or path.parent == Path():
        return "orrery"
    if _OF_UV in variables:
        return "uv run orrery"
    on_path = found("orrery")
    return "orrery" if on_path and path.resolve() == Path(on_path).resolve() else program


_OF_UV = "UV_RUN_RECURSION_DEPTH"
"""The variable that `uv run` sets."""


@cache
def _typed_here() -> str:
    return typed(sys.argv[0], os.environ)  # noqa: TID251  how this process was called is no setting of ours


def visible_json(value: object, indent: int | None = None) -> str:
    """Return a value as JSON, in which the same is escaped as JSON does it: no reader sees a difference."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)


def marked(text: str) -> str:
    """Return the same for a place between rich's marks, where `[red]` would be one, too."""
    return escape(visible(text))
