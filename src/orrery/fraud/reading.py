"""Reads declined charges, and joins each with the client address that it came from (decision 18).

A search takes one call for each 100 charges; one for each payment among crowded declines that was not read before,
at most `LOOKUPS`; and one for each 100 open reviews, when an address is still missing.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from orrery.fraud.clusters import Cluster, Decline, clusters, crowded
from orrery.fraud.entries import known_address
from orrery.fraud.records import LastSearch, last_search
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.processor import Charge, ItemUnreadable, ProcessorReads, split_unreadable
from orrery.ports.store import Store
from orrery.runtime.tasks import together

LOOKUPS = 100
"""How many payments' sessions one run reads, the newest first; the next run reads the rest."""

AT_ONCE = 8
"""How many of these calls are under way at once."""

FAILED = "failed"
"""The status of a declined charge."""

STOPPED = "not_sent_to_network"
"""The network status of a charge that the processor's own screening stopped."""

AddressOf = Callable[[str], Awaitable[str | None]]
"""Returns the client address that asked for the session of a payment intent, or None."""


@dataclass(frozen=True, slots=True)
class ClusterSearch:
    """The result of a search among the charges created since.

    `unasked` are crowded declines beyond `LOOKUPS`; `unreadable` are charges that are not as documented.
    """

    since: datetime
    until: datetime
    charges: int
    declines: int
    unasked: int
    clusters: tuple[Cluster, ...]
    unreadable: tuple[ItemUnreadable, ...] = ()


class ClusterReader:
    """Searches for clusters; reads the session of each payment once."""

    def __init__(self, store: Store, clock: Clock, reads: ProcessorReads, address_of: AddressOf) -> None:
        self._last = last_search(store, clock)
        self._clock = clock
        self._reads = reads
        self._address_of = address_of
        self._addresses: dict[str, str | None] = {}

    async def search(self, back: timedelta) -> ClusterSearch:
        """Return the clusters among the charges of this time, under the ids by which the workers know them."""
        until = self._clock.now()
        charges, unread = split_unreadable([one async for one in self._reads.list_charges(until - back)])
        for error in unread:
            log.warning("a charge cannot be read", charge=error.item_id, why=str(error))
        declined = {one.id: one for one in charges if one.status == FAILED}
        near = crowded(map(_decline, declined.values()))
        newest_first = [declined[one.charge_id] for one in reversed(near)]
        placed = await self._placed(near, newest_first)
        last, _ = await self._last.replaceable()
        named = (last or LastSearch(looked_at=until)).recognised(clusters(placed))
        payments = [one.payment_intent for one in newest_first if one.payment_intent]
        unasked = sum(payment not in self._addresses for payment in payments)
        return ClusterSearch(
            until - back, until, len(charges), len(declined), unasked, tuple(named), tuple(unread)
        )

    async def _placed(self, near: Sequence[Decline], charges: Sequence[Charge]) -> list[Decline]:
        """Return the declines with their addresses; `charges` are theirs, the newest first."""
        await self._ask([one.payment_intent for one in charges if one.payment_intent])
        found = {one.id: self._addresses.get(one.payment_intent or "") for one in charges}
        if not all(found.values()):
            reviewed = await self._reviewed()
            found = {
                one.id: found[one.id] or reviewed.get(one.id) or reviewed.get(one.payment_intent or "")
                for one in charges
            }
        return [replace(one, address=known_address(found[one.charge_id])) for one in near]

    async def _ask(self, payments: Iterable[str]) -> None:
        wanted = list(dict.fromkeys(payments))
        self._addresses = {one: self._addresses[one] for one in wanted if one in self._addresses}
        new = [one for one in wanted if one not in self._addresses][:LOOKUPS]
        for start in range(0, len(new), AT_ONCE):
            batch = new[start : start + AT_ONCE]
            self._addresses |= zip(batch, await together(*map(self._address_of, batch)), strict=True)

    async def _reviewed(self) -> dict[str, str]:
        """Return the addresses in open reviews, by charge and by payment intent."""
        found: dict[str, str] = {}
        async for review in self._reads.list_reviews():
            if isinstance(review, ItemUnreadable):
                log.warning("a review cannot be read", review=review.item_id, why=str(review))
                continue
            for name in (review.charge, review.payment_intent):
                if name and review.client_address:
                    found[name] = review.client_address
        return found


def _decline(charge: Charge) -> Decline:
    return Decline(
        charge_id=charge.id,
        at=charge.created,
        card=charge.card_fingerprint,
        email=charge.email,
        stopped=charge.network_status == STOPPED,
    )
