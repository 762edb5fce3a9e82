"""A deployment that is about to sell, which can be killed: for preflights and verifications."""

import asyncio
from dataclasses import dataclass, field

from anyio.lowlevel import checkpoint

from orrery.adapters.memory import MemoryStore
from orrery.checkout.catalogue import Product
from orrery.checkout.records import PreflightTrial, Receipt
from orrery.checkout.selling.preflight import PreflightReport
from orrery.ports.shop import Started
from orrery.ports.store import Store
from tests.support.checkout import PRODUCT, Shop
from tests.support.clock import ManualClock
from tests.support.killed import Fuse
from tests.support.processor import ScriptedProcessor
from tests.support.unreliable_store import UnreliableStore


class Rehearsal(Shop):
    """One deployment that is about to sell, with an owner who signs; `again` is the same after a restart."""

    def __init__(
        self,
        *,
        livemode: bool = True,
        clock: ManualClock | None = None,
        fuse: Fuse | None = None,
        kept: Store | None = None,
        account: ScriptedProcessor | None = None,
        **other: object,
    ) -> None:
        clock, self.fuse = clock or ManualClock(), fuse or Fuse()
        self.memory = kept or MemoryStore(clock)
        """What survives a kill."""
        self.watched = UnreliableStore(self.memory, fuse=self.fuse)
        """The store as this process sees it."""
        self._settings: dict[str, object] = {"livemode": livemode, **other}
        super().__init__(clock, self.watched, livemode=livemode, account=account, **other)  # pyright: ignore[reportArgumentType]  any setting of a shop
        self.till = self.processor
        self.till.fuse = self.fuse

    def again(self, **other: object) -> "Rehearsal":
        """Return a new process over the same store and account, with other settings where given."""
        same = self._settings | {"clock": self.clock, "kept": self.memory, "account": self.till}
        return Rehearsal(**(same | other))  # pyright: ignore[reportArgumentType]  any field of a rehearsal

    async def run(self, *names: str) -> PreflightReport:
        """Type the command; the time passes that it waits between two tries."""
        task = asyncio.create_task(self.preflight.run(self.selling.catalogue.named(names)))
        while not task.done():
            await checkpoint()
            if self.clock.sleepers:
                self.clock.advance(1)
        return await task

    async def sign(self, intent_id: str | None) -> None:
        """Sign as the owner does."""
        assert intent_id is not None
        await self.approving.sign((await self.approvals.proposal(intent_id)).intent)

    async def preflighted(self, *names: str) -> PreflightReport:
        """Type the command, sign, and type it again."""
        await self.sign((await self.run(*names)).to_sign)
        return await self.run(*names)

    async def receipt(self, product: Product = PRODUCT) -> Receipt | None:
        """Return a product's receipt."""
        return await self.selling.receipt(product)

    async def stored_trials(self) -> list[PreflightTrial]:
        """Return everything that preflights have done."""
        return [PreflightTrial.model_validate_json(one.value) for one in await self.memory.scan("preflight:")]

    async def logged(self) -> list[tuple[str, str]]:
        """Return what the approval log tells: kinds and targets."""
        return [(entry.kind, entry.target) for entry in await self.approving.log()]


@dataclass
class Counterpart:
    """The public operation over the same account: an adapter of the port."""

    rehearsal: Rehearsal
    why: str = ""
    may_exist: bool = False
    keys: list[str] = field(default_factory=list[str])

    async def start(self, *, product_type: str, vendor_slug: str, cert_code: str, key: str) -> Started:
        """Make a session with what is sold."""
        self.keys.append(key)
        if self.why:
            return Started(None, self.why, self.may_exist)
        products = self.rehearsal.selling.catalogue
        product = next(one for one in products if one.name == f"{vendor_slug}/{cert_code}")
        assert product.key.product_type == product_type
        offered = await self.rehearsal.selling.current_offer(product.key)
        session = await self.rehearsal.till.create_session(offered.parameters, idempotency_key=key, deadline=1)
        return Started(session.id)
