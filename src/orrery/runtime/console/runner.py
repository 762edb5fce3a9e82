"""What a command is handed: the services of the deployment that its `--config` names, opened when first needed."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import typer

from orrery.ports.store import StorePlace
from orrery.runtime.module import load

S = TypeVar("S")
T = TypeVar("T")


class Services(Protocol):
    """The services of a deployment over its open store, by class or by protocol."""

    def __getitem__(self, kind: type[S], /) -> S: ...


def service_of(target: str) -> Callable[[Services], Any]:
    """Return what finds a service by its class's target, which is loaded for a command, and not for its help."""
    return lambda services: services[load(target)]


class Runner(Protocol):
    """Reads the settings once and opens the store once for a command, and closes it when the command has ended."""

    def run(self, action: Callable[[Services], Awaitable[T]]) -> T:
        """Return what `action` returns, with the services over the open store; raise `Invalid` and `StoreError`.

        A question to a person is asked between two runs: Ctrl-C then ends it at once.
        """
        ...

    def run_with_usable_secrets(self, action: Callable[[Services], Awaitable[T]]) -> T:
        """Do the same, and leave out secrets that cannot be used. The first run of a command chooses for all."""
        ...

    def section(self, kind: type[S]) -> S:
        """Return a section of the settings."""
        ...

    @property
    def store_file(self) -> Path:
        """The file of the role's store: where that is in a database, copies of it are made beside this name."""
        ...

    @property
    def store_files(self) -> Sequence[Path]:
        """The files of the role's store: none where that is in a database."""
        ...

    @property
    def store_place(self) -> StorePlace:
        """Where the role's store is."""
        ...

    @property
    def settings_file(self) -> Path:
        """Where the settings are."""
        ...

    def port(self, kind: type[S]) -> S:
        """Return an adapter that needs no store, and reads the settings when it needs them."""
        ...


Runners = Callable[[Path | None], AbstractContextManager[Runner]]
"""Returns the runner of a deployment by its settings file; without one, the file is found."""


def _handed(context: typer.Context, path: Path | None) -> Runner:
    runners: Runners = context.find_root().obj
    return context.with_resource(runners(path))


CONFIG_HELP = "The settings file; else $ORRERY_CONFIG, orrery.toml here, in /etc/orrery, or the demo's."

Handed = Annotated[
    Runner,
    typer.Option(
        "--config",
        "-c",
        parser=Path,
        metavar="PATH",
        default_factory=lambda: None,
        show_default=False,
        callback=_handed,
        help=CONFIG_HELP,
    ),
]
"""The runner, which the root hands to each command that declares it."""
