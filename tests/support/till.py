"""A processor that makes and expires sessions: a fake of its ports for preflights and verifications."""

import asyncio
from collections.abc import AsyncIterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import cast

from anyio.lowlevel import checkpoint

from orrery.adapters.memory import MemoryStore
from orrery.adapters.stripe.objects import read_event
from orrery.approvals.approvals import Approvals
from orrery.checkout.access.notifications import Notifications
from orrery.checkout.build import CheckoutDomain
from orrery.checkout.catalogue import Catalogue, Product
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import PreflightTrial, Receipt
from orrery.checkout.selling.params import SessionTerms
from orrery.checkout.selling.preflight import PreflightReport
from orrery.ports.processor import (
    CheckoutSession,
    Parameter,
    Parameters,
    Price,
    Processor,
    ProcessorReads,
    ProcessorWrites,
)
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused
from orrery.ports.shop import Started
from orrery.ports.store import Store
from orrery.runtime.outbox import Notification, Outbox
from orrery.runtime.tasks import Tasks
from tests.support.approving import DEPLOYMENT, OWNER, SharedKeys, signed
from tests.support.checkout import API_VERSION, OTHER, PRODUCT, TERMS, plan_of
from tests.support.clock import ManualClock
from tests.support.killed import Fuse, FusedStore


