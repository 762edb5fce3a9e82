"""The services whose counter `orrery live refresh` can refresh: in an emergency, also without usable settings."""

from pathlib import Path

from orrery.adapters.refresh import HttpRefreshService
from orrery.app.settings.reader import SettingsError, load, load_settings_if_any
from orrery.outside import is_outside
from orrery.ports.refresh import RefreshService
from orrery.runtime.console.tables import note
from orrery.runtime.settings import ServerSettings, TlsSettings
from orrery.trust import WELL_KNOWN, Trust


class HttpRefreshServices:
    """Services over HTTP; `config` names this deployment's settings, if anybody did."""

    def __init__(self, config: Path | None) -> None:
        self._config = config

    def own_address(self) -> str:
        """Return where this deployment's service listens."""
        return load(self._config)[0][ServerSettings].address

    def at(self, base_url: str) -> RefreshService:
        """Return a service; raise `SettingsError` for named settings that cannot be used."""
        return HttpRefreshService(base_url, self._trust() if is_outside(base_url) else WELL_KNOWN)

    def _trust(self) -> Trust:
        """Return whose certificates are trusted; settings that the call does not name do not stop an emergency."""
        try:
            return Trust(load_settings_if_any(self._config)[TlsSettings].ca_file)
        except SettingsError as error:
            if self._config:
                raise
            note(f"{error} Only the well-known certificate authorities are trusted.")
            return WELL_KNOWN
