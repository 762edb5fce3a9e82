"""The commands that read the store, from the command line's own tree: a new one is measured by itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, signature
from itertools import product
from typing import Any, Literal, get_args, get_origin

import typer

from orrery.app.modules import MODULES
from orrery.runtime.module import load

CHANGES = (
    *("ack", "pause"),
    *("access resend", "access change-email", "access revoke", "access keep", "access grant", "access import"),
    *("notifications release", "notifications drop", "notifications test", "secrets announce", "privacy erase"),
    *("approvals sign", "approvals settle", "approvals close", "approvals withdraw"),
    *("fraud propose", "fraud block", "fraud unblock", "restore"),
)
ASK = ("checkout", "processor", "fraud clusters", "fraud lists", "live", "approvals show")
"""What asks the processor or the counter, or for one record by its id."""

OTHERS = (
    *("site", "serve", "demo", "sandbox", "init", "setup", "config", "store", "nodes", "admin", "backup"),
    "secrets reload",
)

SLOW = ("doctor", "privacy export", "access list --state", "sales 2")
"""What reads every record, or the sales of years: not every day."""

Values = Mapping[str, Sequence[str]]
"""What is given to an argument, by its name."""


def reading(session: str) -> list[Sequence[str]]:
    """Return the words of each command that reads the store, once a value of an option; `session` was paid."""
    email = f"{session}@example.org"
    periods = "today", "7d", "30d", "month", "last-month", "2000-01-01..2100-12-31"
    values = {"who": (session, email), "person": (email,), "period": periods}
    left_out = *CHANGES, *ASK, *OTHERS
    commands = {name: callback for name, callback in _commands() if not name.startswith(left_out)}
    return [words for name, callback in commands.items() for words in _forms(name.split(), callback, values)]


def _commands() -> Iterator[tuple[str, Callable[..., object]]]:
    for command in (one for module in MODULES for one in module.commands if one.role == "site"):
        found = load(command.target)
        if not isinstance(found, typer.Typer):
            yield command.name, found
            continue
        for one in found.registered_commands:
            if one.callback:
                yield f"{command.name} {one.name or one.callback.__name__}", one.callback


def _forms(name: Sequence[str], callback: Callable[..., object], values: Values) -> Iterator[Sequence[str]]:
    taken = [one for one in signature(callback, eval_str=True).parameters.values() if one.name != "runner"]
    required = [values[one.name] for one in taken if one.default is Parameter.empty]
    yield from ([*name, *given] for given in product(*required))
    for one in taken:
        if one.default is not Parameter.empty and not required:
            yield from ([*name, *words] for words in _optional(one, values))


def _optional(taken: Parameter, values: Values) -> Iterator[Sequence[str]]:
    kind, option = get_args(taken.annotation)[:2]
    if taken.name in values:
        yield from ([one] for one in values[taken.name])
    elif kind is bool and taken.name != "as_json":
        yield [_option(taken, option)]
    for part in (kind, *get_args(kind)):
        if get_origin(part) is Literal:
            yield from ([_option(taken, option), one] for one in get_args(part))


def _option(taken: Parameter, option: Any) -> str:  # noqa: ANN401  typer's own, of two kinds
    declared = (
        option.default,
        *(option.param_decls or ()),
    )  # an annotation's first name is in the default's place
    return next((one for one in declared if isinstance(one, str)), f"--{taken.name}")
