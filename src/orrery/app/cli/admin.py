"""`orrery admin`: the owner's password (spec 2, Authentication 2)."""

import os
import sys
import tempfile
from getpass import getpass
from pathlib import Path
from typing import Annotated

import typer

from orrery.app.cli.services import Config
from orrery.app.settings.reader import load
from orrery.errors import Invalid
from orrery.runtime.console.tables import note
from orrery.runtime.settings import SecretFiles
from orrery.syntax.admin_password import hashed, sendable

SHORTEST_PASSWORD = 12
"""Characters: the hash is a plain SHA-256, as the spec requires, so only length protects it from guesses."""

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
    password = sendable(_prompt() if sys.stdin.isatty() else _piped())
    if len(password) < SHORTEST_PASSWORD:
        raise Invalid(f"The password must have at least {SHORTEST_PASSWORD} characters.")
    digest = hashed(password.encode())
    if directory is None:
        _ = sys.stdout.write(f"{digest}\n")
    else:
        _replace(directory / SECRET_FILE, f"{digest}\n")
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


def _replace(file: Path, text: str) -> None:
    """Write a secret file that only its owner reads, whole or not at all."""
    try:
        # The name begins with a dot, so that a service that starts meanwhile does not take it for a secret.
        handle, name = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
        try:
            with open(handle, "w", encoding="ascii") as new:  # noqa: PTH123  it is open already
                _ = new.write(text)
                new.flush()
                os.fsync(handle)
            _ = Path(name).replace(file)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise Invalid(f"{file} cannot be written: {error.strerror}.") from None
