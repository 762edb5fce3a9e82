"""The journal of the tracks as a process of its own: it is of the cockpit's role, whose store no scan opens."""

import subprocess
import sys
from pathlib import Path

from orrery.errors import NotConfigured

SECONDS = 60


def write_journal(settings_file: Path | None, text: str) -> None:
    """Write an entry of track B into the journal; raise `NotConfigured` when it cannot be kept."""
    config = ("--config", str(settings_file)) if settings_file else ()
    command = (sys.executable, "-P", "-m", "orrery", "tenants", "journal", "add", "--track", "B", *config, "-")
    try:
        run = subprocess.run(command, input=text.encode(), capture_output=True, timeout=SECONDS, check=False)  # noqa: S603  our own
    except subprocess.TimeoutExpired:
        raise NotConfigured(f"The journal did not keep it within {SECONDS} s, so nothing was changed.") from None
    if run.returncode != 0:
        said = run.stderr.decode(errors="replace").strip().splitlines()
        why = said[-1] if said else f"exit {run.returncode}"
        raise NotConfigured(f"The journal cannot keep it, so nothing was changed: {why}")
