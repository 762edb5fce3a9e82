"""`orrery init`: a settings file with every key explained, and a folder for the secrets."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from orrery.cli.tables import note
from orrery.errors import Invalid
from orrery.settings import Secrets


def command(
    folder: Annotated[Path, typer.Argument(help="Where orrery.toml and secrets/ go.")] = Path(),
) -> None:
    """Write orrery.toml and an empty folder secrets/; overwrite nothing."""
    file, secrets = folder / "orrery.toml", folder / "secrets"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        secrets.mkdir(mode=0o700, exist_ok=True)
        with file.open("x", encoding="utf-8") as new:
            new.write(files("orrery").joinpath("web/init/orrery.toml").read_text(encoding="utf-8"))
    except FileExistsError:
        raise Invalid(f"{file} exists already; nothing was written.") from None
    except OSError as error:
        raise Invalid(f"{file} can not be written: {error.strerror}.") from None
    note(f"Wrote {file}. Put each secret into a file of its own in {secrets}/:")
    for name in Secrets.model_fields:
        note(f"  {name}")
    note("Then `orrery doctor` tells what is missing, and `orrery serve` runs the service.")
