"""Where notifications wait: a channel has lanes, whose keys hold when each is due and when it came."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Self

from orrery.ports.clock import Clock
from orrery.ports.notifier import Priority
from orrery.ports.store import Store, StoreEntry
from orrery.runtime.collection import Walk, sortable

Channel = Literal["push", "email"]
CHANNELS: tuple[Channel, ...] = ("push", "email")

PREFIX = "outbox-next:"
OF_ALL = "outbox-due:"
"""The index of all channels that earlier releases wrote: a process that takes the job puts it into the lanes."""

LANES: Mapping[Channel, tuple[str, ...]] = {
    "push": (f"{PREFIX}push-urgent:", f"{PREFIX}push:"),
    "email": (f"{PREFIX}email:",),
}
"""An urgent push waits for no other: a push service may take one in five seconds."""


def key(channel: Channel, priority: Priority, due: datetime, came: datetime, row_id: str) -> str:
    """Return the key by which a notification that waits is found."""
    lane = LANES[channel][0 if priority == "urgent" else -1]
    return f"{lane}{sortable(due)}:{sortable(came)}:{row_id}"


def former_key(due: datetime, row_id: str) -> str:
    """Return the key of the same in a release without lanes."""
    return f"{OF_ALL}{sortable(due)}:{row_id}"


class LaneTimes(NamedTuple):
    """The times in a key of a lane: when the notification is tried next, and when it came; sortable texts."""

    due: str
    came: str
    id: str

    @classmethod
    def of(cls, index: StoreEntry) -> Self:
        """Read a key; what is no such key is due at once."""
        _, due, came, row_id = [*index.key.removeprefix(PREFIX).split(":", 3), "", "", ""][:4]
        return cls(due, came, row_id)


@dataclass(frozen=True, slots=True)
class Lanes:
    """Walks over the lanes; between two pages others go on."""

    store: Store
    clock: Clock

    async def waiting(self, *channels: Channel) -> AsyncIterator[StoreEntry]:
        """Yield the entries of all that waits on these channels, the urgent first, then what is due first."""
        for lane in (lane for one in channels for lane in LANES[one]):
            async for index in Walk(lane).entries(self.store, self.clock):
                yield index

    async def stuck(self, oldest: str, latest: str, most: int, *channels: Channel) -> int:
        """Return how many were tried and came before `oldest`, at most `most`; both times are sortable texts."""
        found = 0
        async for index in self.waiting(*channels):
            at = LaneTimes.of(index)
            # What came after `latest`, in a future that a clock jump undid, is as old as can be.
            found += at.due != at.came and not oldest < at.came <= latest
            if found == most:
                break
        return found

    async def due(self, lane: str) -> AsyncIterator[StoreEntry]:
        """Yield the entries of what is due in a lane, oldest first."""
        async for index in Walk(lane).entries(self.store, self.clock):
            if LaneTimes.of(index).due > sortable(self.clock.now()):
                return
            yield index
