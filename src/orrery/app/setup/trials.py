"""Own commands as `orrery setup` runs them: as the service's user, so that each file they make is that user's."""

import asyncio
import json
import os
import pwd
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orrery.adapters.own_process.command import Ended, run_command
from orrery.app.adapters import Adapters
from orrery.app.settings.reader import load
from orrery.app.setup.deployment_files import USER, DeploymentFiles
from orrery.app.store_place import clock_of, store_place
from orrery.errors import Invalid, NoStore, StoreMissing
from orrery.ports.processor import CheckoutSession, ProcessorReads
from orrery.runtime.secret_probe import RELOAD

BEFORE_ALL = datetime(2010, 1, 1, tzinfo=UTC)
"""Before the processor had its first session."""

PATIENCE = 120
"""Seconds for one command, which may ask every vendor."""


class OwnCommands:
    """Runs commands of Orrery over the settings of one folder."""

    def __init__(self, files: DeploymentFiles) -> None:
        self._config = files.settings_file
        self._user = _service_user() if files.is_the_systems and is_root() else None

    def run(self, *words: str) -> Ended:
        """Run a command, which can ask nothing; raise `DependencyFailed` when it takes too long."""
        arguments = (*words, "--config", str(self._config))
        too_late = f"`orrery {' '.join(words)}` takes longer than {PATIENCE} seconds."
        return run_command(arguments, b"", PATIENCE, too_late, user=self._user)

    def listed(self, *words: str) -> list[dict[str, Any]]:
        """Return what a command lists as JSON; raise `Invalid` with its sentence when it fails."""
        ended = self.run(*words)
        try:
            return json.loads(ended.printed)
        except ValueError:
            raise Invalid(ended.sentence) from None

    def broken(self, parts: Sequence[str]) -> list[str]:
        """Return the problems of parts with these beginnings, in sentences; what is too early to judge is none."""
        rows = self.listed("doctor", "--json") if parts else []
        found = [row for row in rows if row["part"].startswith(tuple(parts)) and not row["early"]]
        return [f"{one['part']}: {one['why']} {one['todo']}".strip() for one in found if one["state"] == "broken"]

    def held(self) -> list[bool]:
        """Return of each secret whether the service on this machine holds it; nothing where none answers."""
        rows = self.listed("secrets", "check", "--json")
        return [row["in_use"] for row in rows if row["in_use"] is not None]

    def bad_secrets(self, names: Sequence[str]) -> list[str]:
        """Return what is wrong with these secrets, in sentences, and what they lack at the vendor."""
        rows = self.listed("secrets", "check", "--json") if names else []
        found = [row for row in rows if row["secret"] in names and row["state"] == "broken"]
        return [
            f"{row['secret']}: {row['found']} {row['what_to_do']}" for row in found if row["what_to_do"] != RELOAD
        ]


def has_no_store(files: DeploymentFiles) -> bool:
    """Return whether there is no store, and nothing that is left of one; raise `StoreError` if none can tell."""
    try:
        _ = store_place(*load(files.settings_file)).closed()
    except NoStore:
        return True
    except StoreMissing:
        return False
    return False


def completed_session(files: DeploymentFiles) -> str:
    """Return the id of a completed session at the processor, or nothing when it lists none."""
    settings, secrets = load(files.settings_file)

    async def found() -> str:
        reads = Adapters(settings, secrets, clock_of(settings)).port(ProcessorReads)
        async for one in reads.list_sessions(BEFORE_ALL):
            if not isinstance(one, CheckoutSession) or one.status == "complete":
                return getattr(one, "id", "one that cannot be read")
        return ""

    return asyncio.run(found())


def _service_user() -> str:
    try:
        return pwd.getpwnam(USER).pw_name
    except KeyError:
        raise Invalid(
            f"There is no user {USER}: the Debian package makes it, or "
            f"useradd --system --home-dir /var/lib/orrery --shell /usr/sbin/nologin {USER}"
        ) from None


def is_root() -> bool:
    """Return whether this process may do what only root may."""
    return os.geteuid() == 0


def has_systemd() -> bool:
    """Return whether systemd runs this machine."""
    return Path("/run/systemd/system").is_dir()
