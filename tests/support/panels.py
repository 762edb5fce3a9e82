"""Panels as the parts of a deployment give them, in many states, for the owner's page."""

from collections.abc import Sequence

from orrery.edge.auth import AdminBasic, GuessLimiter
from orrery.errors import StoreUnavailable
from orrery.owner_page.page import OwnerPage, Presses
from orrery.ports.clock import Clock
from orrery.ports.panels import Link, Panel, PanelSource, Takings
from orrery.syntax.admin_password import hashed

PASSWORD = "password-of-the-fixture"  # noqa: S105  it opens nothing
HASH = hashed(PASSWORD.encode())


def takings(currency: str, *kept: str) -> Takings:
    """Return what a currency brought today, in 7 days and in 30."""
    periods = zip(("Today", "7 days", "30 days"), kept, strict=True)
    shown = tuple((name, amount, f"gross {amount}, 3 sold") for name, amount in periods)
    days = tuple((number * 37) % 11 * 4900 - 2000 for number in range(30))
    return Takings(currency, shown, days, f"30 days, net: at most 490.00 {currency} a day (12 Nov).")


SALES = Panel(
    "Sales",
    "3 sold today",
    "plain",
    columns=("time", "amount", "product", "state", "buyer", "payment"),
    rows=tuple(
        (
            f"2026-11-21T{11 - number:02}:45:00Z",
            "49.00 USD",
            "Northwind Cloud Navigator",
            ("refunded in part", "refunded")[number == 4] if number in {3, 4} else "open",
            "a…@example.org",
            Link("ref_7k3m9xq2hd4v", f"https://processor.example/payments/pi_{number}"),
        )
        for number in range(10)
    ),
    takings=(takings("USD", "147.00", "1029.00", "13626.00"), takings("JPY", "0", "0", "7500")),
)
TO_GO_LIVE = Panel(
    "To go live",
    "2 steps are left",
    todo="Type `orrery doctor` for the rest.",
    columns=("step", "what to do"),
    rows=(("live mode", 'Put it into a_file; set `mode = "live"`.'), ("first sale", "Buy something yourself.")),
)
ADDS_UP = Panel(
    "Payments and access",
    "What is paid has access, and what has access is paid. Seen at 2026-11-21T11:45:00Z.",
    "good",
)
SECRETS = Panel("Secrets", "All 6 are there and as they were.", "good")
RECEIPTS = Panel(
    "Receipts",
    "The processor has accepted both products.",
    "good",
    columns=("Product", "Accepted", "Digest"),
    rows=(
        ("cloud-navigator", "2026-11-20T09:12:00Z", "5f2c0be1"),
        ("data-pilot", "2026-11-20T09:12:03Z", "91aa4c07"),
    ),
)
COUNTER = Panel(
    "Live counter",
    "137 visitors, counted 20 s ago",
    "good",
    columns=("Tokens left", "Count"),
    rows=(("this hour", "1,640"), ("today", "21,380")),
)
APPROVALS = Panel("Approvals", "Nothing waits for your approval. Log 41:9c0de5b2a3f7714e", "good")
CLUSTERS = Panel("Fraud clusters", "None in the 24 hours before 2026-11-21T11:58:00Z.", "good")
NOTIFICATIONS = Panel("Notifications", "All were delivered.", "good")
PARTS = Panel("Parts", "All 9 are well.", "good")

WELL = (SALES, ADDS_UP, APPROVALS, SECRETS, RECEIPTS, COUNTER, CLUSTERS, NOTIFICATIONS, PARTS)

WIDE = (
    Panel(
        "Fraud clusters",
        "1 in the 24 hours before 2026-11-21T11:58:00Z.",
        "attention",
        columns=("cluster", "share one", "declines", "stopped by the processor", "first", "last"),
        rows=(("fc-543500df10", "client address", "4", "0", "2026-11-21T11:12:00Z", "2026-11-21T11:12:02Z"),),
    ),
    SALES,
    ADDS_UP,
    Panel(
        "Receipts",
        "Accepted by the processor: all of 1",
        "good",
        columns=("product", "parameters", "accepted", "age", "API version"),
        rows=(("northwind/cloud-navigator", "accepted", "2026-11-21T11:11:00Z", "12 min", "2026-08-26.dahlia"),),
    ),
    NOTIFICATIONS,
    Panel(
        "Gateway's cloud",
        "It runs.",
        "good",
        columns=(
            "machine",
            "health alert",
            "deallocate alert",
            "webhook until",
            "last job",
            "last drill",
            "report",
        ),
        rows=(("running", "on", "on", "2027-11-28T20:02:00Z", "-", "-", "2026-12-01T01:35:00Z"),),
    ),
    Panel(
        "Secrets",
        "1 in use, none changed unannounced",
        "good",
        columns=("secret", "state", "announced", "fingerprint"),
        rows=(("analytics_service_account_key", "present", "-", "f96612547420"),),
    ),
    PARTS,
)

