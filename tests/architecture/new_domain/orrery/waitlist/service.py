"""Who waits: adding a person, counting, and what is personal in it."""

from collections import Counter

from orrery.ports.clock import Clock
from orrery.ports.seller import Seller
from orrery.ports.store import Conflict, Store
from orrery.runtime.collection import Collection, commit
from orrery.runtime.operations import Intent
from orrery.runtime.privacy import ErasureRequest, ErasureRound, commit_erasure
from orrery.runtime.search_terms import SearchTerms
from orrery.syntax.email_address import normal_email
from orrery.waitlist.errors import WaitlistFull
from orrery.waitlist.records import Begun, Waiting


class Waitlist:
    """The waiting list. `joined` counts who came since the start."""

    def __init__(self, store: Store, clock: Clock, seller: Seller, most: int) -> None:
        self._store = store
        self._clock = clock
        self._people = Collection(store, clock, Waiting, "waiting:")
        self._begun = Collection(store, clock, Begun, "waitlist-begun")
        self.seller = seller
        self.most = most
        self.joined = Counter[str]()

    async def begin(self) -> None:
        """Note when the list was begun, unless that is noted already."""
        if await self._begun.find() is None:
            _ = await commit(self._store, self._begun.changes("", None, Begun(at=self._clock.now())))

    async def join(self, email: str) -> None:
        """Add a person, once; raise `WaitlistFull`."""
        if await self.count() >= self.most:
            raise WaitlistFull(f"At most {self.most} may wait.")
        address = normal_email(email)
        added = self._people.changes(address, None, Waiting(email=address, since=self._clock.now()))
        if not isinstance(await commit(self._store, added), Conflict):
            self.joined["site"] += 1

    async def count(self) -> int:
        return len((await self._people.all()).records)

    async def everybody(self) -> list[Waiting]:
        return (await self._people.all()).whole()

    async def find(self, terms: SearchTerms) -> list[object]:
        """Return what is kept about a person."""
        return [one.model_dump(mode="json") for one in await self.everybody() if terms.is_address(one.email)]

    async def erase(self, request: ErasureRequest) -> ErasureRound:
        """Delete a person."""
        found = [one for one in (await self._people.all()).records if request.terms.is_address(one.record.email)]
        for one in found:
            await commit_erasure(self._store, self._people.changes(one.id, one, None))
        return ErasureRound(bool(found))

    async def close(self, _intent: Intent, _target: str) -> str:
        """Let nobody more in; only an approval calls it."""
        self.most = 0
        return "The list is closed."

    async def is_closed(self, _intent: Intent, _target: str) -> bool:
        return self.most == 0
