"""A store in use whose records somebody damages: cut, of a newer version, or of another type."""

import json
from collections.abc import Awaitable, Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property

from orrery.checkout.selling.service import Purchase
from orrery.ports.processor import Charge, ChargeEvent
from orrery.ports.processor.errors import ProcessorUnreachable
from orrery.ports.store import Put, StoreEntry
from orrery.runtime.restored import Restoration
from tests.support.checkout import PRODUCT, Shop, session, session_json
from tests.support.rehearsal import Counterpart, Rehearsal

LOST = ProcessorUnreachable("No answer within 10.0 s.", same_key=True)
CLICK = Purchase(PRODUCT.key, "203.0.113.7", "a click")


def cut(value: bytes) -> bytes:
    """Return what a write that was cut short leaves."""
    return value[: len(value) // 2]


def newer(value: bytes) -> bytes:
    """Return what a newer version may write; of an index, what is no text."""
    if not value.startswith(b"{"):
        return b"\xff\xfe" + value
    return json.dumps({**json.loads(value), "v": 2, "new": True}).encode()


def another_type(value: bytes) -> bytes:
    """Return JSON of another type; of an index, a text that is no id."""
    return b'["another", 1]' if value.startswith(b"{") else b"two words\n"


def without_zone(value: bytes) -> bytes:
    """Return a record whose times name no zone, as somebody may type them."""
    return value.replace(b'Z"', b'"') if value.startswith(b"{") else b"\x1b[31m"


DAMAGES: tuple[Callable[[bytes], bytes], ...] = (cut, newer, another_type, without_zone)


_LIVED_IN: "list[World]" = []


@dataclass
class World:
    """One deployment with something of everything in its store."""

    shop: Shop = field(default_factory=Shop)

    @cached_property
    def rehearsal(self) -> Rehearsal:
        """Preflight and verification over the same store."""
        return Rehearsal(kept=self.shop.store, clock=self.shop.clock, products=(PRODUCT,))

    @cached_property
    def restoration(self) -> Restoration:
        """What follows a restore."""
        return Restoration(self.shop.store, self.shop.clock)

    async def lived_in(self) -> "World":
        """Return a world in which something of everything has happened: a copy of the first that was made."""
        if not _LIVED_IN:
            _LIVED_IN.append(await self.live())
        return deepcopy(_LIVED_IN[0])

    async def live(self) -> "World":
        """Let something of everything happen; return this."""
        await self._rehearsed()
        shop = self.shop
        await shop.offered("cs_1", "cs_2", "cs_3")
        await shop.receive("evt_1", session_json("cs_1"))
        await shop.receive("evt_2", session_json("cs_2", payment_status="unpaid"))
        await shop.desk.resend("cs_1", "It was lost.")
        await shop.checkout.create(CLICK)
        await shop.reconciliation.run()
        await self.restoration.settle(None)
        now = shop.clock.now()
        for number, paid in enumerate(("paid", "unpaid", "paid"), 1):
            made = session(f"cs_{number}", payment_status=paid, created=now, price_ids=("price_cissp",))
            shop.processor.add(made)
            shop.happened(now, f"evt_{number}", f"cs_{number}", payment_status=paid)
        refunded = Charge("ch_1", now, "pi_cs_1", 4900, 4900, "usd", paid=True, disputed=False)
        shop.processor.charges.append(refunded)
        shop.processor.charge_events.append(ChargeEvent(now, refunded))
        return self

    async def _rehearsed(self) -> None:
        """Leave receipts, a trial without an answer, a verification without an end, and a look for drift."""
        rehearsal = self.rehearsal
        await rehearsal.preflighted()
        rehearsal.clock.advance(3600)
        offered = await rehearsal.selling.current_offer(PRODUCT.key)
        made = await rehearsal.till.create_session(offered.parameters, idempotency_key="a visitor", deadline=1)
        rehearsal.till.sessions[made.id] = replace(made, three_d_secure="any")
        await rehearsal.drift.check_newest()
        await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal, why="No answer.", may_exist=True))
        rehearsal.till.after["create"] = [LOST, LOST]
        await rehearsal.preflighted()

    async def damage(self, prefix: str, how: Callable[[bytes], bytes]) -> dict[str, bytes]:
        """Damage every record under a prefix; return what is there now."""
        found = await self.shop.entries(prefix)
        assert found, f"nothing is kept under {prefix}"
        done = {entry.key: how(entry.value) for entry in found}
        await self.shop.store.commit([Put(key, value) for key, value in done.items()])
        return done

    async def value(self, key: str) -> bytes | None:
        """Return what is stored."""
        entry = await self.shop.store.get(key)
        return entry.value if entry else None

    async def only(self, prefix: str) -> StoreEntry:
        """Return the one entry under a prefix."""
        (entry,) = await self.shop.entries(prefix)
        return entry


Action = Callable[[World], Awaitable[object]]
