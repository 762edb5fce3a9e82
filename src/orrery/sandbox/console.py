"""The sandbox's console: a page for people, and the levers under it (faults, clock, prices, charges)."""

import json
from collections.abc import Callable, Sequence
from typing import cast
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from orrery.sandbox.faults import KINDS
from orrery.sandbox.pages import money, render
from orrery.sandbox.processor.account import PriceSeed, new_price
from orrery.sandbox.processor.errors import ApiError
from orrery.sandbox.processor.payments import close_dispute, dispute, refund, settle
from orrery.sandbox.processor.world import World, holding, new_id
from orrery.sandbox.state import Document

_SHOWN = 25
_DECISIONS = {"win": True, "lose": False}
_ACTIONS = ("refund", "dispute", *_DECISIONS)
_FAULT_FIELDS = ("kind", "count", "path", "value", "skip")


class Console:
    """The levers of the worlds. `advance` moves their clock and returns its new offset in seconds."""

    def __init__(self, worlds: Sequence[World], advance: Callable[[float], float]) -> None:
        self._worlds = worlds
        self._clock, self._faults = worlds[0].clock, worlds[0].faults  # which all worlds share
        self._advance = advance

    def routes(self) -> list[Route]:
        return [
            Route("/", self.show, methods=["GET"]),
            Route("/_faults", self.faults, methods=["GET", "POST", "DELETE"]),
            Route("/_clock", self.clock, methods=["GET", "POST"]),
            Route("/_price", self.price, methods=["POST"]),
            Route("/_settle/{session}", self.settle, methods=["POST"]),
            Route("/_charges/{charge}/{action}", self.charge, methods=["POST"]),
        ]

    async def show(self, _: Request) -> Response:
        """Show the sandbox's sessions, events, faults and clock."""
        for world in self._worlds:
            world.expire_due()
        return render(
            "console.html",
            now=self._clock.now().timestamp(),
            worlds=[_shown(world) for world in self._worlds],
            faults=self._faults.as_json(),
            kinds=KINDS,
        )

    async def faults(self, request: Request) -> Response:
        """GET lists the switches, POST switches one on, DELETE (or POST with `off`) one kind or all off."""
        if request.method == "DELETE":
            self._faults.remove(request.query_params.get("kind"))
        elif request.method == "POST":
            try:
                self._switch(await _fields(request))
            except (TypeError, ValueError) as error:
                return _refusal(str(error))
        return _answer(request, {"active": self._faults.as_json(), "kinds": KINDS})

    def _switch(self, given: Document) -> None:
        if "off" in given:
            self._faults.remove(given["off"] or None)
            return
        if unknown := sorted(given.keys() - _FAULT_FIELDS):
            raise ValueError(f"A fault has {', '.join(_FAULT_FIELDS)}, and no {', no '.join(unknown)}.")
        count = given.get("count", 1)
        _ = self._faults.add(
            str(given.get("kind", "")),
            count=int(count or 0) or None,
            path=str(given.get("path") or ""),
            value=float(given["value"]) if given.get("value") not in (None, "") else None,
            skip=int(given.get("skip") or 0),
        )

    async def clock(self, request: Request) -> Response:
        """GET returns the sandbox's time; POST moves it forward by `advance` seconds."""
        if request.method == "POST":
            try:
                _ = self._advance(float((await _fields(request)).get("advance", 0)))
            except (TypeError, ValueError) as error:
                return _refusal(str(error))
            for world in self._worlds:
                world.expire_due()
                world.on_change()
        return _answer(request, {"now": self._clock.now().timestamp()})

    async def price(self, request: Request) -> Response:
        """Create a price or change one: `id`, `unit_amount`, `currency`, `product`, `active`, `mode`."""
        given = await _fields(request)
        try:
            price = self._priced(given)
        except (TypeError, ValueError):
            needed = "an id, a unit_amount of 0 or more in the smallest unit, and a mode that there is a key of"
            return _refusal(f"A price has {needed}.")
        return _answer(request, price)

    def _priced(self, given: Document) -> Document:
        key = str(given.get("id") or new_id("price_"))
        world = self._named(given["mode"]) if "mode" in given else holding(self._worlds, "price", key)
        known = world.state.get("price", key)
        seed = PriceSeed(key, str(given.get("product", "Practice")), 0, str(given.get("currency", "usd")))
        price = known or new_price(seed, world.now())
        amount = int(given.get("unit_amount", price["unit_amount"]))
        if amount < 0:
            raise ValueError(amount)
        price |= {"unit_amount": amount, "unit_amount_decimal": str(amount)}
        price["active"] = str(given.get("active", price["active"])).lower() == "true"
        world.record([price], ("price.updated" if known else "price.created", price))
        return price

    def _named(self, mode: object) -> World:
        for world in self._worlds:
            if world.mode == mode:
                return world
        raise ValueError(mode)

    async def settle(self, request: Request) -> Response:
        """Let a delayed payment arrive; `{"paid": false}` lets it fail."""
        given = await _fields(request)
        world, session = self._found("checkout.session", request.path_params["session"])
        if session is None:
            return _refusal("There is no such session.", 404)
        paid = str(given.get("paid", True)).lower() == "true"
        return _try(request, lambda: settle(world, session, paid=paid))

    async def charge(self, request: Request) -> Response:
        """Refund (`amount` or all) or dispute a charge, or decide its dispute, as the owner and banks do."""
        fields, action = await _fields(request), request.path_params["action"]
        world, charge = self._found("charge", request.path_params["charge"])
        if charge is None or action not in _ACTIONS:
            return _refusal("There is no such charge, or nothing of that name can be done with it.", 404)
        if action == "dispute":
            return _try(request, lambda: dispute(world, charge))
        if action in _DECISIONS:
            return _try(request, lambda: close_dispute(world, charge, won=_DECISIONS[action]))
        amount = int(fields["amount"]) if str(fields.get("amount", "")).isdigit() else None
        return _try(request, lambda: refund(world, charge, amount))

    def _found(self, kind: str, key: str) -> tuple[World, Document | None]:
        world = holding(self._worlds, kind, key)
        return world, world.state.get(kind, key)


