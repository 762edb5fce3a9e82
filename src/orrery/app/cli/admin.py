"""`orrery admin`: the owner's password (spec 2, Authentication 2)."""

import sys
from getpass import getpass
from pathlib import Path
from typing import Annotated

import typer

from orrery.app.cli.services import Config
from orrery.app.settings.reader import load
from orrery.errors import Invalid
from orrery.runtime.console.tables import note
from orrery.runtime.settings import SecretFiles
from orrery.syntax.admin_password import hash_of_new

SECRET_FILE = "admin_password_hash"  # noqa: S105  a name, no password

group = typer.Typer(no_args_is_help=True)


@group.callback()
def admin() -> None:
    """Look after the owner's password."""


@group.command("hash")
def hash_password(
    write: Annotated[bool, typer.Option("--write", help="Put it into the secrets directory.")] = False,  # noqa: FBT002  a flag of the command line
    config: Config = None,
) -> None:
    """Print the hash by which the service knows the admin password: ask for it twice, or read one line."""
    directory = _secrets_directory(config) if write else None
    digest = hash_of_new(_prompt() if sys.stdin.isatty() else _piped())
    if directory is None:
        _ = sys.stdout.write(f"{digest}\n")
    else:
        from orrery.adapters.secret_file import SecretFile  # noqa: PLC0415  what is only printed needs none

        SecretFile(directory / SECRET_FILE, "").write(digest)
        note(f"Wrote {directory / SECRET_FILE}. The service reads it when it starts.")


def _prompt() -> str:
    password = getpass("Admin password: ")
    if getpass("Once more: ") != password:
        raise Invalid("The two passwords differ.")
    return password


def _piped() -> str:
    try:
        line, *more = sys.stdin.buffer.read(1 << 16).decode().splitlines() or [""]
    except UnicodeDecodeError:
        line, more = "", []
    if more:
        raise Invalid("The password must be one line.")
    return line


def _secrets_directory(config: Path | None) -> Path:
    directory = load(config)[0][SecretFiles].directory
    if directory is None:
        raise Invalid("There is no place to write to: set [secrets] directory in orrery.toml.")
    return directory
