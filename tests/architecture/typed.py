"""Commands of `orrery`, typed in this process."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from orrery.app.main import main


def typed(*words: str | Path) -> tuple[int, str]:
    """Run one command; return its exit code and what it printed."""
    sys.argv, printed, code = ["orrery", *map(str, words)], io.StringIO(), 0
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return code, printed.getvalue()