def _shown(world: World) -> Document:
    return {
        "mode": world.mode,
        "sessions": _sessions(world),
        "events": _events(world),
        "charges": _charges(world),
        "prices": [(one, _money(one, "unit_amount")) for one in world.state.newest_first("price")],
        "endpoints": list(world.state.newest_first("webhook_endpoint")),
    }


def _sessions(world: World) -> list[Document]:
    sessions = list(world.state.newest_first("checkout.session"))[:_SHOWN]
    return [one | {"amount": _money(one, "amount_total")} for one in sessions]


def _charges(world: World) -> list[Document]:
    charges = list(world.state.newest_first("charge"))[:_SHOWN]
    disputes = {one["charge"]: one["status"] for one in world.state.newest_first("dispute")}
    return [one | {"shown": _money(one, "amount"), "dispute": disputes.get(one["id"])} for one in charges]


def _events(world: World) -> list[Document]:
    events = list(world.state.newest_first("event"))[:_SHOWN]
    shown = {event["id"] for event in events}
    deliveries: dict[str, list[Document]] = {}
    for delivery in world.state.newest_first("_delivery"):
        if delivery["event"] in shown:
            deliveries.setdefault(delivery["event"], []).append(delivery)
    return [event | {"deliveries": deliveries.get(event["id"], [])} for event in events]


def _money(document: Document, amount: str) -> str:
    return money(document[amount], document["currency"])


async def _fields(request: Request) -> Document:
    body = await request.body()
    if "json" in request.headers.get("content-type", ""):
        try:
            given = json.loads(body or b"{}")
        except ValueError:
            return {}
        return cast("Document", given) if isinstance(given, dict) else {}
    return dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))


def _answer(request: Request, body: Document) -> Response:
    """Redirect a browser's form back to the page, and answer other callers with JSON."""
    if request.method == "POST" and "text/html" in request.headers.get("accept", ""):
        return RedirectResponse("/", 303)
    return JSONResponse(body)


def _try(request: Request, action: Callable[[], Document]) -> Response:
    try:
        return _answer(request, action())
    except ApiError as refusal:
        return _refusal(refusal.message)


def _refusal(message: str, status: int = 400) -> Response:
    return JSONResponse({"error": message}, status)
