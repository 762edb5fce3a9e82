"""The pictures of commands, as files."""

from pathlib import Path

from orrery.errors import Invalid
from orrery.runtime.console.tables import note


def write_picture(file: Path, text: str) -> None:
    """Write a picture and print its path; raise `Invalid`."""
    try:
        _ = file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Invalid(f"{file} cannot be written: {error.strerror}.") from None
    note(f"The picture is in {file}.")
