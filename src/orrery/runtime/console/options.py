"""The options that commands share."""

from typing import Annotated

import typer

Reason = Annotated[
    str, typer.Option("--reason", "-r", help="Why; it is kept with what was done.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
