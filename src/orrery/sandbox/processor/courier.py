"""Brings webhooks to their endpoints: signed at each attempt, repeated with back-off until a 2xx."""

import asyncio
import json
from collections.abc import Iterator
from copy import deepcopy

import httpx2

from orrery.sandbox.ground import Document, is_taken, rest
from orrery.sandbox.processor.resources import endpoint_view, sign, wants
from orrery.sandbox.processor.world import World
from orrery.trust import WELL_KNOWN, Trust

BACK_OFF = (5, 30, 120, 300, 900, 3600, 7200, 14400, 28800, 43200)
"""Seconds to wait after each failed attempt; the last one repeats."""

GIVE_UP_AFTER = 3 * 24 * 3600
"""Seconds after which the vendor stops trying (facts/checkout.md: live retries up to 3 days)."""

TIMEOUT = 10.0
"""Real seconds that an endpoint has to answer."""

USER_AGENT = "Stripe/1.0 (+https://stripe.com/docs/webhooks)"
"""By which the vendor names itself to endpoints."""

REORDER_PATIENCE = 60
"""Seconds that a webhook held back for the one after it waits at most."""

_KIND = "_delivery"
_IDLE = 3600.0
_NOTHING_KEPT = httpx2.Limits(max_keepalive_connections=0)


class Courier:
    """Delivers what `World.record` hands to it, until cancelled."""

    def __init__(self, world: World, trust: Trust = WELL_KNOWN) -> None:
        self._world = world
        self._trust = trust
        self._wake = asyncio.Event()
        self._pending: dict[str, Document] = {}
        self._underway: set[str] = set()
        world.deliveries_of = self.deliveries_of
        world.on_change = self._wake.set

    def deliveries_of(self, event: Document) -> list[Document]:
        """Return the deliveries of an event, and count them in the event."""
        endpoints = [
            one for one in self._world.state.newest_first("webhook_endpoint") if wants(one, event["type"])
        ]
        deliveries = [self._delivery(event, endpoint) for endpoint in endpoints]
        event["pending_webhooks"] = len(deliveries)
        self._pending |= {delivery["id"]: delivery for delivery in deliveries}
        return deliveries

    async def run(self) -> None:
        """Make the due deliveries and expire sessions, until cancelled."""
        self._pending = {one["id"]: one for one in self._stored() if one["state"] == "pending"}
        # A connection that was kept may be closed by the other side in the moment of its next use, which looks
        # like an endpoint that is down: each attempt opens its own.
        client = httpx2.AsyncClient(timeout=TIMEOUT, trust_env=False, limits=_NOTHING_KEPT, verify=self._trust.web)
        async with client, asyncio.TaskGroup() as tasks:
            while True:
                self._wake.clear()
                self._world.expire_due()
                for delivery in self._due():
                    self._underway.add(delivery["id"])
                    _ = tasks.create_task(self._bring(client, delivery))
                await self._rest()

    def _due(self) -> list[Document]:
        now = self._now()
        return [one for one in self._waiting() if one["next_at"] <= now]

    def _waiting(self) -> list[Document]:
        return [one for key, one in self._pending.items() if key not in self._underway]

    async def _bring(self, client: httpx2.AsyncClient, delivery: Document) -> None:
        try:
            await self._deliver(client, delivery)
        finally:
            self._underway.discard(delivery["id"])
            self._wake.set()

    def _stored(self) -> Iterator[Document]:
        for stored in self._world.state.newest_first(_KIND):
            yield deepcopy(stored)

    def _now(self) -> float:
        return self._world.clock.now().timestamp()

    async def _rest(self) -> None:
        times: list[float] = [delivery["next_at"] for delivery in self._waiting()]
        times += [expires for expires, _ in self._world.deadlines[:1]]
        await rest(self._world.clock, min([*times, self._now() + _IDLE]) - self._now(), self._wake)

    def _delivery(self, event: Document, endpoint: Document) -> Document:
        now = self._now()
        self._release_held(endpoint["id"])
        held = self._world.faults.request("webhook", event["type"]).take("webhook_reorder") is not None
        return {
            "id": f"{event['id']}:{endpoint['id']}",
            "object": _KIND,
            "created": event["created"],
            "event": event["id"],
            "endpoint": endpoint["id"],
            "state": "pending",
            "held": held,
            "next_at": now + (REORDER_PATIENCE if held else 0.0),
            "attempts": [],
        }

    def _release_held(self, endpoint: str) -> None:
        """Release the held deliveries shortly after the event that is being delivered."""
        for delivery in self._pending.values():
            if delivery["held"] and delivery["endpoint"] == endpoint:
                delivery["next_at"] = min(delivery["next_at"], self._now() + 1)

    async def _deliver(self, client: httpx2.AsyncClient, delivery: Document) -> None:
        event = self._world.state.get("event", delivery["event"])
        endpoint = self._world.state.get("webhook_endpoint", delivery["endpoint"])
        if event is None or endpoint is None or endpoint["status"] != "enabled":
            self._finish(delivery, "dropped", event)
            return
        struck = self._world.faults.request("webhook", event["type"])
        # What held it back has struck this attempt.
        struck.is_struck, delivery["held"] = delivery["held"], False
        attempts = delivery["attempts"]
        if struck.take("webhook_down"):
            attempts.append({"at": self._now(), "outcome": "endpoint down"})
        else:
            attempts.append(await self._post(client, event, endpoint))
        if is_taken(attempts[-1]["outcome"]) and struck.take("webhook_duplicate"):
            attempts.append(await self._post(client, event, endpoint))
        self._note(delivery, event)

    async def _post(self, client: httpx2.AsyncClient, event: Document, endpoint: Document) -> Document:
        shown = event | {"api_version": endpoint["api_version"] or event["api_version"]}
        body = json.dumps(shown, indent=2, ensure_ascii=False).encode()
        signature = sign(body, endpoint["_secrets"], self._world.now())
        headers = {
            "Stripe-Signature": signature,
            "Content-Type": "application/json; charset=utf-8",
            "User-Agent": USER_AGENT,
        }
        try:
            answer = await client.post(endpoint_view(endpoint)["url"], content=body, headers=headers)
        except Exception as error:  # noqa: BLE001  whatever broke, the vendor tries again, and the others go on
            return {"at": self._now(), "outcome": type(error).__name__}
        return {"at": self._now(), "outcome": str(answer.status_code)}

    def _note(self, delivery: Document, event: Document) -> None:
        if is_taken(delivery["attempts"][-1]["outcome"]):
            self._finish(delivery, "delivered", event)
        elif self._now() - delivery["created"] > GIVE_UP_AFTER:
            self._finish(delivery, "given up")
        else:
            step = min(len(delivery["attempts"]), len(BACK_OFF)) - 1
            delivery["next_at"] = self._now() + BACK_OFF[step]
            self._world.state.save(delivery)

    def _finish(self, delivery: Document, state: str, event: Document | None = None) -> None:
        delivery["state"] = state
        _ = self._pending.pop(delivery["id"], None)
        self._world.state.save(delivery)
        if event is not None:
            current = self._world.state.get("event", event["id"]) or event
            current["pending_webhooks"] = max(0, current["pending_webhooks"] - 1)
            self._world.state.save(current)
