"""What a round of the destinations needs: the destinations, the file of what was pushed, and the push."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.app.scan.files import ScanFiles, scan_files
from orrery.app.settings.authority import check_authority
from orrery.errors import NotConfigured
from orrery.ports.notifier import OutgoingMessage
from orrery.runtime.settings import PushSettings, TlsSettings
from orrery.scanner.deployment import PublicDestination, Push, Rounds
from orrery.tenants.settings import TenantsSettings

PUSH_TOKEN = "push_token"  # noqa: S105  its name


def destinations(config: Path | None) -> Sequence[PublicDestination]:
    """Return the destinations of track B that have a folder."""
    public = scan_files(config).settings[TenantsSettings].B
    every = public.destinations if public else ()
    return [PublicDestination(one.name, one.folder, one.kind == "repository") for one in every if one.folder]


def _push(config: Path | None) -> Push:
    files = scan_files(config)
    settings = files.settings[PushSettings]
    if not (settings.url and settings.topic):
        raise NotConfigured("Nothing can be pushed: set `url` and `topic` in [push] of the settings.")
    return _Pushing(files, settings.url, settings.topic, files.secret(PUSH_TOKEN))


@dataclass(frozen=True)
class _Pushing:
    """Sends one push; the client is loaded with the first one."""

    files: ScanFiles
    url: str
    topic: str
    token: str | None

    def __call__(self, message: OutgoingMessage) -> None:
        import asyncio  # noqa: PLC0415  most rounds send nothing

        from orrery.adapters.ntfy import NtfyNotifier  # noqa: PLC0415  the same
        from orrery.trust import Trust  # noqa: PLC0415  the same

        authority = self.files.settings[TlsSettings].ca_file
        check_authority(authority)
        trust = Trust(authority)
        asyncio.run(NtfyNotifier(self.url, self.topic, self.token, trust).send(message))


ROUNDS = Rounds(destinations, lambda config: scan_files(config).pushed(), _push, SystemClock().now)
