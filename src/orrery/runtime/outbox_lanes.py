"""Where notifications wait: a channel has lanes, whose keys hold when each is due and when it came."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Self

from orrery.ports.clock import Clock
from orrery.ports.notifier import Priority
from orrery.ports.store import Store, StoreEntry
from orrery.runtime.collection import Walk, sortable
from orrery.runtime.quiet_hours import QuietHours

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

PATIENT = LANES["push"][-1]
"""The lane that quiet hours hold."""


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
    quiet: QuietHours | None = None

    def quiet_until(self) -> datetime | None:
        """Return the end of the quiet hours that run now: until then no push goes out but an urgent one."""
        return self.quiet.end_after(self.clock.now()) if self.quiet else None

    def open(self, channel: Channel) -> list[str]:
        """Return the lanes of a channel that quiet hours do not hold now."""
        is_quiet = self.quiet is not None and self.quiet.include(self.clock.now())
        return [lane for lane in LANES[channel] if not (is_quiet and lane == PATIENT)]

    async def waiting(self, lanes: Iterable[str]) -> AsyncIterator[StoreEntry]:
        """Yield the entries of all that waits in these lanes, in each what is due first."""
        for lane in lanes:
            async for index in Walk(lane).entries(self.store, self.clock):
                yield index

    async def stuck(self, oldest: str, latest: str, most: int, lanes: Iterable[str]) -> int:
        """Return how many were tried and came before `oldest`, at most `most`; both times are sortable texts."""
        found = 0
        async for index in self.waiting(lanes):
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