DOES_NOT_ADD_UP = Panel(
    "Payments and access",
    "1 paid without access, 1 access without payment",
    "bad",
    "Look with `orrery checkout reconcile`; `orrery access revoke SESSION` takes an access back. Seen at "
    "2026-11-21T11:45:00Z.",
    ("Session", "What", "Why"),
    (
        (
            "cs_test_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9",
            "paid without access",
            "another price",
        ),
        (
            "cs_test_0a9B8c7D6e5F4g3H2i1J0k9L8m7N6o5P4q3R2s1T0u9V8w7X6y5Z4a3B2c1",
            "access without payment",
            "charge ch_3Q was refunded",
        ),
    ),
)
WAITING = Panel(
    "Approvals",
    "2 wait for your approval",
    "attention",
    "Read one with `orrery approvals show ID`, then sign it or withdraw it. Log 44:0f1e2d3c4b5a6978",
    ("Intent", "What", "Since"),
    (
        ("in-5d0c3e9a1f22", "Expire the test session of cloud-navigator", "2026-11-21T09:03:00Z"),
        ("in-77aa0190cdef", "Block the card fingerprint of 5 declined charges", "2026-11-21T11:58:00Z"),
    ),
)
WIPED = Panel(
    "Secrets",
    "processor_api_key was there at 2026-11-21T11:50:00Z and is gone",
    "bad",
    "Was the environment rewritten by a partial update? Put it back, then `orrery secrets check`.",
)
NO_COUNT = Panel(
    "Live counter",
    "data-too-stale: the hour's tokens are gone",
    "bad",
    "Is the service running? `orrery live check`",
)
DEAD = Panel(
    "Notifications",
    "2 were refused permanently.",
    "attention",
    "Look with `orrery notifications list`, then release or drop them.",
    ("Id", "Channel", "Since", "Last error"),
    (("buyer-cs_test_a1B2c3D4e5F6", "email", "2026-11-20T22:10:00Z", "550 no such mailbox"),) * 2,
)
BROKEN = Panel(
    "Parts",
    "1 of 9 is broken: webhook secret",
    "bad",
    columns=("Part", "Why", "What to do"),
    rows=(("webhook secret", "It is missing.", "Put it into the secret file `webhook_signing_secret`."),),
)

TROUBLE = (SALES, DOES_NOT_ADD_UP, WAITING, WIPED, RECEIPTS, NO_COUNT, CLUSTERS, DEAD, BROKEN)

LONG_NAME = "a-certification-with-a-name-that-goes-on-and-on-and-on-up-to-the-last-1"
LONG = (
    Panel(
        f"Receipts of {LONG_NAME}",
        f"{LONG_NAME * 3} <b>waits</b>",
        "attention",
        f"`orrery checkout preflight --product {LONG_NAME}` & look",
        ("Product", "A heading that is long enough to need two lines", "Digest"),
        ((LONG_NAME, "2026-11-20T09:12:00Z " * 4, "0123456789abcdef" * 8),) * 15,
    ),
    Panel("Sales", "Nothing is sold yet.", columns=("Currency", "Today"), rows=()),
)


LEADING = {SALES.title, TO_GO_LIVE.title}
"""The titles of the panels that lead, as a deployment's do."""


def source(panel: Panel) -> PanelSource:
    """Return a source that gives this panel."""

    async def give() -> Panel:
        return panel

    return PanelSource(panel.title, give, leads=panel.title in LEADING)


def failing(title: str, error: Exception | None = None) -> PanelSource:
    """Return a source whose panel cannot be read."""

    async def fail() -> Panel:
        raise error or StoreUnavailable("The store is locked by another program.")

    return PanelSource(title, fail)


def owner_page(
    clock: Clock,
    panels: Sequence[Panel] = WELL,
    *more: PanelSource,
    password_hash: str | None = HASH,
    mode: str = "live",
    presses: Presses | None = None,
) -> OwnerPage:
    """Return the page over these panels; its buttons do `presses`."""
    password, sources = AdminBasic(password_hash, GuessLimiter(clock)), [*map(source, panels), *more]
    return OwnerPage(password, clock, sources, mode=mode, presses=presses or {})
