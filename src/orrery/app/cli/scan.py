"""The composition root of the role scan: what its commands stand on. Nothing here meets the site's settings."""

from collections.abc import Sequence
from pathlib import Path

from orrery.adapters.file_tree import FileTree
from orrery.app.scan.settings import load
from orrery.ports.scanned import Source
from orrery.scanner.deployment import Loaded


class LocalSources:
    """See `Sources`."""

    def files(self, paths: Sequence[Path]) -> Source:
        return FileTree(paths)

    def staged(self, folder: Path) -> Source:
        raise NotImplementedError(folder)

    def history(self, folder: Path) -> Source:
        raise NotImplementedError(folder)

    def outgoing(self, folder: Path, references: str) -> Source:
        raise NotImplementedError(folder, references)

    def message(self, file: Path) -> Source:
        raise NotImplementedError(file)

    def text(self, text: bytes) -> Source:
        raise NotImplementedError(text)


class LocalDeployment:
    """See `ScanDeployment`."""

    @property
    def sources(self) -> LocalSources:
        return LocalSources()

    def load(self, config: Path | None) -> Loaded:
        return load(config)


def scan(arguments: Sequence[str]) -> int:
    """`orrery tenants scan`."""
    from orrery.scanner.cli.scan import command  # noqa: PLC0415  each command loads its own only

    return command(arguments, LocalDeployment())
