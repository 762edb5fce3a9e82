"""A processor's events as a test tells them: an adapter of the port."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from orrery.checkout.access.events import EventHistory
from orrery.errors import OrreryError
from orrery.ports.processor import EventSummary, ProcessorReads
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused
from tests.support.checkout import Shop, event_body, session_json

COMPLETED = "checkout.session.completed"


@dataclass
class ScriptedEvents(ProcessorReads):
    """Holds events, the newest first, and their bodies; `trouble` is raised by every call."""

    summaries: list[EventSummary] = field(default_factory=list[EventSummary])
    unreadable: list[ItemUnreadable] = field(default_factory=list[ItemUnreadable])
    bodies: dict[str, bytes] = field(default_factory=dict[str, bytes])
    trouble: OrreryError | None = None

    def happened(
        self,
        at: datetime,
        event_id: str = "evt_1",
        session_id: str = "cs_1",
        kind: str = COMPLETED,
        pending: int = 1,
        **other: Any,  # noqa: ANN401  any field of a session
    ) -> None:
        """Let an event have happened, with a delivery that nobody has accepted yet."""
        self.summaries.insert(0, EventSummary(event_id, kind, at, "2026-08-26.dahlia", pending, session_id))
        self.bodies[event_id] = event_body(event_id, session_json(session_id, **other), kind)

    async def list_events(
        self, since: datetime | None = None, *, undelivered: bool = False
    ) -> AsyncIterator[EventSummary | ItemUnreadable]:
        """Yield those since, or of these the ones with a delivery that was not accepted."""
        if self.trouble:
            raise self.trouble
        for one in self.unreadable:
            yield one
        for one in self.summaries:
            if (since is None or one.created >= since) and (one.pending or not undelivered):
                yield one

    async def get_event(self, event_id: str) -> bytes:
        """Return one event."""
        if self.trouble:
            raise self.trouble
        if event_id not in self.bodies:
            raise ProcessorRefused("No such event.", status=404)
        return self.bodies[event_id]


@dataclass
class Post:
    """A shop beside the processor's events."""

    shop: Shop = field(default_factory=Shop)
    processor: ScriptedEvents = field(default_factory=ScriptedEvents)

    @property
    def events(self) -> EventHistory:
        """The events."""
        shop = self.shop
        return EventHistory(
            shop.stored,
            self.processor,
            shop.raw_events,
            shop.refusals,
            shop.webhook.receive_verified,
            livemode=shop.livemode,
        )
