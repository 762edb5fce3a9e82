"""The pings of the gateway's guest, as the site keeps them: the last one only."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta

from orrery.gateway.causes import Ping
from orrery.gateway.records import LastPing, last_ping
from orrery.ports.clock import Clock
from orrery.ports.store import Committed, Conflict, Store
from orrery.runtime.collection import Changes, commit, compare_and_set


@dataclass(frozen=True, slots=True)
class GatewayPlan:
    """The settings of a deployment's pings. `token_script` is empty where it is not configured."""

    expects: bool
    has_token: bool
    grace: timedelta
    token_script: str = ""


class Pings:
    """Stores each ping over the one before, in one commit. `received` counts those since the start."""

    def __init__(self, store: Store, clock: Clock, plan: GatewayPlan) -> None:
        self._store = store
        self._clock = clock
        self._plan = plan
        self.last = last_ping(store, clock)
        self.received = Counter[str]()

    async def expect(self) -> None:
        """Note since when pings are expected, unless that is noted; where none are, forget the last one."""
        found = await self.last.find()
        if self._plan.expects and found is None:
            _ = await commit(self._store, Changes([self.last.put(self._first())]))
        elif found and not self._plan.expects:
            _ = await commit(self._store, self.last.changes("", found, None))

    async def receive(self, ping: Ping) -> None:
        """Store a ping; raise `StoreUnavailable` when it cannot be stored."""

        async def attempt() -> Committed | Conflict:
            last, unchanged = await self.last.replaceable()
            after = (last or self._first()).followed_by(ping, self._clock.now(), self._plan.grace)
            return await commit(self._store, Changes([self.last.put(after)], [unchanged]))

        _ = await compare_and_set(attempt, "The store is too busy to note a ping.")
        self.received["good" if ping.is_good else "bad"] += 1

    def _first(self) -> LastPing:
        return LastPing(expected_since=self._clock.now())
