"""Who waits: adding a person, and counting."""

from collections import Counter

from orrery.errors import Invalid
from orrery.ports.clock import Clock
from orrery.ports.seller import Seller
from orrery.ports.store import Conflict, Store
from orrery.runtime.collection import Collection, commit
from orrery.runtime.operations import Intent
from orrery.syntax.email_address import is_email_address, normal_email
from orrery.waitlist.errors import WaitlistFull
from orrery.waitlist.records import Begun, Waiting


class Waitlist:
    """The waiting list. `joined` counts who came since the start."""

    def __init__(self, store: Store, clock: Clock, seller: Seller, most: int) -> None:
        self._store = store
        self._clock = clock
        self.people = Collection(store, clock, Waiting, "waiting:")
        self.begun = Collection(store, clock, Begun, "waitlist-begun")
        self.seller = seller
        self.most = most
        self.joined = Counter[str]()

    async def begin(self) -> None:
        """Note when the list was begun, unless that is noted already."""
        if await self.begun.find() is None:
            _ = await commit(self._store, self.begun.changes("", None, Begun(at=self._clock.now())))

    async def join(self, email: str) -> None:
        """Add a person, once; raise `Invalid` and `WaitlistFull`."""
        address = normal_email(email)
        if not is_email_address(address):
            raise Invalid("That is not an e-mail address.")
        if await self.is_full():
            raise WaitlistFull("Nobody more may wait.")
        added = self.people.changes(address, None, Waiting(email=address, since=self._clock.now()))
        if not isinstance(await commit(self._store, added), Conflict):
            self.joined["site"] += 1

    async def count(self) -> int:
        return len((await self.people.all()).records)

    async def is_full(self) -> bool:
        """Return whether nobody more may wait."""
        return (await self.begun.require()).record.closed or await self.count() >= self.most

    async def everybody(self) -> list[Waiting]:
        return (await self.people.all()).whole()

    async def close(self, _intent: Intent, _target: str) -> str:
        """Let nobody more in; only an approval calls it."""
        _ = await self.begun.update("", lambda begun: begun.change(closed=True))
        return "The list is closed."

    async def is_closed(self, _intent: Intent, _target: str) -> bool:
        return (await self.begun.require()).record.closed
