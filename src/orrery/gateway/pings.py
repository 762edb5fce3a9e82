"""The pings of the gateway's guest, as the site keeps them: the last one, and the stretches of the others."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from orrery.gateway.causes import Ping
from orrery.gateway.records import LastPing, last_ping
from orrery.gateway.stretches import MOST_A_DAY, PingStretch, first_of, stretches
from orrery.ports.clock import Clock
from orrery.ports.store import Committed, Conflict, Store
from orrery.runtime.collection import Changes, commit, compare_and_set, sortable


@dataclass(frozen=True, slots=True)
class GatewayPlan:
    """The settings of a deployment's pings. `token_script` is empty where it is not configured."""

    expects: bool
    has_token: bool
    grace: timedelta
    token_script: str = ""


class Pings:
    """Stores each ping over the one before, with its stretch, in one commit. `received` counts since the start."""

    def __init__(self, store: Store, clock: Clock, plan: GatewayPlan) -> None:
        self.store = store
        self._clock = clock
        self._plan = plan
        self.last = last_ping(store, clock)
        self.stretches = stretches(store, clock)
        self.received = Counter[str]()
        self._heard: tuple[datetime, float] | None = None

    def jump(self, last: LastPing) -> timedelta:
        """Return by how much the wall clock was put forward since this process has kept that ping.

        A store that several processes share holds times of the wall clock only: for a ping that another has kept
        this is nothing. The time in which this machine slept is a jump, too: it could not hear.
        """
        if self._heard is None or last.at != self._heard[0]:
            return timedelta(0)
        at, monotonic = self._heard
        return self._clock.now() - at - timedelta(seconds=self._clock.monotonic() - monotonic)

    async def expect(self) -> None:
        """Note since when pings are expected, unless that is noted; where none are, forget the last one."""
        unchanged = await self.last.unchanged()  # before it is looked at: another node may take a ping meanwhile
        found = await self.last.find()
        if self._plan.expects and found is None:
            _ = await commit(self.store, Changes([self.last.put(self._first())], [unchanged]))
        elif found and not self._plan.expects:
            _ = await commit(self.store, self.last.changes("", found, None))

    async def receive(self, ping: Ping) -> None:
        """Store a ping; raise `StoreUnavailable` when it cannot be stored."""

        async def attempt() -> Committed | Conflict:
            now, heard = self._clock.now(), self._clock.monotonic()
            last, unchanged = await self.last.replaceable()
            jump = self.jump(last) if last else timedelta(0)
            before = last.moved(jump) if last else self._first()
            id_, stretch, begun = await self._stretch(before, ping, now, jump)
            after = before.followed_by(ping, now, self._plan.grace)
            after = after.change(stretch=id_, day=now.date(), stretches=begun)
            done = await commit(
                self.store, Changes([self.last.put(after), self.stretches.put(stretch, id_)], [unchanged])
            )
            self._heard = now, heard
            return done

        _ = await compare_and_set(attempt, "The store is too busy to note a ping.")
        self.received["good" if ping.is_good else "bad"] += 1

    async def _stretch(
        self, last: LastPing, ping: Ping, now: datetime, jump: timedelta
    ) -> tuple[str, PingStretch, int]:
        """Return the stretch that a ping is in, with its id, and how many have begun on this day."""
        found = await self.stretches.find(last.stretch) if last.stretch else None
        before = found.record.moved(jump) if found else None
        begun = last.stretches if last.day == now.date() else 0
        if before and (before.goes_on_with(ping, now) or begun >= MOST_A_DAY):
            return last.stretch, before.with_ping(ping, now), begun
        return sortable(now), first_of(ping, now, before), begun + 1

    def _first(self) -> LastPing:
        return LastPing(expected_since=self._clock.now())
