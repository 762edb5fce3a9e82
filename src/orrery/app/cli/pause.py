"""`orrery pause`: for a while, nothing is pushed of what the owner's own maintenance breaks."""

from typing import Annotated

import typer

from orrery.errors import Invalid
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import note, show
from orrery.runtime.console.windows import parse_window
from orrery.runtime.planned_pause import Pause, PlannedPauses

Time = Annotated[
    str, typer.Argument(help="How long, such as 2h; 12h at most.", metavar="TIME", show_default=False)
]
Reason = Annotated[str, typer.Option(help="Why; every view shows it.", show_default=False)]


def command(
    time: Time = "",
    reason: Reason = "",
    end: Annotated[bool, typer.Option("--end", help="End it now.")] = False,  # noqa: FBT002  a flag of the command line
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Plan a pause: until it ends, nothing is pushed of what maintenance breaks; without TIME, show it.

    Urgent pushes come all the same. What is still broken at its end is pushed then.
    """
    if bool(time) != bool(reason) or (time and end):
        raise Invalid("Give a TIME such as 2h with --reason; or --end; or neither, to see the pause that runs.")

    async def act(services: Services) -> Pause | None:
        pauses = services[PlannedPauses]
        if end:
            return await pauses.end()
        return await (pauses.begin(parse_window(time), reason) if time else pauses.running())

    pause = runner.run(act)
    if end:
        note("The planned pause is over.")
    else:
        rows = [pause.model_dump(exclude={"v"})] if pause else []
        show(rows, ("begins", "until", "reason"), as_json=as_json, empty="No planned pause runs.")
