"""`orrery live schedule`: ready files for whatever calls the refresh each minute (issue 3, item 6)."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from orrery.errors import Invalid
from orrery.live.schedules import Kind, ReadyFile, ready_files
from orrery.runtime.console.tables import note


def schedule(
    kind: Annotated[Kind, typer.Argument(help="A systemd timer, an edge cron worker, or a manual CI workflow.")],
    base_url: Annotated[str, typer.Option(help="Where the service is.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option(help="Write the files into this folder; overwrite nothing.")
    ] = None,
) -> None:
    """Print ready files, or write them, that refresh the counter from elsewhere."""
    ready = ready_files(kind, base_url)
    if output is None:
        _ = sys.stdout.write(_shown(ready))
    else:
        _write(ready, output)


def _shown(ready: Sequence[ReadyFile]) -> str:
    """Return the text of one file as it is, and of several under their names."""
    if len(ready) == 1:
        return ready[0].text
    return "\n".join(f"==> {file.name} <==\n{file.text}" for file in ready)


def _write(ready: Sequence[ReadyFile], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if there := [file.name for file in ready if (folder / file.name).exists()]:
            raise Invalid(f"{folder / there[0]} exists already; nothing was written.")
        for file in ready:
            with (folder / file.name).open("x", encoding="utf-8") as new:
                _ = new.write(file.text)
            note(f"Wrote {folder / file.name}.")
    except OSError as error:
        raise Invalid(f"{folder} cannot be written to: {error.strerror}.") from None
