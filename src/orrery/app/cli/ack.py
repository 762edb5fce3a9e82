"""`orrery ack`: put a problem aside until it changes, or for a time."""

from typing import Annotated

import typer

from orrery.errors import Invalid
from orrery.ports.health import as_row
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import note, show
from orrery.runtime.console.windows import parse_window
from orrery.runtime.problems import Problems

_COLUMNS = ("key", "severity", "since", "until", "why")

Key = Annotated[list[str] | None, typer.Argument(help="The problem, as `orrery doctor` calls it.", metavar="KEY")]
For = Annotated[
    str,
    typer.Option("--for", help="How long, such as 1d; else until it changes, 7 days at most.", show_default=False),
]


def command(
    key: Key = None,
    time: For = "",
    end: Annotated[bool, typer.Option("--end", help="Bring it back.")] = False,  # noqa: FBT002  a flag of the command line
    listed: Annotated[bool, typer.Option("--list", help="List what is acknowledged.")] = False,  # noqa: FBT002  a flag of the command line
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Acknowledge a problem: it folds in every view and still counts, and nothing is pushed of it.

    It comes back when its severity rises, when it concerns something new, or when the time is over.
    """
    name = " ".join(key or ())
    if listed == bool(name) or (time and (end or listed)):
        raise Invalid("Give a KEY of `orrery doctor`, with --for or --end if you like; or --list.")

    async def act(services: Services) -> list[dict[str, object]]:
        problems = services[Problems]
        if listed:
            return [as_row(one) for one in await problems.all() if one.acknowledged]
        done = problems.end(name) if end else problems.acknowledge(name, parse_window(time) if time else None)
        return [as_row(await done)]

    rows = runner.run(act)
    if listed or as_json:
        show(rows, _COLUMNS, as_json=as_json, empty="Nothing is acknowledged.")
    elif end:
        note(f"{name} needs attention again.")
    else:
        note(f"{name} is acknowledged until {rows[0]['until']:%Y-%m-%d %H:%M} UTC, or until it changes.")
