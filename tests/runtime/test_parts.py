"""The contract of a module: what it brings reaches the listeners, the pages and the workers, once."""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta

import pytest
from fastapi import APIRouter

from orrery.edge.public_reads import ReadSources
from orrery.edge.routes import Routes
from orrery.ports.health import Finding
from orrery.ports.panels import Panel, PanelSource
from orrery.runtime.jobs import Job
from orrery.runtime.operations import Intent, Operation
from orrery.runtime.parts import (
    DuplicateNameError,
    Figure,
    Parts,
    refuse_duplicates,
    routes_of,
)
from orrery.runtime.privacy import ErasureRequest, ErasureRound, PersonalDataSource
from orrery.runtime.search_terms import SearchTerms
from orrery.runtime.secret_probe import ProbeContext, Remark, SecretProbe
from tests.support.tables import each_case


async def nothing(*_: object) -> None:
    """Do nothing."""


async def panel() -> Panel:
    """Return an empty panel."""
    return Panel("A", "nothing")


async def finding() -> Finding:
    """Return that all is well."""
    return Finding("a", "ok", essential=True)


async def done(intent: Intent, target: str) -> str:
    """Return that it is done."""
    return f"{intent.id} {target}"


async def happened(intent: Intent, target: str) -> bool:
    """Return that it is done."""
    return bool(intent and target)


async def found(terms: SearchTerms) -> list[object]:
    """Return nothing."""
    return [] if terms else [terms]


async def erased(request: ErasureRequest) -> ErasureRound:
    """Return that nothing was found."""
    return ErasureRound(found=not request)


async def remarks(context: ProbeContext) -> AsyncIterator[Remark]:
    """Yield one remark."""
    yield Remark(str(context))


def router(path: str, method: str = "GET") -> APIRouter:
    """Return a router with one route."""
    made = APIRouter()
    made.add_api_route(path, nothing, methods=[method])
    return made


def public(*routers: APIRouter) -> Callable[[], Routes]:
    """Return what makes the routes of the public listener."""
    return lambda: Routes(public=routers)


def private(*routers: APIRouter) -> Callable[[], Routes]:
    """Return the same of the private one."""
    return lambda: Routes(private=routers)


def see_each_once(*modules: Parts) -> None:
    """Go through all that is named, as a start does."""
    refuse_duplicates(modules)
    _ = routes_of(modules)


def parts(name: str, suffix: str = "") -> Parts:
    """Return parts of every kind, whose names end with `suffix`."""
    return Parts(
        module=name,
        routes=lambda: Routes(
            public=[router(f"/a{suffix}")],
            private=[router(f"/p{suffix}")],
            reads={f"/r{suffix}": ReadSources({}, ())},
        ),
        jobs=[Job(f"j{suffix}", timedelta(minutes=1), nothing)],
        remote_checks=[(f"c{suffix}", finding)],
        panels=[PanelSource(f"P{suffix}", panel)],
        operations=[Operation(f"o{suffix}", done, happened)],
        figures=[Figure(f"f{suffix}", "A figure.", "label", {})],
        personal_data=[PersonalDataSource(f"d{suffix}", 1, found, erased)],
        secret_probes=[SecretProbe(f"s{suffix}", remarks)],
    )


CLASHES: Sequence[tuple[Parts, str]] = [
    (Parts(module="one"), "module one"),
    (Parts(module="two", routes=public(router("/a"))), "public route GET /a"),
    (Parts(module="two", routes=private(router("/p"))), "private route GET /p"),
    (Parts(module="two", routes=lambda: Routes(reads={"/r": ReadSources({}, ())})), "read /r"),
    (Parts(module="two", jobs=[Job("j", timedelta(hours=1), nothing)]), "job j"),
    (Parts(module="two", remote_checks=[("c", finding)]), "check c"),
    (Parts(module="two", panels=[PanelSource("P", panel)]), "panel P"),
    (Parts(module="two", operations=[Operation("o", done, happened)]), "operation o"),
    (Parts(module="two", personal_data=[PersonalDataSource("d", 2, found, erased)]), "personal data d"),
    (Parts(module="two", secret_probes=[SecretProbe("s", remarks)]), "probe of the secret s"),
    (Parts(module="two", figures=[Figure("f", "Another.", "label", {})]), "figure f"),
]


@each_case(("second", "name"), CLASHES)
def test_a_name_is_brought_once(second: Parts, name: str) -> None:
    """What two modules call the same is refused, naming both."""
    with pytest.raises(DuplicateNameError, match=f"{name} is there twice, in one and {second.module}"):
        see_each_once(parts("one"), second)


def test_modules_side_by_side() -> None:
    """Other names, another method of a path, and the same path on the other listener, are no clash."""
    see_each_once(parts("one"), parts("two", "2"), Parts(module="three", routes=public(router("/a", "POST"))))
    see_each_once(
        parts("one"), Parts(module="two", routes=lambda: Routes(public=[router("/p")], private=[router("/a")]))
    )
