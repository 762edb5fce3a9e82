"""The journal of the tracks as another process: it is of the cockpit's role, whose store no scan opens."""

from pathlib import Path

from orrery.adapters.own_process.command import failure, run_command

SECONDS = 60


def write_journal(settings_file: Path | None, text: str) -> None:
    """Write an entry of track B into the journal; raise an error when it cannot be kept."""
    config = ("--config", str(settings_file)) if settings_file else ()
    arguments = ("tenants", "journal", "add", "--track", "B", *config, "-")
    too_late = f"The journal did not keep it within {SECONDS} s, so nothing was changed."
    ended = run_command(arguments, text.encode(), SECONDS, too_late)
    if ended.code != 0:
        raise failure(ended.code)(f"The journal cannot keep it, so nothing was changed: {ended.sentence}")
