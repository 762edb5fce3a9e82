"""A scanner that looks for one word: an adapter of the port."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TypeVar, cast

from orrery.app.runner import DeploymentRunner
from orrery.errors import NotConfigured
from orrery.ports.scanner import Checked, Leak, Scanned, Scanner
from orrery.runtime.console.runner import Runner

T = TypeVar("T")


class WordScanner:
    """Refuses each file with a word in it; `seen` are the files that it was given, each time."""

    def __init__(self, word: bytes = b"Contoso") -> None:
        self.word = word
        self.seen = list[Mapping[str, bytes]]()

    def check(self) -> Sequence[Checked]:
        """It can always scan."""
        return [Checked("watch-list", "ok")]

    def scan(self, files: Mapping[str, bytes]) -> Scanned:
        """Return a leak for each file with the word in it."""
        self.seen.append(dict(files))
        return Scanned(tuple(Leak("watch-list", name) for name, content in files.items() if self.word in content))


class UnableScanner:
    """Cannot scan."""

    WHY = "The key of the watch-list is missing."

    def check(self) -> Sequence[Checked]:
        """Say so."""
        raise NotConfigured(self.WHY)

    def scan(self, files: Mapping[str, bytes]) -> Scanned:
        """Say so."""
        del files
        raise NotConfigured(self.WHY)


class ScanningRunner(DeploymentRunner):
    """The runner of a deployment, whose scanner looks for one word."""

    def port(self, kind: type[T]) -> T:
        """Return that scanner, or what the deployment has."""
        return cast("T", WordScanner()) if kind is Scanner else super().port(kind)


def scanning_runner(config: Path | None) -> AbstractContextManager[Runner]:
    """Return the runner of the cockpit with these settings, with a scanner that looks for one word."""
    return closing(ScanningRunner(config, ["tenants"], "cockpit"))
