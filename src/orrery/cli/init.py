"""`orrery init`: a settings file with every key explained, a folder for the secrets, and a store."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from orrery.adapters.sqlite import create
from orrery.cli.tables import note
from orrery.errors import Invalid
from orrery.settings import Secrets
from orrery.settings.model import StoreSettings


def command(
    folder: Annotated[Path, typer.Argument(help="Where orrery.toml, secrets/ and the store go.")] = Path(),
    no_store: Annotated[bool, typer.Option("--no-store", help="Make no store.")] = False,  # noqa: FBT002  a flag of the command line
) -> None:
    """Write orrery.toml, an empty folder secrets/ and an empty store; overwrite nothing."""
    file, secrets, stored = folder / "orrery.toml", folder / "secrets", folder / StoreSettings().path
    if not no_store and stored.exists():
        raise Invalid(
            f"There is a store at {stored} already, such as the demo's; nothing was written. "
            "Choose another folder, or keep that store with --no-store."
        )
    _write(file, secrets)
    note(f"Wrote {file}. Put each secret into a file of its own in {secrets}/:")
    for name in Secrets.model_fields:
        note(f"  {name}")
    if no_store:
        note("Made no store: `orrery store create` makes one where orrery.toml says.")
    else:
        create(stored)
        note(f"Made an empty store at {stored}.")
    note("Then `orrery doctor` tells what is missing, and `orrery serve` runs the service.")


def _write(file: Path, secrets: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        secrets.mkdir(mode=0o700, exist_ok=True)
        with file.open("x", encoding="utf-8") as new:
            new.write(files("orrery").joinpath("web/init/orrery.toml").read_text(encoding="utf-8"))
    except FileExistsError:
        raise Invalid(f"{file} exists already; nothing was written.") from None
    except OSError as error:
        raise Invalid(f"{file} can not be written: {error.strerror}.") from None
