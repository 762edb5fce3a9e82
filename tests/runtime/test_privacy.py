"""Personal data of several modules: one order, one loop, and nothing that a module must know of another."""

from dataclasses import dataclass, field

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import Invalid, RecordUnreadable
from orrery.ports.store import Store
from orrery.runtime.privacy import (
    EraseAddress,
    ErasureRequest,
    ErasureRound,
    KeptData,
    PersonalDataSource,
    Privacy,
    RepeatErasure,
)
from orrery.runtime.search_terms import SearchTerms
from tests.support.clock import ManualClock

ANN, FORMER = "ann@example.org", "former@example.org"


@dataclass
class Letters:
    """Letters of one module, each a text that may name somebody; it notes each erasure in `calls`."""

    texts: list[str]
    calls: list[str] = field(default_factory=list[str])
    kept: str = ""
    comes_late: list[str] = field(default_factory=list[str])
    terms: SearchTerms = field(default_factory=lambda: SearchTerms(frozenset()))

    def source(self, name: str, order: int, elsewhere: str = "") -> PersonalDataSource:
        """Return what a module would register."""

        async def find(terms: SearchTerms) -> list[object]:
            return [text for text in self.texts if terms.named_in(text.encode())]

        async def erase(request: ErasureRequest) -> ErasureRound:
            self.calls.append(f"{name}: {request.reason}")
            named = [str(text) for text in await find(request.terms)]
            self.texts[:] = [text for text in self.texts if text not in named or text == self.kept]
            self.texts += [self.comes_late.pop()] if self.comes_late else []
            kept = [KeptData(self.kept, "It is needed.", "Wait")] if self.kept in named else []
            return ErasureRound(bool(set(named) - {self.kept}), kept)

        async def search_terms(address: str) -> SearchTerms:
            return self.terms if address == ANN else SearchTerms(frozenset())

        return PersonalDataSource(
            name,
            order,
            find,
            erase,
            search_terms,
            elsewhere=lambda found: [elsewhere] if elsewhere and found else [],
        )


def privacy(*sources: PersonalDataSource) -> Privacy:
    """Return the service over these sources."""
    return Privacy(MemoryStore(ManualClock()), sources)


async def test_each_source_is_a_field_by_its_order() -> None:
    """The export has one field for each source by its order, however the modules are listed."""
    late, early = Letters([f"to {ANN}", "to bob@example.org"]), Letters([])
    found = await privacy(late.source("late", 2), early.source("early", 1)).export(ANN.upper())
    assert list(found.items()) == [("early", []), ("late", [f"to {ANN}"])]


async def test_what_others_are_found_by_goes_last() -> None:
    """Data is erased in the opposite order, until a round finds nothing."""
    calls = list[str]()
    first, second = Letters([f"to {ANN}"], calls), Letters([], calls)
    assert (await privacy(first.source("first", 1), second.source("second", 2)).erase(ANN, " asked ")).data
    assert calls == ["second: asked", "first: asked"] * 2


async def test_the_terms_of_one_source_find_the_data_of_another() -> None:
    """A former address and an id that one module knows are searched for in all of them."""
    records = Letters([], terms=SearchTerms(frozenset({FORMER}), frozenset({"cs_1"})))
    letters = Letters([f"to {FORMER}", "about cs_1", "about cs_2"])
    erasure = await privacy(records.source("records", 1), letters.source("letters", 2)).erase(ANN, "asked")
    assert (letters.texts, erasure.former) == (["about cs_2"], (FORMER,))


async def test_what_comes_meanwhile_is_erased() -> None:
    """What a module stores about the person during the erasure is found by another round."""
    letters = Letters([f"to {ANN}"], comes_late=[f"another to {ANN}"])
    erasure = await privacy(letters.source("letters", 1)).erase(ANN, "asked")
    assert (letters.texts, erasure.data) == ([], {"letters": [f"to {ANN}"]})


async def test_what_is_kept_ends_the_erasure() -> None:
    """Data that must be kept is named by its source with the reason, and does not hold up the end."""
    letters = Letters([f"to {ANN}"], kept=f"to {ANN}")
    erasure = await privacy(letters.source("letters", 1), Letters([]).source("others", 2)).erase(ANN, "asked")
    assert erasure.kept == {"letters": [KeptData(f"to {ANN}", "It is needed.", "Wait")]}


async def test_where_else_it_may_be() -> None:
    """A source's sentence on other copies is returned when the source had data, and not otherwise."""
    some, none = Letters([f"to {ANN}"]).source("some", 1, "Some."), Letters([]).source("none", 2, "None.")
    assert (await privacy(some, none).erase(ANN, "asked")).elsewhere == ("Some.",)


@pytest.mark.parametrize("reason", ["", f"{ANN} asked", "a\nb", "x" * 501])
async def test_no_usable_reason(reason: str) -> None:
    """A reason that cannot be kept permanently is refused before any module erases anything."""
    letters = Letters([f"to {ANN}"])
    with pytest.raises(Invalid, match="reason"):
        await privacy(letters.source("letters", 1)).erase(ANN, reason)
    assert (letters.texts, letters.calls) == ([f"to {ANN}"], [])


async def test_erasures_of_the_store_before() -> None:
    """Each erasure that a module did in another store is repeated by the service, or its error is returned."""
    letters, before = Letters([f"to {ANN}"]), MemoryStore(ManualClock())

    async def needed(erase: EraseAddress) -> bool:
        await erase(ANN, "asked before")
        return True

    async def done(_: EraseAddress) -> bool:
        return False

    async def damaged(_: EraseAddress) -> bool:
        raise RecordUnreadable("access:1")

    async def erasures(store: Store) -> list[RepeatErasure]:
        return [damaged, needed, done] if store is before else []

    async def find(_: SearchTerms) -> list[object]:
        return []

    async def erase(_: ErasureRequest) -> ErasureRound:
        return ErasureRound(found=False)

    journal = PersonalDataSource("journal", 1, find, erase, erasures=erasures)
    service = privacy(journal, letters.source("letters", 2))
    again, left_out = await service.erase_again(await service.erasures(before))
    assert (again, [one.name for one in left_out], letters.texts) == (1, ["access:1"], [])
