"""What a module answers over HTTP.

Only a process that listens loads it: to import the framework is half of what a command does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import APIRouter

from orrery.edge.direct import DirectRoute
from orrery.edge.public_reads import ReadSources


@dataclass(frozen=True, slots=True, kw_only=True)
class Routes:
    """By listener; `direct` routes come before the framework, `reads` answer a public path ahead of it."""

    public: Sequence[APIRouter] = ()
    private: Sequence[APIRouter] = ()
    direct: Sequence[DirectRoute] = ()
    reads: Mapping[str, ReadSources] = field(default_factory=dict[str, ReadSources])

    def __add__(self, other: "Routes") -> "Routes":
        return Routes(
            public=[*self.public, *other.public],
            private=[*self.private, *other.private],
            direct=[*self.direct, *other.direct],
            reads={**self.reads, **other.reads},
        )

    def names(self) -> Iterator[str]:
        """Yield what may be there once, over all modules."""
        yield from (f"public {route}" for router in self.public for route in _routes(router))
        yield from (f"private {route}" for router in self.private for route in _routes(router))
        yield from (f"read {path}" for path in self.reads)


def _routes(router: APIRouter) -> Iterator[str]:
    for route in router.routes:
        methods = sorted(getattr(route, "methods", ()))
        yield f"route {' '.join(methods)} {getattr(route, 'path', '')}"
