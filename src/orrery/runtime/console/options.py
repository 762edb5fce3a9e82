"""The options that commands share."""

from typing import Annotated

import typer

Reason = Annotated[
    str, typer.Option("--reason", "-r", help="Why; it is kept with what was done.", show_default=False)
]
Since = Annotated[str, typer.Option(help="How far back, such as 30d, 12h or 90m.")]
Newest = Annotated[int, typer.Option(min=1, max=100_000, help="How many, the newest first.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
