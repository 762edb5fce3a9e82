"""Whether each buyer has a separate address: behind an untrusted proxy all share one address and one rate limit.

The first request that shows a proxy stores it at once, so that `orrery doctor`, another process, finds it. A
request that the limit refuses writes nothing (decision 14): what it shows is kept in memory, and stored by a job.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from ipaddress import ip_address, ip_network
from typing import Literal

import structlog
from pydantic import AwareDatetime, IPvAnyAddress

from orrery.checkout import keys
from orrery.checkout.collections import CheckoutRecords
from orrery.errors import StoreError
from orrery.ports.health import Finding
from orrery.record import Record
from orrery.runtime.collection import Collection
from orrery.runtime.due import is_ahead
from orrery.runtime.lasting import Lasting, Pace, unless_store_fails

MANY_REFUSED = 10
"""This many refusals of one private address are more than one person causes by clicking again."""

REFUSED_WITHIN = timedelta(hours=1)
"""The window in which refusals are counted: the longer one of the rate limit (decision 14)."""

EVERY = timedelta(minutes=1)
"""How often a new note is stored."""

WRITTEN_EVERY = timedelta(minutes=10)
"""How often an unchanged note is stored."""

KEEP = timedelta(hours=24)
"""How long a proxy counts after its last request: longer than a night without buyers."""

PART = "client addresses"

log = structlog.get_logger()


class ProxySighting(Record):
    """An address that many buyers share. `forwards`: it sends a forwarding header; `refused`: its 429 answers."""

    v: Literal[1] = 1
    address: IPvAnyAddress
    forwards: bool
    refused: int
    seen_at: AwareDatetime


class ProxyHealth:
    """Finds addresses that many buyers share. `trusted` are the networks of [server] trusted_proxies."""

    JOB = "note untrusted proxies"

    def __init__(self, stored: CheckoutRecords, trusted: Sequence[str]) -> None:
        self._clock = clock = stored.clock
        self._sighting = Lasting(Collection(stored.store, clock, ProxySighting, keys.PROXY, life=KEEP))
        self._trusted = [ip_network(network) for network in trusted]
        self._forwards: str | None = None
        self._refused: Counter[str] = Counter()
        self._counted_from = 0.0
        self._pace = Pace(clock, WRITTEN_EVERY)

    def forwards(self, address: str) -> bool:
        """Note a proxy that is not trusted; return whether there was none to be stored."""
        before, self._forwards = self._forwards, address
        return before is None

    async def show(self, address: str) -> None:
        """Note a proxy, and store it unless that was just done; raise nothing of the store's."""
        if self.forwards(address):
            try:
                await self.write()
            except StoreError as error:
                log.warning("untrusted proxy not noted", why=str(error))

    def refused(self, address: str) -> None:
        """Note that the rate limit refused an address of a private network: one person, or all behind a proxy."""
        now = self._clock.monotonic()
        if now - self._counted_from >= REFUSED_WITHIN.total_seconds():
            self._refused.clear()
            self._counted_from = now
        self._refused[address] += 1

    async def write(self) -> None:
        """Store what was noted, unless that was just done."""
        address, counted = self._suspect(), self._refused.copy()
        if address is None or not self._pace.is_due():
            return
        _ = await self._sighting.change(lambda known: self._seen(known, ip_address(address), counted[address]))
        self._forwards = None
        self._pace.mark()
        self._refused -= counted

    async def local(self) -> list[Finding]:
        """Return whether each buyer has a separate address."""
        return await unless_store_fails(self._finding())

    async def _finding(self) -> Finding:
        sighting = await self._sighting.known()
        if sighting is None or self._is_over(sighting):
            return Finding(PART, "ok", essential=False, settled=True)
        return Finding(PART, "broken", _why(sighting), _todo(sighting), essential=False, settled=True)

    def _is_over(self, sighting: ProxySighting) -> bool:
        """Return whether the sighting is too old, or of a proxy that was not trusted then, and is now."""
        if not is_ahead(sighting.seen_at + KEEP, self._clock.now(), KEEP):
            return True
        return sighting.forwards and any(sighting.address in network for network in self._trusted)

    def _suspect(self) -> str | None:
        often = (one for one, count in self._refused.items() if count >= MANY_REFUSED)
        return self._forwards or next(often, None)

    def _seen(self, known: ProxySighting | None, address: IPvAnyAddress, refused: int) -> ProxySighting:
        now, forwards = self._clock.now(), self._forwards is not None
        if known is not None and known.address == address and not self._is_over(known):
            forwards = forwards or known.forwards
            return known.change(forwards=forwards, refused=known.refused + refused, seen_at=now)
        log.warning("untrusted proxy", address=str(address), forwards=forwards, refused=refused)
        return ProxySighting(address=address, forwards=forwards, refused=refused, seen_at=now)


def _why(sighting: ProxySighting) -> str:
    if not sighting.forwards:
        return (
            f"The rate limit refused {sighting.refused} requests from {sighting.address}, "
            "an address of a private network."
        )
    refused = f" The limit refused {sighting.refused} requests." if sighting.refused else ""
    return f"The proxy {sighting.address} is not trusted: all buyers behind it share one rate limit.{refused}"


def _todo(sighting: ProxySighting) -> str:
    if sighting.forwards:
        return f"Add {sighting.address} to [server] trusted_proxies if it is yours, and restart the service."
    add = "add its address to [server] trusted_proxies, and restart the service."
    return f"If it is a proxy, let it send X-Forwarded-For, {add}"
