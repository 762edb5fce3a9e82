"""What each module of Orrery hands to the composition root once it is built.

The root iterates over the parts of all modules and names none of them: a module that is added brings its routes,
jobs, checks, panels, operations, figures and personal data itself.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orrery.errors import OrreryError, RecordUnreadable
from orrery.ports.health import Finding
from orrery.ports.panels import PanelSource
from orrery.runtime.jobs import Job
from orrery.runtime.operations import Operation
from orrery.runtime.privacy import PersonalDataSource
from orrery.runtime.replaced import ReplacedStore
from orrery.runtime.secret_probe import SecretProbe

if TYPE_CHECKING:
    from orrery.edge.routes import Routes

Check = Callable[[], Awaitable[Sequence[Finding]]]
"""Returns findings without asking anybody outside."""

RemoteCheck = tuple[str, Callable[[], Awaitable[Finding]]]
"""The name of a part, and the question to its vendor that `orrery doctor` asks."""


Unreadable = Callable[[], Awaitable[Sequence[RecordUnreadable]]]
"""Reads all records of one kind, and returns why some cannot be read."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Counts for `/metrics`, by one label. Label values are never personal."""

    name: str
    help: str
    label: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What a module did after a restore of the store: sentences for the owner, and what it could not read."""

    sentences: Sequence[str]
    unreadable: Sequence[RecordUnreadable] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What one module brings. Each name in it is unique over all modules.

    `routes` is called by a process that listens, and loads the web framework. `secret_probes` try secrets that
    are present, each of this module or one that it reads. `orrery doctor` asks for what is `unreadable`.
    `migrations` run when the store is opened, at each node and at several at once, so each commit is checked
    against what it has read; they do nothing when they are done. `at_start` runs before the service answers,
    `after_restore` after a restore of the store. `take_over` learns from the store that a restore replaces what
    the snapshot cannot show, or from None where that cannot be read. `offers` are the services that commands ask
    for, and those that other modules need. `once_composed` is called with the parts of all modules, before
    anything runs.
    """

    module: str
    routes: "Callable[[], Routes] | None" = None
    jobs: Sequence[Job] = ()
    checks: Sequence[Check] = ()
    remote_checks: Sequence[RemoteCheck] = ()
    panels: Sequence[PanelSource] = ()
    operations: Sequence[Operation] = ()
    figures: Sequence[Figure] = ()
    unreadable: Sequence[Unreadable] = ()
    personal_data: Sequence[PersonalDataSource] = ()
    secret_probes: Sequence[SecretProbe] = ()
    offers: Mapping[type, object] = field(default_factory=dict[type, object])
    once_composed: Sequence[Callable[[Sequence["Parts"]], None]] = ()
    migrations: Sequence[Callable[[], Awaitable[object]]] = ()
    at_start: Sequence[Callable[[], Awaitable[None]]] = ()
    after_restore: Sequence[Callable[[], Awaitable[RestoreReport]]] = ()
    take_over: Sequence[Callable[[ReplacedStore | None], Awaitable[RestoreReport]]] = ()


class DuplicateNameError(OrreryError):
    """Two modules, or one module twice, bring something of the same name."""


def refuse_duplicates(modules: Sequence[Parts]) -> None:
    """Raise `DuplicateNameError` for the first name that is there twice, routes aside."""
    _refuse_twice((name, parts.module) for parts in modules for name in _names(parts))


def routes_of(modules: Sequence[Parts]) -> "list[Routes]":
    """Make the routes of all modules; raise `DuplicateNameError` for one that is there twice on a listener."""
    made = [(parts.module, parts.routes()) for parts in modules if parts.routes]
    _refuse_twice((name, module) for module, routes in made for name in routes.names())
    return [routes for _, routes in made]


def _refuse_twice(names: Iterable[tuple[str, str]]) -> None:
    owners = defaultdict[str, list[str]](list)
    for name, module in names:
        owners[name].append(module)
    for name, modules in owners.items():
        if len(modules) > 1:
            raise DuplicateNameError(f"The {name} is there twice, in {' and '.join(modules)}.")


def _names(parts: Parts) -> Iterator[str]:
    yield f"module {parts.module}"
    yield from (f"job {one.name}" for one in parts.jobs)
    yield from (f"check {name}" for name, _ in parts.remote_checks)
    yield from (f"panel {one.title}" for one in parts.panels)
    yield from (f"operation {one.name}" for one in parts.operations)
    yield from (f"figure {one.name}" for one in parts.figures)
    yield from (f"personal data {one.name}" for one in parts.personal_data)
    yield from (f"probe of the secret {one.secret}" for one in parts.secret_probes)
