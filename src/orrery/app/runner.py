"""The runner that the root hands to the commands: one deployment, whose store is opened once for a command."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import TypeVar, cast

from orrery.adapters.clock import SystemClock
from orrery.adapters.own_process.scan import ScanProcess
from orrery.app.adapters import Adapters
from orrery.app.composition import opened
from orrery.app.refresh import HttpRefreshServices
from orrery.app.settings.former_names import WRITE_NEW, why_outdated
from orrery.app.settings.reader import Secrets, Settings, load, load_usable, settings_file
from orrery.app.store_place import clock_of, store_place
from orrery.logs import Redaction, configure
from orrery.ports.clock import Clock
from orrery.ports.refresh import RefreshServices
from orrery.ports.scanner import Scanner
from orrery.ports.store import StorePlace
from orrery.runtime.console.runner import Runner, Services
from orrery.runtime.console.tables import note
from orrery.runtime.module import Role
from orrery.runtime.settings import LogSettings

S = TypeVar("S")
T = TypeVar("T")


@contextmanager
def runner_of(config: Path | None, wanted: Sequence[str] | None = None, role: Role = "site") -> Generator[Runner]:
    """Yield the runner of the deployment with these settings; close its store at the end, if it was opened.

    `wanted` are the modules whose services the command uses, or None for all of its role.
    """
    runner = DeploymentRunner(config, wanted, role)
    try:
        yield runner
    finally:
        runner.close()


class DeploymentRunner:
    """See `Runner`. Settings, secrets and store are read and opened when a command first asks for them."""

    def __init__(self, config: Path | None, wanted: Sequence[str] | None, role: Role) -> None:
        self._config, self._wanted = config, wanted
        self._role: Role = role
        self._loop, self._stack = asyncio.Runner(), AsyncExitStack()
        self._loaded: tuple[Settings, Secrets] | None = None
        self._services: Services | None = None
        self._adapters: Adapters | None = None

    def run(self, action: Callable[[Services], Awaitable[T]]) -> T:
        found = list[T]()  # asyncio makes a text of what a task returns, however much that is, and drops it
        self._loop.run(self._run(action, found))
        return found[0]

    def run_with_usable_secrets(self, action: Callable[[Services], Awaitable[T]]) -> T:
        if self._loaded is None:
            self._loaded = _with_logs(*load_usable(self._config, self._role))
        return self.run(action)

    def section(self, kind: type[S]) -> S:
        settings, _ = self._settings()
        return settings[kind]

    def port(self, kind: type[S]) -> S:
        found: dict[type, object] = {RefreshServices: HttpRefreshServices(self._config)}
        if self._role == "site":
            found[Clock] = SystemClock()
        if kind is Scanner:
            found[Scanner] = ScanProcess(self.settings_file)
        if kind in found:
            return cast("S", found[kind])
        if self._adapters is None:
            settings, secrets = self._settings()
            self._adapters = Adapters(settings, secrets, clock_of(settings))
        return cast("S", self._adapters.clock) if kind is Clock else self._adapters.port(kind)

    @property
    def store_file(self) -> Path:
        settings, _ = self._settings()
        return settings.store.store_file

    @property
    def store_files(self) -> Sequence[Path]:
        settings, _ = self._settings()
        return [] if settings.store.store_address else [self.store_file]

    @property
    def store_place(self) -> StorePlace:
        return store_place(*self._settings())

    @property
    def settings_file(self) -> Path:
        return settings_file(self._config, self._role)

    def close(self) -> None:
        """Close what was opened."""
        if self._services:
            self._loop.run(self._stack.aclose())
        self._loop.close()

    async def _run(self, action: Callable[[Services], Awaitable[T]], found: list[T]) -> None:
        if self._services is None:
            self._services = await self._stack.enter_async_context(opened(*self._settings(), self._wanted))
        found.append(await action(self._services))

    def _settings(self) -> tuple[Settings, Secrets]:
        if self._loaded is None:
            self._loaded = _with_logs(*load(self._config, self._role))
        return self._loaded


def _with_logs(settings: Settings, secrets: Secrets) -> tuple[Settings, Secrets]:
    configure(settings[LogSettings].format, "warning", Redaction(secrets.values()))
    why = why_outdated(*settings.outdated, *secrets.outdated)
    if why and settings.role != "site":  # of that, the start, `config check` and `doctor` have it
        note(f"{why} {WRITE_NEW}")
    return settings, secrets
