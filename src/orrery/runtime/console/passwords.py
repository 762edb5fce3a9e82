"""The admin password as the owner's commands get it: from a file, a variable, or a terminal that shows nothing."""

import os
import sys
from getpass import getpass
from pathlib import Path
from typing import Annotated

import typer

from orrery.errors import Invalid, words_of

PASSWORD_VARIABLE = "ADMIN_PASSWORD"  # noqa: S105  a name, no password
"""The variable that holds the password of the service that is asked, which need not be this machine's."""

PasswordFile = Annotated[
    Path | None, typer.Option(help="A file with the admin password; by default $ADMIN_PASSWORD, or you are asked.")
]


def given_password(file: Path | None, prompt: str = "Admin password: ") -> str | None:
    """Return the password from the file, else from the variable, else from the terminal, or None without any.

    Raises `Invalid` when the file cannot be read.
    """
    if file is not None:
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Invalid(f"The password file {file} cannot be read: {words_of(error)}.") from None
    if password := os.environ.get(PASSWORD_VARIABLE):  # noqa: TID251  no setting of ours: another service's password
        return password
    return getpass(prompt) if sys.stdin.isatty() else None
