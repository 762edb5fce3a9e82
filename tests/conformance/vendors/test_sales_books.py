"""Net is what the processor's own books say: sales, refunds and disputes in every order, by day and currency."""

import random
from collections import Counter
from contextlib import closing
from datetime import date, datetime, timedelta
from pathlib import Path

from orrery.adapters.memory import MemoryStore
from orrery.adapters.movable_clock import MovableClock
from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.objects import read_event
from orrery.adapters.stripe.reads import StripeReads
from orrery.adapters.stripe.sales import StripeProcessor
from orrery.adapters.stripe.writes import StripeWrites
from orrery.adapters.web_sites import HttpWebSites
from orrery.checkout.access.sales import Bookings, read_bookings, totals
from orrery.checkout.build import CheckoutDomain
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.settings import CheckoutPlan, CheckoutSettings, ProductSettings
from orrery.runtime.tasks import Tasks
from orrery.sandbox.faults import Faults
from orrery.sandbox.ground import Document, DocumentStore
from orrery.sandbox.processor.account import PriceSeed, open_account
from orrery.sandbox.processor.call import ApiCall
from orrery.sandbox.processor.payments import Payment, close_dispute, contest, dispute, pay, refund
from orrery.sandbox.processor.sessions import create
from orrery.sandbox.processor.world import API_VERSION, World
from tests.support.approving import Desk
from tests.support.checkout import INDEX_KEY
from tests.support.clock import ManualClock
from tests.support.running_sandbox import EUR_PRICE, KEY, PRICE, PRICES, receiving, running
from tests.support.soak import rounds

DAYS = 25
"""The processor keeps events for 30 days."""

CERTS = {PRICE: "cissp", EUR_PRICE: "cissp-eu"}
SEEDS = tuple(one for one in PRICES if one.id in CERTS)

FATES: tuple[tuple[str, ...], ...] = (
    (),
    (),
    (),
    ("refund",),
    ("part", "part"),
    ("part", "refund"),
    ("dispute",),
    ("dispute", "lose"),
    ("dispute", "win"),
    ("dispute", "win", "refund"),
    ("part", "dispute of the rest"),
    ("part", "dispute", "lose"),
    ("inquiry",),
    ("inquiry", "contest"),
    ("inquiry", "contest", "lose"),
    ("inquiry", "contest", "win", "part"),
    ("inquiry", "refund"),
)
"""What becomes of a sale, in this order, on later days or on the same one."""

Books = Counter[tuple[date, str, str]]
"""Amounts by day, currency and kind."""


