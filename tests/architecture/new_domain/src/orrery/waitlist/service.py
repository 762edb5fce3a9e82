"""The entries: adding one, and counting them."""

from collections import Counter
from datetime import timedelta

from orrery.ports.clock import Clock
from orrery.ports.seller import Seller
from orrery.ports.store import Conflict, Store
from orrery.runtime.collection import FOR_EVER, Collection, commit
from orrery.runtime.operations import Intent
from orrery.syntax.email_address import is_email_address, normal_email
from orrery.waitlist.errors import WaitlistFull, WaitlistRefused
from orrery.waitlist.records import WaitlistBegun, WaitlistEntry

KEPT = timedelta(days=365)
"""How long an entry is kept."""


class Waitlist:
    """The waitlist. `added` counts the entries since the start."""

    def __init__(self, store: Store, clock: Clock, seller: Seller, most: int) -> None:
        self._store = store
        self._clock = clock
        self.stored = Collection(store, clock, WaitlistEntry, "waitlist-entry:", life=KEPT)
        self.begun = Collection(store, clock, WaitlistBegun, "waitlist-begun", life=FOR_EVER)
        self.seller = seller
        self.most = most
        self.added = Counter[str]()

    async def begin(self) -> None:
        """Note when the first entry could be made, unless that is noted already."""
        if await self.begun.find() is None:
            _ = await commit(self._store, self.begun.changes("", None, WaitlistBegun(at=self._clock.now())))

    async def add(self, email: str) -> None:
        """Add a person's entry, once; raise `WaitlistFull` or `WaitlistRefused`."""
        address = normal_email(email)
        if not is_email_address(address):
            raise WaitlistRefused("That is no e-mail address.")
        if await self.is_full():
            raise WaitlistFull("No more entries fit.")
        added = self.stored.changes(address, None, WaitlistEntry(email=address, since=self._clock.now()))
        if not isinstance(await commit(self._store, added), Conflict):
            self.added["site"] += 1

    async def count(self) -> int:
        return len((await self.stored.all()).records)

    async def is_full(self) -> bool:
        """Return whether no more entries can be added."""
        return (await self.begun.require()).record.closed or await self.count() >= self.most

    async def entries(self) -> list[WaitlistEntry]:
        return (await self.stored.all()).whole()

    async def close(self, _intent: Intent, _target: str) -> str:
        """Refuse every further entry; only an approval calls it."""
        _ = await self.begun.update("", lambda begun: begun.change(closed=True))
        return "No entry can be added any more."

    async def is_closed(self, _intent: Intent, _target: str) -> bool:
        return (await self.begun.require()).record.closed
