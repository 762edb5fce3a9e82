"""The sandbox's console: a page for people, and the levers under it (faults, clock, prices, charges)."""

from collections.abc import Callable, Sequence
from itertools import islice

from starlette.routing import Route

from orrery.sandbox.board import Act, Board
from orrery.sandbox.faults import KINDS
from orrery.sandbox.ground import Document
from orrery.sandbox.processor.account import PriceSeed, new_price
from orrery.sandbox.processor.payments import close_dispute, contest, dispute, refund, settle
from orrery.sandbox.processor.world import World, holding, new_id

_SHOWN = 25
_WORDS = {name: kind.words for name, kind in KINDS.items()}
_FAULT_FIELDS = ("kind", "count", "path", "value", "skip")


class Console:
    """The levers of the worlds. `advance` moves their clock and returns its new offset in seconds."""

    def __init__(self, worlds: Sequence[World], advance: Callable[[float], float]) -> None:
        self._worlds = worlds
        self._clock, self._faults = worlds[0].clock, worlds[0].faults  # which all worlds share
        self._advance = advance

    def routes(self) -> list[Route]:
        levers: dict[str, Act] = {
            "GET /_faults": lambda _: self._active(),
            "POST /_faults": self._switch,
            "DELETE /_faults": lambda given: self._remove(given.get("kind")),
            "GET /_clock": lambda _: self._now(),
            "POST /_clock": self._move,
            "POST /_price": self._price,
            "POST /_settle/{id}": lambda given: settle(
                *self._found("checkout.session", given), paid=_is(given.get("paid", True))
            ),
            "POST /_charges/{id}/refund": lambda given: refund(
                *self._found("charge", given), int(given["amount"]) if given.get("amount") else None
            ),
            "POST /_charges/{id}/dispute": lambda given: dispute(
                *self._found("charge", given), is_inquiry=_is(given.get("inquiry", False))
            ),
            "POST /_charges/{id}/contest": lambda given: contest(*self._found("charge", given)),
            "POST /_charges/{id}/win": lambda given: close_dispute(*self._found("charge", given), won=True),
            "POST /_charges/{id}/lose": lambda given: close_dispute(*self._found("charge", given), won=False),
        }
        return Board("/", "console.html", self._known, levers).routes()

    def _known(self) -> Document:
        """Return the sandbox's sessions, events, faults and clock."""
        self._expire()
        shown = [_shown(world) for world in self._worlds]
        return {**self._now(), "worlds": shown, "faults": self._faults.as_json(), "kinds": _WORDS}

    def _active(self) -> Document:
        return {"active": self._faults.as_json(), "kinds": _WORDS}

    def _remove(self, kind: str | None) -> Document:
        """Switch one kind of faults off, or all."""
        self._faults.remove(kind or None)
        return self._active()

    def _switch(self, given: Document) -> Document:
        """Switch a fault on, or with `off` a kind or all of them off: forms cannot delete."""
        if "off" in given:
            return self._remove(given["off"])
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
        return self._active()

    def _now(self) -> Document:
        return {"now": self._clock.now().timestamp()}

    def _move(self, given: Document) -> Document:
        """Move the clock forward by `advance` seconds."""
        _ = self._advance(float(given.get("advance", 0)))
        self._expire()
        for world in self._worlds:
            world.on_change()
        return self._now()

    def _expire(self) -> None:
        for world in self._worlds:
            world.expire_due()

    def _price(self, given: Document) -> Document:
        """Create a price or change one: `id`, `unit_amount`, `currency`, `product`, `active`, `mode`."""
        key = str(given.get("id") or new_id("price_"))
        world = self._named(given["mode"]) if "mode" in given else holding(self._worlds, "price", key)
        known = world.state.get("price", key)
        seed = PriceSeed(key, str(given.get("product", "Practice")), 0, str(given.get("currency", "usd")))
        price = known or new_price(seed, world.now())
        amount = str(given.get("unit_amount", price["unit_amount"]))
        if not amount.isdecimal():
            raise ValueError("A price has a unit_amount of 0 or more in the smallest unit.")
        price |= {"unit_amount": int(amount), "unit_amount_decimal": amount}
        price["active"] = _is(given.get("active", price["active"]))
        world.record([price], ("price.updated" if known else "price.created", price))
        return price

    def _named(self, mode: object) -> World:
        if (found := next((world for world in self._worlds if world.mode == mode), None)) is None:
            raise ValueError(f"There is no key of {mode} mode.")
        return found

    def _found(self, kind: str, given: Document) -> tuple[World, Document]:
        world = holding(self._worlds, kind, given["id"])
        found = world.state.get(kind, given["id"])
        if found is None:
            raise ValueError(f"There is no {kind.rpartition('.')[2]} of that id.")
        return world, found


def _shown(world: World) -> Document:
    kinds = {"sessions": "checkout.session", "charges": "charge", "events": "event"}
    newest = world.state.newest_first
    return {
        **{name: list(islice(newest(kind), _SHOWN)) for name, kind in kinds.items()},
        "mode": world.mode,
        "disputes": {one["charge"]: one["status"] for one in newest("dispute")},
        "deliveries": list(newest("_delivery")),
        "prices": list(newest("price")),
        "endpoints": list(newest("webhook_endpoint")),
    }


def _is(given: object) -> bool:
    return str(given).lower() == "true"
