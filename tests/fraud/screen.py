"""Fraud screening over a store in memory and a processor with lists: fakes of ours, steered by the test."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from orrery.adapters.memory import MemoryStore
from orrery.approvals.approvals import Approvals
from orrery.approvals.progress import IntentProgress
from orrery.errors import OrreryError
from orrery.fraud.build import FraudDomain
from orrery.ports.notifier import OutgoingMessage
from orrery.ports.processor import Charge, ListEntry, ProcessorReads, ProcessorWrites, Review, ValueList
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused
from orrery.ports.store import Store
from orrery.runtime.operations import Intent
from orrery.runtime.outbox import Outbox
from orrery.runtime.watch import OutageWatch
from tests.support.approving import DEPLOYMENT, SharedKeys, signed
from tests.support.clock import ManualClock
from tests.support.notifiers import ScriptedNotifier

ADDRESS, OTHER_ADDRESS = "9.9.9.9", "2620:fe::fe"
OWN = ("8.8.8.0/24", "2001:4860::/32")
CARD = "Ab3dEf7hIj1kLm5n"
EMAIL = "ann@buyers.example"

LISTS = (
    ValueList("rsl_email", "email_blocklist", "E-mail addresses", "email"),
    ValueList("rsl_card", "card_fingerprint_blocklist", "Cards", "card_fingerprint"),
    ValueList("rsl_address", "client_ip_address_blocklist", "Client addresses", "ip_address"),
    ValueList("rsl_bin", "card_bin_blocklist", "Banks", "card_bin"),
)


def charge(charge_id: str, at: datetime, **other: Any) -> Charge:  # noqa: ANN401  any field of a charge
    """Return a declined charge, with other fields where given."""
    fields: dict[str, Any] = {
        "payment_intent": f"pi_{charge_id}",
        "amount": 4900,
        "amount_refunded": 0,
        "currency": "usd",
        "paid": False,
        "disputed": False,
        "status": "failed",
        "network_status": "declined_by_network",
    }
    return Charge(charge_id, at, **(fields | other))


@dataclass
class Screen(ProcessorReads, ProcessorWrites):
    """The processor: `asked` are the calls it got; `troubles` are raised by the calls of that name, one each.

    `unreadable` comes first in the lists of charges and entries.
    """

    clock: ManualClock
    charges: list[Charge] = field(default_factory=list[Charge])
    reviews: list[Review] = field(default_factory=list[Review])
    addresses: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    lists: list[ValueList] = field(default_factory=lambda: list(LISTS))
    listed: list[ListEntry] = field(default_factory=list[ListEntry])
    unreadable: list[ItemUnreadable] = field(default_factory=list[ItemUnreadable])
    asked: list[str] = field(default_factory=list[str])
    keys: list[str] = field(default_factory=list[str])
    troubles: dict[str, list[OrreryError | None]] = field(default_factory=dict[str, "list[OrreryError | None]"])

    def put(self, list_id: str, value: str) -> ListEntry:
        """Put an entry on a list, as somebody does in the dashboard."""
        entry = ListEntry(f"rsli_{len(self.listed) + 1}", list_id, value, self.clock.now(), "the owner")
        self.listed.append(entry)
        return entry

    def values(self, list_id: str) -> list[str]:
        """Return what is on a list."""
        return [one.value for one in self.listed if one.list_id == list_id]

    async def address_of(self, payment_intent: str) -> str | None:
        """Return the client address of an offer."""
        self._ask("address_of")
        return self.addresses.get(payment_intent)

    async def list_charges(self, since: datetime) -> AsyncIterator[Charge | ItemUnreadable]:
        """Yield the charges created since."""
        self._ask("list_charges")
        for odd in self.unreadable:
            yield odd
        for one in self.charges:
            if one.created >= since:
                yield one

    async def list_reviews(self, since: datetime | None = None) -> AsyncIterator[Review]:
        """Yield the open reviews."""
        self._ask("list_reviews")
        for one in self.reviews:
            if since is None or one.created >= since:
                yield one

    async def list_value_lists(self, since: datetime | None = None) -> AsyncIterator[ValueList]:
        """Yield the lists, which are older than anybody asks."""
        del since
        self._ask("list_value_lists")
        for one in self.lists:
            yield one

    async def list_entries(
        self, list_id: str, value: str | None = None, *, since: datetime | None = None
    ) -> AsyncIterator[ListEntry | ItemUnreadable]:
        """Yield the entries of a list: as the vendor does, all those that are like the value."""
        self._ask("list_entries")
        for odd in self.unreadable:
            yield odd
        for one in self.listed:
            is_like = value is None or value.lower() in one.value.lower()
            if one.list_id == list_id and is_like and (since is None or one.created >= since):
                yield one

    async def add_entry(self, list_id: str, value: str, *, idempotency_key: str) -> ListEntry:
        """Add an entry; a repeat of a value is refused."""
        self.keys.append(idempotency_key)
        trouble = self._trouble("add_entry")
        if isinstance(trouble, ProcessorRefused):
            raise trouble
        if value in self.values(list_id):
            raise ProcessorRefused(
                f"The value {value} is in the list.", status=400, code="resource_already_exists"
            )
        entry = self.put(list_id, value)
        if trouble:
            raise trouble
        return entry

    async def remove_entry(self, entry_id: str) -> None:
        """Remove an entry."""
        trouble = self._trouble("remove_entry")
        if isinstance(trouble, ProcessorRefused):
            raise trouble
        if entry_id not in {one.id for one in self.listed}:
            raise ProcessorRefused("No such item.", status=404, code="resource_missing")
        self.listed = [one for one in self.listed if one.id != entry_id]
        if trouble:
            raise trouble

    def _ask(self, call: str) -> None:
        self.asked.append(call)
        if trouble := self._trouble(call):
            raise trouble

    def _trouble(self, call: str) -> OrreryError | None:
        waiting = self.troubles.get(call, [])
        return waiting.pop(0) if waiting else None


@dataclass(frozen=True)
class Shop:
    """A deployment's fraud screening, with a clock and a processor that the test steers."""

    clock: ManualClock = field(default_factory=ManualClock)
    watches: bool = True
    phone: ScriptedNotifier = field(default_factory=ScriptedNotifier)

    @cached_property
    def store(self) -> Store:
        """The store."""
        return MemoryStore(self.clock)

    @cached_property
    def screen(self) -> Screen:
        """The processor."""
        return Screen(self.clock)  # pyright: ignore[reportAbstractUsage]  fraud screening calls nothing else

    @cached_property
    def approvals(self) -> Approvals:
        """The owner's approvals."""
        return Approvals(self.store, self.clock, SharedKeys(b"the owner's key"), deployment=DEPLOYMENT)

    @cached_property
    def fraud(self) -> FraudDomain:
        """Fraud screening."""
        return self.restarted()

    def restarted(self) -> FraudDomain:
        """Return what another process has over the same store."""
        screen, asked = self.screen, self.screen.address_of
        fraud = FraudDomain(
            self.store, self.clock, screen, screen, self.approvals, asked, watches=self.watches, own_addresses=OWN
        )
        self.approvals.allow(*fraud.parts().operations)
        return fraud

    def decline(self, *seconds: float, address: str | None = ADDRESS, **other: Any) -> None:  # noqa: ANN401  any field of a charge
        """Let charges be declined so many seconds from now; the newest is listed first."""
        for moment in seconds:
            one = charge(
                f"ch_{len(self.screen.charges):03d}", self.clock.now() + timedelta(seconds=moment), **other
            )
            self.screen.charges.insert(0, one)
            if one.payment_intent:
                self.screen.addresses[one.payment_intent] = address

    async def sign(self, intent: Intent) -> IntentProgress:
        """Sign as the owner does."""
        statement = self.approvals.statement(intent).to_bytes()
        return await self.approvals.sign(intent.id, statement, signed(statement))

    async def look(self, fraud: FraudDomain | None = None) -> None:
        """Look as the workers do, in this process or another, and let what is to be told be delivered."""
        watch = (fraud or self.fraud).watch
        await watch.run()
        await OutageWatch(self.store, self.clock, watch.findings).notify()
        await Outbox(self.store, self.clock, {"push": self.phone}).deliver_due()

    def pushes(self) -> list[OutgoingMessage]:
        """Return what the owner's phone was told about clusters."""
        return [one for one in self.phone.accepted if one.id.startswith("broken-fraud-clusters")]

    async def intents(self) -> int:
        """Return how many intents there are."""
        return len(await self.approvals.proposals())
