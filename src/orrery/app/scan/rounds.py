"""What a round of the destinations stands on: the destinations, the file of what was pushed, and the push."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.adapters.private_files import OwnFile
from orrery.app.scan.files import ScanFiles, scan_files
from orrery.app.settings.authority import check_authority
from orrery.errors import NotConfigured
from orrery.ports.notifier import OutgoingMessage
from orrery.runtime.settings import Push as PushSettings
from orrery.runtime.settings import TlsSettings
from orrery.scanner.deployment import PublicDestination, Push
from orrery.tenants.settings import TenantsSettings

PUSH_TOKEN = "push_token"  # noqa: S105  its name


@dataclass(frozen=True)
class LocalRounds:
    """See `Rounds`."""

    def places(self, config: Path | None) -> Sequence[PublicDestination]:
        public = scan_files(config).settings[TenantsSettings].B
        every = public.destinations if public else ()
        return [PublicDestination(one.name, one.folder, one.kind == "repository") for one in every if one.folder]

    def told(self, config: Path | None) -> OwnFile:
        return scan_files(config).told()

    def push(self, config: Path | None) -> Push:
        files = scan_files(config)
        settings = files.settings[PushSettings]
        if not (settings.url and settings.topic):
            raise NotConfigured("Nothing can be pushed: set `url` and `topic` in [push] of the settings.")
        token = files.secret(PUSH_TOKEN)
        return _Pushing(files, settings.url, settings.topic, token)

    def now(self) -> datetime:
        return SystemClock().now()


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
