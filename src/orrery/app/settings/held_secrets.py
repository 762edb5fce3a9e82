"""The secrets of this process as the secrets check sees them: fingerprints only."""

import asyncio
import platform
from collections.abc import Mapping

from orrery.app.settings import Secrets, Settings, held_fingerprints, observe_secrets, uses_of
from orrery.runtime.secret import Form, SecretUse
from orrery.runtime.settings import Server
from orrery.secrets.fingerprints import Fingerprinting, SecretObservations


class HeldSecretFiles:
    """The secrets in this process's memory, and where they lie."""

    def __init__(self, settings: Settings, secrets: Secrets) -> None:
        self._settings = settings
        self._secrets = secrets

    @property
    def observer(self) -> str:
        """Return the listener that only this process has."""
        return f"{platform.node()}:{self._settings[Server].private_port}"

    @property
    def troubles(self) -> Mapping[str, str]:
        return self._secrets.troubles

    def form(self, name: str) -> Form:
        """Return how a secret in memory looks."""
        return self._secrets.form(name, self._settings.mode)

    def held(self, fingerprint: Fingerprinting) -> Mapping[str, str | None]:
        """Return the fingerprint of each secret in memory, or None for one that is not set."""
        return held_fingerprints(self._secrets, fingerprint)

    async def observe(self, fingerprint: Fingerprinting) -> SecretObservations:
        """Return the present state of each secret where it lies; the settings are those of the start."""
        return await asyncio.to_thread(observe_secrets, self._settings, fingerprint)

    def uses(self) -> Mapping[str, SecretUse]:
        """Return the use of each secret."""
        return uses_of(self._settings)