class Seller:
    """The processor's side: buyers pay, and the owner and the banks act, over some weeks."""

    def __init__(self, state: DocumentStore, began: datetime, seed: int) -> None:
        self.clock, self.state = ManualClock(began), state
        self.world = World(state, self.clock, Faults(self.clock), "http://127.0.0.1:1", "http://127.0.0.1:1")
        self.random = random.Random(seed)  # noqa: S311  no secret
        self.books: Books = Counter()
        self.taken: dict[str, tuple[date, str, str, int]] = {}
        """What open and lost disputes took, by charge."""
        open_account(self.world, PRICES)

    @property
    def today(self) -> date:
        return self.clock.now().date()

    def work(self, sales: int) -> None:
        """Sell, and let the fates of the sales happen, each on a day of its own choice."""
        due: list[list[tuple[str, str]]] = [[] for _ in range(DAYS)]
        for day in range(DAYS):
            for _ in range(sales // DAYS):
                charge = self._sell(self.random.choice(SEEDS))
                days = sorted(self.random.choices(range(day, DAYS), k=4))
                for when, what in zip(days, self.random.choice(FATES), strict=False):
                    due[when].append((charge, what))
            for charge, what in due[day]:
                self._act(self.world.find("charge", charge, "charge"), what)
            self.clock.advance(86_400)

    def all_books(self) -> Books:
        """Return the books, with what disputes took."""
        books = Counter(self.books)
        for day, currency, kind, amount in self.taken.values():
            books[day, currency, kind] += amount
        return books

    def _sell(self, price: PriceSeed) -> str:
        metadata = {"productType": "cert", "vendorSlug": "isc2", "certCode": CERTS[price.id]}
        asked: Document = {
            "mode": "payment",
            "line_items": [{"price": price.id, "quantity": 1}],
            "success_url": "http://127.0.0.1:1/thanks",
            "cancel_url": "http://127.0.0.1:1/",
            "metadata": metadata,
        }
        session = create(ApiCall(self.world, "/v1/checkout/sessions", "", asked, API_VERSION))
        buyer = f"buyer{self.random.randrange(10**9)}@example.org"
        assert pay(self.world, session, Payment(buyer, "approved")) is None
        self.clock.advance(self.random.randrange(60))
        self.books[self.today, price.currency, "sale"] += price.unit_amount
        return next(self.state.newest_first("charge"))["id"]

    def _act(self, charge: Document, what: str) -> None:
        left, currency = charge["amount"] - charge["amount_refunded"], charge["currency"]
        day, some = self.today, self.random.randrange(1, left) if left > 1 else left
        match what:
            case "refund" | "part":
                given = left if what == "refund" else some
                refund(self.world, charge, given)
                self.books[day, currency, "refund"] += given
            case "dispute" | "dispute of the rest":
                amount = charge["amount"] if what == "dispute" else left
                dispute(self.world, charge, amount)
                self.taken[charge["id"]] = day, currency, "dispute", amount
            case "inquiry":
                dispute(self.world, charge, is_inquiry=True)
            case "contest":
                contest(self.world, charge)
                self.taken[charge["id"]] = day, currency, "dispute", charge["amount"]
            case "lose":
                close_dispute(self.world, charge, won=False)
            case _:
                close_dispute(self.world, charge, won=True)
                del self.taken[charge["id"]]

    def net(self) -> Counter[str]:
        """Return what the processor's own documents leave, by currency."""
        kept: Counter[str] = Counter()
        for charge in self.state.newest_first("charge"):
            kept[charge["currency"]] += charge["amount"] - charge["amount_refunded"]
        for one in self.state.newest_first("dispute"):
            if one["status"] in {"needs_response", "lost"}:
                kept[one["currency"]] -= one["amount"]
        return kept


def domain(url: str, clock: ManualClock) -> CheckoutDomain:
    """Return the checkout over an empty store, and over the vendor's own client."""
    connection, store = StripeConnection(KEY, base_url=url), MemoryStore(clock)
    products = tuple(
        ProductSettings(vendor_slug="isc2", cert_code=cert, title=cert, price_id=price)
        for price, cert in CERTS.items()
    )
    addresses = {"success_url": "http://127.0.0.1:1/{CHECKOUT_SESSION_ID}", "cancel_url": "http://127.0.0.1:1/"}
    settings = CheckoutSettings.model_validate({**addresses, "products": products})
    return CheckoutDomain(
        CheckoutRecords(store, clock, INDEX_KEY),
        StripeProcessor(connection),
        StripeReads(connection),
        StripeWrites(connection),
        Desk(store, clock).approvals,
        read_event,
        CheckoutPlan(settings, False, True, (), (), ()),  # noqa: FBT003  test mode, with the key
        Tasks(),
        HttpWebSites(),
    )


def books_of(booked: Bookings) -> Books:
    """Return the books that Orrery keeps; each amount must have a day."""
    books: Books = Counter()
    for one in booked.found:
        assert one.at is not None
        books[one.at.date(), one.currency, one.kind] += one.amount
    return books


async def test_the_books_are_the_processors(tmp_path: Path) -> None:
    """Of 200 sales, 2,000 in a soak, each day's sums are those of the processor, and so is the net."""
    began = MovableClock(tmp_path / "clock").now() - timedelta(days=DAYS + 2)  # which the sandbox still knows of
    since = began - timedelta(days=1)
    with closing(DocumentStore(tmp_path / "sandbox.sqlite3")) as state:
        seller = Seller(state, began, seed=7)
        seller.work(rounds(200))
        net, books = seller.net(), seller.all_books()
    with receiving() as receiver, running(tmp_path, receiver) as box:
        checkout = domain(box.url, seller.clock)
        _ = await checkout.reconciliation.run()
        booked = await read_bookings(checkout.stored, since, livemode=False)
        assert books_of(booked) == +books
        assert {currency: each.net for currency, each in totals(booked.found).items()} == net
        # What is read a second time is booked once.
        _ = await checkout.reconciliation.run()
        assert books_of(await read_bookings(checkout.stored, since, livemode=False)) == +books
