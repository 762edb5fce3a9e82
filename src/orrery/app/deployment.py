"""One deployment, as the commands and the server use it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from orrery.app.adapters import Adapters
from orrery.ports.store import Store
from orrery.runtime.module import target_of
from orrery.runtime.parts import Parts

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Orrery:
    """One deployment, composed over its open store."""

    store: Store
    adapters: Adapters
    modules: Sequence[Parts]
    offers: dict[str, object]

    def __getitem__(self, kind: type[S]) -> S:
        """Return a service of a module, or the adapter of a port."""
        found = self.offers.get(target_of(kind))
        return self.adapters.port(kind) if found is None else cast("S", found)
