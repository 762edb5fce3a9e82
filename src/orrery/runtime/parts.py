"""What each module of Orrery hands to the composition root once it is built.

The root iterates over the parts of all modules and names none of them: a module that is added brings its routes,
jobs, checks, panels, operations, figures and personal data itself.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import APIRouter

from orrery.edge.direct import DirectRoute
from orrery.edge.public_reads import ReadSources
from orrery.errors import OrreryError, RecordUnreadable
from orrery.ports.health import Finding
from orrery.ports.panels import PanelSource
from orrery.runtime.jobs import Job
from orrery.runtime.operations import Operation
from orrery.runtime.privacy import PersonalDataSource
from orrery.runtime.secret_probe import SecretProbe

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

    `routers` are made when a listener needs them: a third of what a command would do otherwise.
    `direct` routes come before the framework, `reads` answer a public path ahead of it. The
    findings of `own_checks` have a separate panel on the owner's page. `secret_probes` try secrets that are
    present, each of this module or one that it reads. `orrery doctor` asks for what is `unreadable`. `migrations`
    run when the store is opened, and do nothing when they are done. `at_start` runs before the service answers,
    `after_restore` after a restore of the store. `offers` are the services that commands ask for, and those that
    other modules need. `once_composed` is called with the parts of all modules, before anything runs.
    """

    module: str
    routers: Sequence[Callable[[], APIRouter]] = ()
    private_routers: Sequence[Callable[[], APIRouter]] = ()
    direct: Sequence[DirectRoute] = ()
    reads: Mapping[str, ReadSources] = field(default_factory=dict[str, ReadSources])
    jobs: Sequence[Job] = ()
    checks: Sequence[Check] = ()
    own_checks: Sequence[Check] = ()
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


class DuplicateNameError(OrreryError):
    """Two modules, or one module twice, bring something of the same name."""


def refuse_duplicates(modules: Sequence[Parts]) -> None:
    """Raise `DuplicateNameError` for the first name that is there twice, routes aside."""
    _refuse_twice((name, parts.module) for parts in modules for name in _names(parts))


def public_routers(modules: Sequence[Parts]) -> list[APIRouter]:
    """Make the routers of the public listener; raise `DuplicateNameError` for a route that is there twice."""
    return _made("public", [(make, parts.module) for parts in modules for make in parts.routers])


def private_routers(modules: Sequence[Parts]) -> list[APIRouter]:
    """Make those of the private one; raise the same."""
    return _made("private", [(make, parts.module) for parts in modules for make in parts.private_routers])


def _made(listener: str, makers: Sequence[tuple[Callable[[], APIRouter], str]]) -> list[APIRouter]:
    made = [(make(), module) for make, module in makers]
    _refuse_twice((f"{listener} {route}", module) for router, module in made for route in _routes(router))
    return [router for router, _ in made]


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
    yield from (f"read {path}" for path in parts.reads)


def _routes(router: APIRouter) -> Iterator[str]:
    for route in router.routes:
        methods = sorted(getattr(route, "methods", ()))
        yield f"route {' '.join(methods)} {getattr(route, 'path', '')}"
