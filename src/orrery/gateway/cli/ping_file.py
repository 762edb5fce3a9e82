"""Files that another machine's command printed."""

import sys
from pathlib import Path

from orrery.errors import Invalid, words_of
from orrery.gateway.cloud.ping_file import PingFile, read_pings
from orrery.runtime.console.tables import note


def read_ping_file(file: Path) -> PingFile:
    """Return what `orrery gateway pings --json` printed; raise `Invalid`, and name items that are left out."""
    found = read_pings(text_of(file))
    if found.unreadable:
        note(f"{found.unreadable} items of {file} cannot be read, and are left out.")
    return found


def text_of(file: Path) -> str:
    """Return the text of a file, or the standard input for `-`; raise `Invalid`."""
    try:
        if file == Path("-"):
            return sys.stdin.read()
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file} cannot be read: {words_of(error)}.") from None
