"""What arrives at the processor while every method of the ports is used: what is allowed, nothing else."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from orrery.adapters.movable_clock import MovableClock
from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.reads import StripeReads
from orrery.adapters.stripe.sales import StripeProcessor
from orrery.adapters.stripe.writes import StripeWrites
from orrery.checkout.catalogue import Product, SessionTerms, session_parameters
from orrery.ports.processor import Processor, ProcessorReads, ProcessorWrites, Unneeded
from orrery.sandbox.app import EVERYTHING, SandboxConfig, create_app
from tests.architecture.test_processor_walk import ALLOWED
from tests.support.items import gathered
from tests.support.running_sandbox import KEY, PRICE, PRICES
from tests.support.serving import bound, serving

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
PARAMETERS = session_parameters(
    Product("isc2", "cissp", "CISSP", PRICE),
    SessionTerms("https://a.example/{CHECKOUT_SESSION_ID}", "https://a.example/"),
)


class Recorder:
    """A sandbox that notes each request to the processor, as the walk through the source writes it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.arrived: set[str] = set()
        self.url = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note it, and let the sandbox answer."""
        if scope["type"] == "http":
            path = re.sub(r"/(?:cs|evt|pmc|rsli)_[A-Za-z0-9_]+", "/{id}", scope["path"])
            self.arrived.add(f"{scope['method']} {path}")
        await self._app(scope, receive, send)


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    """Run a sandbox whose requests are noted."""
    clock = MovableClock(tmp_path / "clock")
    listener, url = bound()
    config = SandboxConfig(base_url=url, api_keys={KEY: frozenset({EVERYTHING})}, prices=PRICES)
    recorder = Recorder(create_app(config, clock, clock.advance))
    recorder.url = url
    with serving(recorder, listener):
        yield recorder


def methods(*ports: type) -> set[str]:
    """Return the names of the ports' methods."""
    return {name for port in ports for name in vars(port) if not name.startswith("_")}


async def finished(work: object) -> object:
    """Await it, or take everything that it yields."""
    if isinstance(work, AsyncIterator):
        return [item async for item in cast("AsyncIterator[object]", work)]
    return await cast("Awaitable[object]", work)


class Everything:
    """A call of every method of the three ports."""

    def __init__(self, url: str) -> None:
        connection = StripeConnection(KEY, base_url=url)
        self.sales, self.reads, self.writes = (
            StripeProcessor(connection),
            StripeReads(connection),
            StripeWrites(connection),
        )

    async def unneeded(self) -> None:
        """Ask for one of each kind that nothing needs."""
        for kind in get_args(Unneeded):
            await self.reads.first_unneeded(kind)

    async def use(self) -> set[str]:
        """Use all; return the names of what was used."""
        created = await self.sales.create_session(PARAMETERS, idempotency_key="walk-1", deadline=5)
        lists = await gathered(self.reads.list_value_lists())
        (emails,) = [one.id for one in lists if one.alias == "email_blocklist"]
        entry = await self.writes.add_entry(emails, "thief@example.org", idempotency_key="walk-2")
        await self.writes.expire_session(created.id, idempotency_key="walk-3")
        event = (await gathered(self.reads.list_events()))[0]
        made = await self.writes.create_configuration(
            "Walk", {"card": True}, parent=None, idempotency_key="walk-4"
        )
        calls: dict[str, Callable[[], Any]] = {
            "list_completed_sessions": lambda: self.sales.list_completed_sessions(LONG_AGO),
            "list_expired_sessions": lambda: self.sales.list_expired_sessions(LONG_AGO),
            "list_charges_of": lambda: self.sales.list_charges_of("pi_1"),
            "list_webhook_endpoints": self.sales.list_webhook_endpoints,
            "get_session": lambda: self.reads.get_session(created.id),
            "list_sessions": lambda: self.reads.list_sessions(payment_intent="pi_1"),
            "list_charges": lambda: self.reads.list_charges(LONG_AGO),
            "list_charge_events": lambda: self.reads.list_charge_events(LONG_AGO),
            "list_customers": lambda: self.reads.list_customers("thief@example.org"),
            "list_reviews": self.reads.list_reviews,
            "get_balance": self.reads.get_balance,
            "get_account": self.reads.get_account,
            "list_configurations": self.reads.list_configurations,
            "list_prices": lambda: self.reads.list_prices(active=True),
            "first_active_price": self.reads.first_active_price,
            "list_entries": lambda: self.reads.list_entries(emails, "thief@example.org"),
            "get_event": lambda: self.reads.get_event(event.id),
            "first_unneeded": self.unneeded,
            "remove_entry": lambda: self.writes.remove_entry(entry.id),
            "update_configuration": lambda: self.writes.update_configuration(
                made.id, {"link": False}, name="Walked", active=False, idempotency_key="walk-5"
            ),
            "update_account": lambda: self.writes.update_account({"business_profile.name": "Walk"}),
        }
        for call in calls.values():
            await finished(call())
        return {
            *calls,
            "create_session",
            "list_value_lists",
            "add_entry",
            "expire_session",
            "list_events",
            "create_configuration",
        }


def test_what_arrives_is_what_is_allowed(recorder: Recorder) -> None:
    """Every method of the three ports that asks is used, and exactly the operations on the list arrive."""
    used = asyncio.run(Everything(recorder.url).use())
    assert used == methods(Processor, ProcessorReads, ProcessorWrites) - {"page_of_payment"}
    assert recorder.arrived == ALLOWED