@dataclass
class Till:
    """The account: its sessions, and what goes wrong with the next calls.

    `before` and `after` are raised, one a call, before a call is carried out and after it, by operation: `create`,
    `read`, `expire`, `price`. `refusals` are for prices.
    """

    clock: ManualClock
    fuse: Fuse = field(default_factory=Fuse)
    sessions: dict[str, CheckoutSession] = field(default_factory=dict[str, CheckoutSession])
    keys: dict[str, tuple[Parameters, str]] = field(default_factory=dict[str, tuple[Parameters, str]])
    asked: list[tuple[Parameters, str | None]] = field(default_factory=list[tuple[Parameters, str | None]])
    refusals: dict[str, ProcessorRefused] = field(default_factory=dict[str, ProcessorRefused])
    before: dict[str, list[Exception]] = field(default_factory=dict[str, list[Exception]])
    after: dict[str, list[Exception]] = field(default_factory=dict[str, list[Exception]])
    active_price: Price | None = None
    expiries: list[str] = field(default_factory=list[str])
    livemode: bool = False
    makes: dict[str, object] = field(default_factory=dict[str, object])
    """Other fields of the sessions that are made."""
    unreadable: list[ItemUnreadable] = field(default_factory=list[ItemUnreadable])

    async def create_session(
        self, parameters: Parameters, *, idempotency_key: str, deadline: float, api_version: str | None = None
    ) -> CheckoutSession:
        """Make a session, or return the one that was made under the key, as it was then."""
        assert deadline > 0
        await checkpoint()
        self._meet(self.before, "create")
        self.asked.append((deepcopy(parameters), api_version))
        if refusal := self.refusals.get(str(_at(parameters, "line_items", 0, "price"))):
            raise refusal
        if idempotency_key not in self.keys:
            session = self._made(parameters)
            self.sessions[session.id] = session
            self.keys[idempotency_key] = deepcopy(parameters), session.id
        sent, session_id = self.keys[idempotency_key]
        assert sent == parameters, "other parameters under a used key"
        self._meet(self.after, "create")
        return replace(self.sessions[session_id], status="open", payment_status="unpaid")

    async def get_session(self, session_id: str) -> CheckoutSession:
        """Return a session as it is."""
        self._meet(self.before, "read")
        if session_id not in self.sessions:
            raise ProcessorRefused("No such session.", status=404)
        return self.sessions[session_id]

    async def expire_session(self, session_id: str, *, idempotency_key: str) -> CheckoutSession:
        """Expire an open session."""
        assert idempotency_key
        await checkpoint()
        self._meet(self.before, "expire")
        session = self.sessions[session_id]
        if session.status != "open":
            raise ProcessorRefused("Only open sessions can be expired.", status=400)
        self.expiries.append(session_id)
        self.sessions[session_id] = replace(session, status="expired", url=None)
        self._meet(self.after, "expire")
        return self.sessions[session_id]

    async def first_active_price(self) -> Price | None:
        """Return the price that a test has put there."""
        self._meet(self.before, "price")
        return self.active_price

    async def list_sessions(
        self, since: datetime | None = None, *, payment_intent: str | None = None
    ) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield the sessions, the newest first, behind what cannot be read."""
        assert payment_intent is None
        for odd in self.unreadable:
            yield odd
        for session in sorted(self.sessions.values(), key=lambda one: one.created, reverse=True):
            if since is None or session.created >= since:
                yield session

    def open(self) -> list[str]:
        """Return the sessions that can be paid."""
        return [one.id for one in self.sessions.values() if one.status == "open"]

    def _meet(self, troubles: dict[str, list[Exception]], operation: str) -> None:
        self.fuse.burn()
        if troubles.get(operation):
            raise troubles[operation].pop(0)

    def _made(self, parameters: Parameters) -> CheckoutSession:
        metadata = parameters["metadata"]
        assert isinstance(metadata, dict)
        methods = parameters["payment_method_types"]
        assert isinstance(methods, list)
        made = CheckoutSession(
            id=f"cs_{len(self.sessions) + 1}",
            status="open",
            payment_status="unpaid",
            created=self.clock.now(),
            livemode=self.livemode,
            url="https://pay.example/1",
            amount_total=4900,
            currency="usd",
            metadata={name: str(value) for name, value in metadata.items()},
            price_ids=(str(_at(parameters, "line_items", 0, "price")),),
            quantities=(1,),
            mode="payment",
            payment_method_types=tuple(map(str, methods)),
            three_d_secure=str(_at(parameters, "payment_method_options", "card", "request_three_d_secure")),
            submit_message=str(_at(parameters, "custom_text", "submit", "message")),
            success_url=str(parameters["success_url"]),
            cancel_url=str(parameters["cancel_url"]),
            expires_at=self.clock.now() + timedelta(hours=24),
        )
        return replace(made, **self.makes)  # pyright: ignore[reportArgumentType]  any field of a session


def _at(value: Parameter, *path: str | int) -> Parameter:
    for step in path:
        if isinstance(step, int):
            assert isinstance(value, list)
            value = value[step]
        else:
            assert isinstance(value, dict)
            value = value[step]
    return value


class Rehearsal(CheckoutDomain):
    """One deployment that is about to sell, with an owner who signs; `again` is the same after a restart."""

    def __init__(  # noqa: PLR0913  each may differ in a test
        self,
        *,
        livemode: bool = True,
        deployment: str = DEPLOYMENT,
        products: tuple[Product, ...] = (PRODUCT, OTHER),
        terms: SessionTerms | None = TERMS,
        api_version: str = API_VERSION,
        clock: ManualClock | None = None,
        fuse: Fuse | None = None,
        kept: Store | None = None,
        account: Till | None = None,
    ) -> None:
        self.clock, self.fuse = clock or ManualClock(), fuse or Fuse()
        self.memory = kept or MemoryStore(self.clock)
        """What survives a kill."""
        self.watched = self.store = FusedStore(self.memory, self.fuse)
        """The store as this process sees it."""
        self.till = account or Till(self.clock, livemode=livemode)
        self.till.fuse = self.fuse
        self.approvals = Approvals(self.store, self.clock, SharedKeys(OWNER), deployment=deployment)
        # The till has those methods of the three ports that preflights and verifications call, and no other.
        super().__init__(
            CheckoutRecords(self.store, self.clock, b""),
            cast("Processor", self.till),
            cast("ProcessorReads", self.till),
            cast("ProcessorWrites", self.till),
            self.approvals,
            read_event,
            plan_of(Notifications("", "", Catalogue(products)), terms, livemode=livemode, api_version=api_version),
            Tasks(),
        )
        self.approvals.allow(*self.expiry.operations())
        self._settings: dict[str, object] = {
            "livemode": livemode,
            "deployment": deployment,
            "products": products,
            "terms": terms,
            "api_version": api_version,
        }

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
        intent = (await self.approvals.proposal(intent_id)).intent
        statement = self.approvals.statement(intent).to_bytes()
        await self.approvals.sign(intent.id, statement, signed(statement))

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

    async def told(self) -> list[Notification]:
        """Return every notification that was enqueued."""
        return [row async for row in Outbox(self.memory, self.clock, {}).rows()]

    async def logged(self) -> list[tuple[str, str]]:
        """Return what the approval log tells: kinds and targets."""
        entries = [entry async for entry in self.approvals.log.entries()]
        return [(entry.kind, entry.target) for entry in entries if entry]


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
