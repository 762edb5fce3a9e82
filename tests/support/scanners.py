"""A scanner that looks for one word: an adapter of the port."""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from orrery.app.runner import runner_of
from orrery.errors import NotConfigured
from orrery.ports.scanner import Checked, Leak, Scanned, Scanner
from orrery.ports.store import StorePlace
from orrery.runtime.console.runner import Runner, Services

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


@dataclass(frozen=True, slots=True)
class ScanningRunner:
    """A runner whose scanner is another one; all else is as the deployment has it."""

    inside: Runner
    scanner: Scanner

    def run(self, action: Callable[[Services], Awaitable[T]]) -> T:
        """Pass on."""
        return self.inside.run(action)

    def run_with_usable_secrets(self, action: Callable[[Services], Awaitable[T]]) -> T:
        """Pass on."""
        return self.inside.run_with_usable_secrets(action)

    def section(self, kind: type[T]) -> T:
        """Pass on."""
        return self.inside.section(kind)

    @property
    def store_file(self) -> Path:
        """Pass on."""
        return self.inside.store_file

    @property
    def store_files(self) -> Sequence[Path]:
        """Pass on."""
        return self.inside.store_files

    @property
    def store_place(self) -> StorePlace:
        """Pass on."""
        return self.inside.store_place

    @property
    def settings_file(self) -> Path:
        """Pass on."""
        return self.inside.settings_file

    def port(self, kind: type[T]) -> T:
        """Return the other scanner, or pass on."""
        return cast("T", self.scanner) if kind is Scanner else self.inside.port(kind)


@contextmanager
def scanning_runner(config: Path | None) -> Generator[Runner]:
    """Yield the runner of the cockpit with these settings, with a scanner that looks for one word."""
    with runner_of(config, ["tenants"], "cockpit") as runner:
        yield ScanningRunner(runner, WordScanner())
