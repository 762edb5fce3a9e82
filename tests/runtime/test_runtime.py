"""A module gets what its data name and nothing else, behind what it needs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orrery.app.settings.reader import settings_from
from orrery.ports.processor import Processor
from orrery.runtime.collection import FOR_EVER, Collection
from orrery.runtime.jobs import Workers
from orrery.runtime.lease import Holder
from orrery.runtime.module import Module, target_of
from orrery.runtime.parts import Parts
from orrery.runtime.raw_values import RawValues
from orrery.runtime.runtime import NotDeclaredError, Runtime, in_order, needed_by, provided
from orrery.runtime.settings import ServerSettings
from tests.support.runtimes import runtime_of
from tests.support.tables import each_case

NEEDED = target_of(Workers)


ASKED: list[tuple[Callable[[Runtime], object], str]] = [
    (lambda one: one.section(ServerSettings), "section orrery.runtime.settings:ServerSettings"),
    (lambda one: one.secret("push_token"), "secret push_token"),
    (lambda one: one.secret_values("push_token"), "secret push_token"),
    (lambda one: one.port(Processor), "port orrery.ports.processor:Processor"),
    (lambda one: one.need(Workers), f"need {NEEDED}"),
]

PREFIXED: list[Callable[[Runtime, str], object]] = [
    lambda one, prefix: Collection(one.store, one.clock, Holder, prefix, life=FOR_EVER),
    lambda one, prefix: RawValues(one.store, prefix, FOR_EVER),
]


@each_case(("ask", "what"), ASKED)
def test_what_is_not_named_is_refused(ask: Callable[[Runtime], object], what: str) -> None:
    """A module that does not name what it asks for is told which, so that its lists stay true."""
    runtime = runtime_of(Module("curious"), settings_from({}, Path()))
    with pytest.raises(NotDeclaredError, match=f"The module curious asks for the {what}, and does not name it"):
        ask(runtime)


@pytest.mark.parametrize("made", PREFIXED, ids=["collection", "raw values"])
def test_a_prefix_that_is_not_named_is_refused(made: Callable[[Runtime, str], object]) -> None:
    """Keys belong to the module that declares their prefix; those of the runtime, as leases, to everybody."""
    runtime = runtime_of(Module("curious", prefixes=("own:",)), settings_from({}, Path()))
    assert made(runtime, "own:inner:")
    assert made(runtime, "lease:")
    for prefix in ("other:", "own", ""):
        sentence = f"The module curious keeps records under {prefix}, which its `prefixes` do not name"
        with pytest.raises(NotDeclaredError, match=sentence):
            made(runtime, prefix)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ((), f"The module giving offers {NEEDED}, which its `provides` does not name"),
        ((NEEDED, "a:B"), "The module giving names a:B in its `provides`, and its build does not offer it"),
    ],
)
def test_what_is_offered_is_what_is_named(names: tuple[str, ...], sentence: str) -> None:
    """A service that no data name would be found by its type only; one that is named and not there by nobody."""
    offers: dict[type, object] = {Workers: "the workers"}
    assert provided(Module("giving", provides=(NEEDED,)), Parts(module="giving", offers=offers)) == {
        NEEDED: "the workers"
    }
    with pytest.raises(NotDeclaredError, match=sentence):
        provided(Module("giving", provides=names), Parts(module="giving", offers=offers))


def test_a_module_is_built_behind_those_that_it_needs() -> None:
    """The order follows from what is needed, whatever the order of the list."""
    last, first = Module("last", needs=(NEEDED,)), Module("first", provides=(NEEDED,))
    assert in_order([last, first], set()) == [first, last]


def test_a_need_that_nobody_provides() -> None:
    """It is named with the module that has it; what the root gives itself needs no module."""
    module = Module("last", needs=(NEEDED,))
    assert in_order([module], {NEEDED}) == [module]
    with pytest.raises(NotDeclaredError, match=f"No module provides {NEEDED}, which the module last needs"):
        in_order([module], set())


def test_modules_that_need_each_other() -> None:
    """A circle is refused, and its modules are named."""
    one, two = Module("one", needs=("b",), provides=("a",)), Module("two", needs=("a",), provides=("b",))
    with pytest.raises(NotDeclaredError, match=r"need each other: .*(one|two)"):
        in_order([one, two], set())


def test_what_a_command_needs_is_chosen_with_its_module() -> None:
    """The needs of its needs come along, in the order of the list; no other module does."""
    first, other = Module("first", provides=("a",)), Module("other")
    middle, last = Module("middle", needs=("a",), provides=("b",)), Module("last", needs=("b",))
    assert needed_by(["last"], [last, other, first, middle]) == [last, first, middle]
