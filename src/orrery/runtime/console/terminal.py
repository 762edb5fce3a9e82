"""What may be printed on a terminal, and how: nothing that was stored or answered can steer it."""

import json

from rich.console import Console  # noqa: TID251  the one place that makes one
from rich.markup import escape

from orrery.syntax.lines import visible


def new_console(*, stderr: bool = False, soft_wrap: bool = True, width: int | None = None) -> Console:
    """Return a console that leaves a text as it is: it makes no picture of the `:100:` in an address."""
    return Console(stderr=stderr, soft_wrap=soft_wrap, width=width, emoji=False, highlight=False)


def visible_json(value: object, indent: int | None = None) -> str:
    """Return a value as JSON, in which the same is escaped as JSON does it: no reader sees a difference."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)


def marked(text: str) -> str:
    """Return the same for a place between rich's marks, where `[red]` would be one, too."""
    return escape(visible(text))
