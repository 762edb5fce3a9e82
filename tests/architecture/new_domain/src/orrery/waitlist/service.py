"""The entries: adding one, counting them, and what is personal in them."""

from collections import Counter

from orrery.ports.clock import Clock
from orrery.ports.seller import Seller
from orrery.ports.store import Conflict, Store
from orrery.runtime.collection import Collection, commit
from orrery.runtime.operations import Intent
from orrery.runtime.privacy import ErasureRequest, ErasureRound, commit_erasure
from orrery.runtime.search_terms import SearchTerms
from orrery.syntax.email_address import is_email_address, normal_email
from orrery.waitlist.errors import WaitlistFull, WaitlistRefused
from orrery.waitlist.records import WaitlistBegun, WaitlistEntry


class Waitlist:
    """The waitlist. `added` counts the entries since the start."""

    def __init__(self, store: Store, clock: Clock, seller: Seller, most: int) -> None:
        self._store = store
        self._clock = clock
        self._entries = Collection(store, clock, WaitlistEntry, "waitlist-entry:")
        self._begun = Collection(store, clock, WaitlistBegun, "waitlist-begun")
        self.seller = seller
        self.most = most
        self.added = Counter[str]()

    async def begin(self) -> None:
        """Note when the first entry could be made, unless that is noted already."""
        if await self._begun.find() is None:
            _ = await commit(self._store, self._begun.changes("", None, WaitlistBegun(at=self._clock.now())))

    async def add(self, email: str) -> None:
        """Add a person's entry, once; raise `WaitlistFull` or `WaitlistRefused`."""
        address = normal_email(email)
        if not is_email_address(address):
            raise WaitlistRefused("That is no e-mail address.")
        if await self.count() >= self.most:
            raise WaitlistFull(f"There may be at most {self.most} entries.")
        added = self._entries.changes(address, None, WaitlistEntry(email=address, since=self._clock.now()))
        if not isinstance(await commit(self._store, added), Conflict):
            self.added["site"] += 1

    async def count(self) -> int:
        return len((await self._entries.all()).records)

    async def entries(self) -> list[WaitlistEntry]:
        return (await self._entries.all()).whole()

    async def find(self, terms: SearchTerms) -> list[object]:
        """Return what is kept about a person."""
        return [one.model_dump(mode="json") for one in await self.entries() if terms.is_address(one.email)]

    async def erase(self, request: ErasureRequest) -> ErasureRound:
        """Delete a person's entry."""
        found = [one for one in (await self._entries.all()).records if request.terms.is_address(one.record.email)]
        for one in found:
            await commit_erasure(self._store, self._entries.changes(one.id, one, None))
        return ErasureRound(bool(found))

    async def close(self, _intent: Intent, _target: str) -> str:
        """Refuse every further entry; only an approval calls it."""
        self.most = 0
        return "No entry can be added any more."

    async def is_closed(self, _intent: Intent, _target: str) -> bool:
        return self.most == 0
