"""`orrery secrets reload`: the service on this machine takes the secrets that are there now, by a new start.

A secret is read once, at the start: so a process has one value from its first request to its last.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orrery.app.cli.services import Config
from orrery.app.settings.reader import settings_file
from orrery.app.setup.deployment_files import DeploymentFiles
from orrery.app.setup.going_on import NOT_STARTED, UNITS, is_active, may_start, restart
from orrery.app.setup.trials import OwnCommands
from orrery.errors import DependencyFailed, Invalid
from orrery.runtime.console.tables import note
from orrery.runtime.secret_probe import RELOAD


def command(config: Config = None) -> None:
    """Have the service take secrets that were changed, once they are examined.

    A secret that is missing or cannot be used, or a setting that no start takes, leaves the service as it is.
    """
    files = DeploymentFiles(settings_file(config))
    commands = OwnCommands(files)
    before = _examined(files, commands)
    changed = [row["secret"] for row in before if row["in_use"] is False]
    runs = any(row["in_use"] is not None for row in before)
    if runs and not changed and not any(row["what_to_do"] for row in before):
        note(f"The service holds these values already: {_named(before)}.")
    else:
        _note_untried(files, before)
        # One that runs and does not answer has another private port than these settings.
        runs = runs or is_active(files)
        what = ", ".join(changed) or (runs and _SETTINGS) or ""
        _restart(files, what)
        _require_taken(commands.listed(*_EXAMINE))
        note(f"Taken: {what}." if what else "The service did not run, and runs now.")
        note(f"In use: {_named(before)}.")
    for row in before:
        for node in row["other_on"]:
            note(f"{node} still holds another value of {row['secret']}: write it there, and type the same there.")


_SETTINGS = "the settings, which differ from those that the service ran with"

_UNTRIED: Mapping[str, Callable[[DeploymentFiles], str]] = {
    "push_token": lambda files: f"{files.command('notifications test push')} does",
    "mail_password": lambda files: f"{files.command('notifications test email --to ADDRESS')} does",
    "analytics_service_account_key": lambda files: f"{files.command('live test')} does",
    "webhook_signing_secret": lambda files: (
        f"its next delivery shows whether it is the endpoint's, and {files.command('doctor')} what became of it"
    ),
}
"""What tries a secret that no examination does: a try sends something, or waits for the vendor."""

_EXAMINE = ("secrets", "check", "--json")


def _examined(files: DeploymentFiles, commands: OwnCommands) -> Sequence[Mapping[str, Any]]:
    """Return each secret as it was examined; raise `Invalid` with what the service would not do well with."""
    rows = commands.listed(*_EXAMINE)
    wrong = [
        f"{row['secret']}: {row['found']}. {row['what_to_do'].replace(RELOAD, '').strip()}"
        for row in rows
        if row["state"] == "broken" and row["what_to_do"] != RELOAD
    ]
    if wrong:
        raise Invalid("\n".join([*wrong, _UNTOUCHED]))
    if commands.run("config", "check").code == Invalid.exit_code:
        raise Invalid(f"The service would not start: {files.command('config check')} shows why. {_UNTOUCHED}")
    return rows


_UNTOUCHED = "The service that runs was not touched."


def _note_untried(files: DeploymentFiles, rows: Sequence[Mapping[str, Any]]) -> None:
    for name in (row["secret"] for row in rows if row["fingerprint"] and row["in_use"] is False):
        if name in _UNTRIED:
            note(f"{name} was not tried at its vendor: {_UNTRIED[name](files)}.")


def _restart(files: DeploymentFiles, what: str) -> None:
    if not may_start(files):
        aim = f" for {what}" if what else ""
        raise DependencyFailed(
            f"The secrets can be used. Only root can restart the service here, and only where it is systemd's "
            f"{UNITS[0]}: restart it{aim} the way you started it, and type this again."
        )
    if restart():
        raise DependencyFailed(NOT_STARTED)


def _require_taken(rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise `DependencyFailed` unless the service holds what is there, and none that was removed as announced."""
    if left := [
        row["secret"]
        for row in rows
        if (row["fingerprint"] and not row["in_use"]) or (row["announced_until"] and row["in_use"] is False)
    ]:
        raise DependencyFailed(
            f"The service was restarted, and does not hold what is there: {', '.join(left)}. Its unit may read "
            "them elsewhere: look at LoadCredential and Environment in `systemctl cat orrery`."
        )


def _named(rows: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(row["secret"] for row in rows if row["fingerprint"])
