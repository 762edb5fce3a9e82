"""Whether there is a recent snapshot. A job that never ran reports nothing, so the service looks at the files."""

from datetime import datetime, timedelta

from orrery.ports.health import Finding

PART = "backup"

LATE = timedelta(hours=36)
"""How old the newest snapshot may be: one day between snapshots, and half a day for a machine that was off."""

_TODO = "See `systemctl status orrery-backup.timer` and `journalctl -u orrery-backup`, or run `orrery backup`."


def backup_finding(newest: datetime | None, now: datetime, *, configured: bool) -> Finding:
    """Return the state of the backups, which are not essential: buyers do not wait for them."""
    if not configured:
        todo = "Set [backup] directory, and enable orrery-backup.timer."
        why = "No folder for snapshots is configured."
        return Finding(PART, "off", why, todo, essential=False, of_machine=True)
    if newest is None:
        why = "There is no snapshot in [backup] directory, or it cannot be read."
        return Finding(PART, "broken", why, _TODO, essential=False, of_machine=True)
    made = f"The newest snapshot is of {newest:%Y-%m-%d %H:%M} UTC."
    if abs(now - newest) > LATE:  # one from the future does not count, either
        return Finding(PART, "broken", made, _TODO, essential=False, of_machine=True)
    return Finding(PART, "ok", made, essential=False, of_machine=True)
