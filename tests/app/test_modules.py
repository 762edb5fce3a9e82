"""What the modules declare fits together: each name is there once, and each target is there."""

from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from orrery.app.modules import MODULES
from orrery.runtime.module import Module, load
from tests.support.modules import targets

NAMES: dict[str, Callable[[Module], Iterable[str]]] = {
    "name": lambda one: [one.name],
    "section": lambda one: [each.name for each in one.sections],
    "secret": lambda one: [each.name for each in one.secrets],
    "command": lambda one: [each.name for each in one.commands],
    "prefix": lambda one: one.prefixes,
    "provides": lambda one: one.provides,
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_a_name_is_declared_once(names: Callable[[Module], Iterable[str]]) -> None:
    """No two modules, and no module twice, declare the same name."""
    found = Counter(name for module in MODULES for name in names(module))
    assert found
    assert [name for name, count in found.items() if count > 1] == []


def test_every_target_is_there() -> None:
    """What the data of a module names can be loaded: a renamed class would else be missed only when it is used."""
    for module in MODULES:
        for target in (*targets(module), *module.reads, *module.ports, *module.needs, *module.provides):
            assert load(target) is not None


def test_what_is_read_belongs_to_another_module() -> None:
    """`reads` names sections that another module has."""
    sections = {one.target: module.name for module in MODULES for one in module.sections}
    for module in MODULES:
        assert all(sections[one] != module.name for one in module.reads)
