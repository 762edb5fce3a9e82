"""Personal data of all modules: the export of all data about an address, and its erasure (decisions 8 and 10)."""

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from orrery.errors import Invalid, RecordUnreadable
from orrery.logs import log
from orrery.ports.store import Conflict, Store, StoreEntry
from orrery.runtime.collection import Changes, commit
from orrery.runtime.search_terms import SearchTerms
from orrery.syntax.email_address import normal_email
from orrery.syntax.lines import is_line
from orrery.syntax.reason import checked_reason, normal_reason

LONGEST_ADDRESS = 1000
"""Characters of an address that may be searched for."""

_SOMEBODY = re.compile(r".*[^\s@]@[^\s@]+\.[^\s@]+")


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """Whose data is erased, and why: `address` is the one that was asked for, `terms` find all of the person's."""

    address: str
    terms: SearchTerms
    reason: str


@dataclass(frozen=True, slots=True)
class KeptData:
    """Data that names the person and is kept for now: what and why, and how the owner lets it go."""

    name: str
    why: str
    todo: str


@dataclass(frozen=True, slots=True)
class ErasureRound:
    """What one call found: whether something was there to erase, and what is kept."""

    found: bool
    kept: Sequence[KeptData] = ()


EraseAddress = Callable[[str, str], Awaitable[object]]
"""Erases an address in all modules, for a reason; raises as `Privacy.erase` does."""

RepeatErasure = Callable[[EraseAddress], Awaitable[int]]
"""Repeats erasures of another store in this one; returns how many were needed. Raises `RecordUnreadable`."""


async def _no_terms(_: str) -> SearchTerms:
    return SearchTerms(frozenset())


async def _no_erasures(_: Store) -> Sequence[RepeatErasure]:
    return ()


@dataclass(frozen=True, slots=True)
class PersonalDataSource:
    """One kind of data about people that a module keeps; `name` is its field in the export.

    Exported by `order`, and erased in the opposite one: what the search terms come from is erased last, so that a
    repeat after an interruption still finds them. `find` returns values ready for JSON, and may raise
    `RecordUnreadable`. `erase` is called until no source finds anything. `search_terms` returns what else the
    person of an address is found by. `erasures` reads those done in another store, oldest first. `elsewhere`
    returns, for what was found, sentences for the owner on copies that no erasure reaches. `prefixes` are those of
    the collections that it answers for: any other one with a marked field is exported and erased by itself
    (`runtime/personal_entries.py`).
    """

    name: str
    order: int
    find: Callable[[SearchTerms], Awaitable[Sequence[object]]]
    erase: Callable[[ErasureRequest], Awaitable[ErasureRound]]
    search_terms: Callable[[str], Awaitable[SearchTerms]] = _no_terms
    erasures: Callable[[Store], Awaitable[Sequence[RepeatErasure]]] = _no_erasures
    elsewhere: Callable[[Sequence[object]], Iterable[str]] = lambda _: ()
    prefixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Erasure:
    """The erased data by source, and what of it is kept.

    `former` are the former addresses that were erased with it, `elsewhere` sentences on copies that are not
    reached. `is_scrubbed`: the store's log has none of it.
    """

    data: Mapping[str, Sequence[object]]
    kept: Mapping[str, Sequence[KeptData]]
    former: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    is_scrubbed: bool = True


class Privacy:
    """Exports and erases what the modules keep about people."""

    def __init__(self, store: Store, sources: Sequence[PersonalDataSource]) -> None:
        self._store = store
        self.sources = sorted(sources, key=lambda one: one.order)

    async def export(self, email: str) -> dict[str, Sequence[object]]:
        """Return all that is kept about `email`, by source; raise `RecordUnreadable`."""
        return await self._found(await self._search_terms(normal_email(email)))

    async def erase(self, email: str, reason: str) -> Erasure:
        """Erase `email` and its former addresses in all modules, but for what must be kept for now.

        Raises `Invalid` for an unusable reason, and the store's errors; a repeat completes an interrupted erasure.
        """
        address = normal_email(email)
        checked_reason(reason)
        request = ErasureRequest(address, await self._search_terms(address), normal_reason(reason))
        data, found, kept = await self._found(request.terms), True, dict[str, Sequence[KeptData]]()
        # Until nothing is found: a change meanwhile made its part of the erasure conflict.
        while found:
            rounds = {one.name: await one.erase(request) for one in reversed(self.sources)}
            found = any(one.found for one in rounds.values())
            kept = {name: one.kept for name, one in rounds.items() if one.kept}
            request = ErasureRequest(address, request.terms | await self._search_terms(address), request.reason)
        return Erasure(
            data,
            kept,
            former=tuple(sorted(request.terms.addresses - {address})),
            elsewhere=tuple(
                dict.fromkeys(one for each in self.sources for one in each.elsewhere(data[each.name]))
            ),
            is_scrubbed=await self._store.scrub(),
        )

    async def erasures(self, before: Store) -> list[RepeatErasure]:
        """Return how to repeat in this store the erasures of the one that a restore replaces."""
        return [repeat for source in self.sources for repeat in await source.erasures(before)]

    async def erase_again(self, repeats: Sequence[RepeatErasure]) -> tuple[int, list[RecordUnreadable]]:
        """Repeat erasures in this store; return how many were needed, and why others were not done."""
        again, left_out = 0, list[RecordUnreadable]()
        for repeat in repeats:
            try:
                again += await repeat(self.erase)
            except RecordUnreadable as error:
                left_out.append(error)
        return again, left_out

    async def _search_terms(self, address: str) -> SearchTerms:
        terms = SearchTerms(frozenset({address}))
        for source in self.sources:
            terms |= await source.search_terms(address)
        return terms

    async def _found(self, terms: SearchTerms) -> dict[str, Sequence[object]]:
        return {source.name: await source.find(terms) for source in self.sources}


async def commit_erasure(store: Store, changes: Changes) -> None:
    """Commit one part of an erasure; where another change was first, the next round finds the data again."""
    if isinstance(await commit(store, changes), Conflict):
        log.info("personal data changed while it was erased")


def search_address(text: str) -> str:
    """Return an address as it is stored; raise `Invalid` for a text under which nothing can be stored.

    It accepts more than deliverable addresses: what a person typed elsewhere is stored as it was.
    """
    address = normal_email(text)
    if not is_line(address, LONGEST_ADDRESS) or not _SOMEBODY.fullmatch(address):
        raise Invalid("That is not an e-mail address.")
    return address


def stored_json(entry: StoreEntry) -> object:
    """Return the content of an entry, ready for JSON; for a damaged one, its text."""
    try:
        return json.loads(entry.value)
    except (ValueError, RecursionError):
        return entry.value.decode(errors="replace")
