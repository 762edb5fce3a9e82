"""`orrery ack`: put a problem aside until it changes, or for a time."""

from typing import Annotated

import typer

from orrery.app.cli.examination import examined
from orrery.approvals.settings import ApprovalSettings
from orrery.errors import Invalid
from orrery.ports.health import as_row
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import note, show
from orrery.runtime.console.windows import parse_window
from orrery.runtime.findings import Findings
from orrery.runtime.problems import Problems, named

_COLUMNS = ("key", "severity", "since", "until", "why")

Key = Annotated[
    list[str] | None,
    typer.Argument(help="The problem, as `orrery doctor` calls it, or a part of that.", metavar="KEY"),
]
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
        found = await problems.all()
        asked = not await problems.knows(name, found)  # only `orrery doctor` asks the vendors
        if asked:
            found = await problems.among(await examined(services[Findings], runner.section(ApprovalSettings)))
        if listed:
            return [as_row(one) for one in found if one.acknowledged]
        key = named(name, found).key
        if end:
            return [as_row(await problems.end(key, found))]
        return [as_row(await problems.acknowledge(key, parse_window(time) if time else None, found, asked=asked))]

    rows = runner.run(act)
    if listed or as_json:
        show(rows, _COLUMNS, as_json=as_json, empty="Nothing is acknowledged.")
    elif end:
        note(f"{rows[0]['key']} needs attention again.")
    else:
        note(f"{rows[0]['key']} is acknowledged until {rows[0]['until']:%Y-%m-%d %H:%M} UTC, or until it changes.")
