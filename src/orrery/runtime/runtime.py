"""What a module is built with: its sections, its secrets, and what it has declared that it needs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar, cast

from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.module import Module, target_of
from orrery.runtime.own_store import NotDeclaredError, OwnStore
from orrery.runtime.parts import Parts
from orrery.runtime.secret import SecretValues
from orrery.runtime.section import Mode, Sections
from orrery.runtime.tasks import Tasks

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ground:
    """What the composition root has chosen for this process, for every module.

    `deployment` is the id of this deployment. `port` makes the adapter of a port, once a process.
    """

    mode: Mode
    deployment: str
    settings: Sections
    secrets: SecretValues
    clock: Clock
    store: Store
    index_key: bytes = field(repr=False)
    tasks: Tasks
    holder: str
    port: Callable[[type], object]


class Runtime:
    """The ground as one module may see it; raises `NotDeclaredError` for what its data does not name."""

    def __init__(self, module: Module, ground: Ground, offers: Mapping[str, object]) -> None:
        """`offers` are what the modules that are built already provide, by target."""
        self._module = module
        self._ground = ground
        self._offers = offers
        self.mode: Mode = ground.mode
        self.deployment = ground.deployment
        self.clock = ground.clock
        self.store: Store = OwnStore(ground.store, module)
        self.index_key = ground.index_key
        self.tasks = ground.tasks
        self.holder = ground.holder

    def section(self, kind: type[T]) -> T:
        """Return a section of the settings."""
        own = {one.target for one in self._module.sections}
        self._require(target_of(kind), {*own, *self._module.reads}, "section")
        return self._ground.settings[kind]

    def secret(self, name: str) -> str | None:
        """Return a secret's value, or None when it is missing (decision 41)."""
        return self._secrets_with(name).reveal(name)

    def secret_values(self, name: str) -> list[bytes]:
        """Return each value of a secret that may have several."""
        return [part.encode() for part in self._secrets_with(name).parts(name)]

    def port(self, kind: type[T]) -> T:
        """Return the adapter that the root has chosen for a port."""
        self._require(target_of(kind), self._module.ports, "port")
        return cast("T", self._ground.port(kind))

    def need(self, kind: type[T]) -> T:
        """Return what another module provides."""
        self._require(target_of(kind), self._module.needs, "need")
        return cast("T", self._offers[target_of(kind)])

    def _secrets_with(self, name: str) -> SecretValues:
        own = {one.name for one in self._module.secrets}
        self._require(name, {*own, *self._module.reads}, "secret")
        return self._ground.secrets

    def _require(self, name: str, declared: Sequence[str] | set[str], what: str) -> None:
        if name not in declared:
            raise NotDeclaredError(
                f"The module {self._module.name} asks for the {what} {name}, and does not name it."
            )


def provided(module: Module, parts: Parts) -> dict[str, object]:
    """Return what a module offers, by target; raise `NotDeclaredError` unless its `provides` names just that."""
    offers = {target_of(kind): one for kind, one in parts.offers.items()}
    if undeclared := sorted(offers.keys() - {*module.provides}):
        raise NotDeclaredError(
            f"The module {module.name} offers {undeclared[0]}, which its `provides` does not name."
        )
    if missing := sorted({*module.provides} - offers.keys()):
        raise NotDeclaredError(
            f"The module {module.name} names {missing[0]} in its `provides`, and its build does not offer it."
        )
    return offers


def in_order(modules: Sequence[Module], given: set[str]) -> list[Module]:
    """Return the modules, each behind those whose protocols it needs; `given` are what the root provides itself.

    Raises `NotDeclaredError` for a need that no module provides, and for modules that need each other.
    """
    providers = {target: module for module in modules for target in module.provides}
    order = TopologicalSorter[str]()
    for module in modules:
        needed = [one for one in module.needs if one not in given]
        if missing := [one for one in needed if one not in providers]:
            raise NotDeclaredError(f"No module provides {missing[0]}, which the module {module.name} needs.")
        order.add(module.name, *(providers[one].name for one in needed))
    try:
        names = list(order.static_order())
    except CycleError as error:
        raise NotDeclaredError(f"These modules need each other: {', '.join(error.args[1])}.") from None
    by_name = {module.name: module for module in modules}
    return [by_name[name] for name in names]


def needed_by(wanted: Sequence[str], modules: Sequence[Module]) -> list[Module]:
    """Return the modules that are wanted by their names, and those that they need, in the order of `modules`."""
    providers = {target: module.name for module in modules for target in module.provides}
    by_name = {module.name: module for module in modules}
    found, waiting = set[str](), list(wanted)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [providers[one] for one in by_name[name].needs if one in providers]
    return [module for module in modules if module.name in found]
