"""What the modules declare fits together: each name is there once, and each target is there."""

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.memory import MemoryStore
from orrery.app.adapters import Adapters
from orrery.app.composition import composed
from orrery.app.modules import MODULES
from orrery.app.settings.reader import Secrets, settings_from
from orrery.runtime.module import Module, load
from orrery.runtime.runtime import NotDeclaredError
from orrery.runtime.tasks import Tasks
from tests.support.modules import folders, targets
from tests.support.package_copy import SOURCE
from tests.support.reading import DECLARED, KINDS
from tests.support.runtimes import runtime_of
from tests.support.tables import each_case

SETTINGS = settings_from({}, Path())

NAMES: dict[str, Callable[[Module], Iterable[str]]] = {
    "name": lambda one: [one.name],
    "section": lambda one: [each.name for each in one.sections],
    "secret": lambda one: [each.name for each in one.secrets],
    "command": lambda one: [each.name for each in one.commands],
    "prefix": lambda one: one.prefixes,
    "provides": lambda one: one.provides,
}


@each_case("names", NAMES.values())
def test_a_name_is_declared_once(names: Callable[[Module], Iterable[str]]) -> None:
    """No two modules, and no module twice, declare the same name."""
    found = Counter(name for module in MODULES for name in names(module))
    assert found
    assert [name for name, count in found.items() if count > 1] == []


def unlisted(package: Path) -> list[str]:
    """Return what to do about each folder of the package whose module `MODULES` does not have."""
    found = {path.parent.name for path in package.glob("*/module.py")}
    return [f'Add to MODULES in app/modules.py: _in("{one}"),' for one in sorted(found - folders())]


def test_every_folder_with_a_module_is_listed(tmp_path: Path) -> None:
    """A folder that nobody lists does nothing; what is missing is the line to add."""
    assert unlisted(SOURCE) == []
    forgotten = tmp_path / "forgotten" / "module.py"
    forgotten.parent.mkdir()
    forgotten.touch()
    assert unlisted(tmp_path) == ['Add to MODULES in app/modules.py: _in("forgotten"),']


def test_every_target_is_there() -> None:
    """What the data of a module names can be loaded: a renamed class would else be missed only when it is used."""
    for module in MODULES:
        read = [one for one in module.reads if ":" in one]  # the others are names of secrets
        for target in (*targets(module), *read, *module.ports, *module.needs, *module.provides):
            assert load(target) is not None


def test_what_is_read_belongs_to_another_module() -> None:
    """`reads` names sections and secrets that another module has."""
    owners = {one.target: module.name for module in MODULES for one in module.sections}
    owners |= {one.name: module.name for module in MODULES for one in module.secrets}
    for module in MODULES:
        assert all(owners[one] != module.name for one in module.reads)


def test_a_probe_is_of_a_secret_that_its_module_may_read() -> None:
    """No probe has a name that nobody knows, which would never run, or another module's secret unannounced."""
    clock = SystemClock()
    orrery = composed(Adapters(SETTINGS, Secrets(), clock), MemoryStore(clock), b"the key", Tasks())
    allowed = {one.name: {*one.reads, *(secret.name for secret in one.secrets)} for one in MODULES}
    found = [(parts.module, probe.secret) for parts in orrery.modules for probe in parts.secret_probes]
    assert found == [
        ("checkout", "webhook_signing_secret"),
        ("account", "processor_api_key"),
        ("live", "admin_password_hash"),
    ]
    assert all(secret in allowed[module] for module, secret in found)


def test_a_role_is_composed_of_its_own_modules() -> None:
    """A command that uses every service gets those of its role: none of the site's in another one."""
    clock, settings = SystemClock(), settings_from({}, Path(), "cockpit")
    adapters = Adapters(settings, Secrets(role="cockpit"), clock)
    built = {one.module for one in composed(adapters, MemoryStore(clock), b"the key", Tasks()).modules}
    assert built == {module.name for module in MODULES if "cockpit" in module.roles and module.build}


def test_a_secret_of_another_module_is_read_by_its_name() -> None:
    """A module that names the secret of another gets it; one that does not is refused."""
    secrets = Secrets.of({"processor_api_key": "sk_test_of_nobody"})
    reads = Module("reads", reads=("processor_api_key",))
    assert runtime_of(reads, SETTINGS, secrets).secret("processor_api_key") == "sk_test_of_nobody"
    with pytest.raises(NotDeclaredError, match="asks for the secret processor_api_key"):
        runtime_of(Module("other"), SETTINGS, secrets).secret("processor_api_key")


def test_every_record_that_is_stored_has_its_module() -> None:
    """The prefix of each collection of the source belongs to a module."""
    assert [prefix for prefix in KINDS if not prefix.startswith(DECLARED)] == []
