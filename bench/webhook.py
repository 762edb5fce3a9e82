"""Acknowledged webhooks a second with full durability, beside bare SQLite and two peers on the same disk.

Every webhook is a new, signed `checkout.session.completed` of a session that was offered: it becomes an event, an
access record, its index keys and two notifications in one durable commit before it is answered. The peers are a
handler as a site's owner would write it, which does the same in one transaction (`bench/handwritten.py`), and a
Django site with dj-stripe, which keeps the event, the session and the payment, and grants nothing
(`bench/django_site.py`).
"""

import asyncio
import statistics
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from bench import webhook_peers
from bench.bare_sqlite import Bare
from bench.events import deliver, request
from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import LOAD_CORE, Service, beside, bound_to, place_of, prepare, processor_seconds, serving
from orrery.checkout.records import Offer
from orrery.ports.store import Put

CONNECTIONS = 64
"""Deliveries under way at once."""
CONNECTIONS_TO_DJANGO = 4
"""As many as it can have: with more, its transactions wait for one another until they fail."""
KEYS = 10
"""As many keys as the commit of a paid session writes."""
BARE = "bare SQLite, one key a transaction"
OURS = f"webhook to 200, {CONNECTIONS} at once"
HAND_WRITTEN = "a hand-written handler"
DJ_STRIPE = "dj-stripe"
AIMS = {HAND_WRITTEN: 2.0, DJ_STRIPE: 30.0}


@dataclass(frozen=True, slots=True)
class Load:
    """Many webhooks at once: how many a second, the seconds of each, and the processor's milliseconds of one."""

    speed: float
    times: list[float]
    cost: float


def many_at_once(service: Service, requests: list[bytes], connections: int = CONNECTIONS) -> Load:
    """Deliver all, and measure."""
    before = processor_seconds(service.process.pid)
    speed, times = asyncio.run(deliver(requests, service.port, connections))
    cost = processor_seconds(service.process.pid) - before
    return Load(speed, times, cost / len(requests) * 1000)


async def offer_sessions(settings: Path, sessions: list[str]) -> None:
    """Store what was offered, as the checkout operation would have."""
    store = await place_of(settings).open()
    now = datetime.now(UTC)  # noqa: TID251  a measurement happens now
    offers = [
        Offer(
            session_id=session,
            product_type="cert",
            cert_code="cloud-navigator",
            vendor_slug="northwind",
            price_id="price_cloud_navigator",
            amount_total=4900,
            currency="usd",
            client_address=None,
            created_at=now,
        )
        for session in sessions
    ]
    for start in range(0, len(offers), 500):
        page = offers[start : start + 500]
        await store.commit([Put(f"offer:{offer.session_id}", offer.to_bytes()) for offer in page])
    await store.close()


def of_peers(folder: Path, sessions: list[str], to_django: int) -> dict[str, Load]:
    """Measure the peers: dj-stripe, if it is here, with fewer."""
    with webhook_peers.handwritten(folder / "site.db", sessions) as service, bound_to(LOAD_CORE):
        found = {HAND_WRITTEN: many_at_once(service, [request(one, service.port) for one in sessions])}
    if find_spec("djstripe"):
        with webhook_peers.django_site(folder / "django") as service, bound_to(LOAD_CORE):
            address = service.port, webhook_peers.DJANGO_WEBHOOK
            requests = [request(one, *address) for one in sessions[:to_django]]
            found[DJ_STRIPE] = many_at_once(service, requests, CONNECTIONS_TO_DJANGO)
    return found


def measure(webhooks: int = 2_000, alone: int = 200, commits: int = 1_000, to_django: int = 300) -> Round:
    """Measure bare SQLite, webhooks one at a time and many at once, two processes on one store, and the peers."""
    sessions = [f"cs_test_bench{number}" for number in range(2 * webhooks + alone)]
    with scratch() as folder:
        settings = prepare(folder / "service")
        asyncio.run(offer_sessions(settings, sessions))
        with closing(Bare(folder / "bare.db")) as bare:
            one, many = bare.measure("one", 1, commits), bare.measure("many", KEYS, commits)
        with serving(settings) as service, bound_to(LOAD_CORE):
            requests = [request(session, service.port) for session in sessions]
            _, quiet = asyncio.run(deliver(requests[:alone], service.port, 1))
            ours = many_at_once(service, requests[alone : alone + webhooks])
            with serving(beside(settings)) as second:
                last = requests[alone + webhooks :]
                both, _ = asyncio.run(deliver(last, service.port, CONNECTIONS, second.port))
        peers = of_peers(folder, sessions[:webhooks], to_django)
    percentiles = statistics.quantiles(ours.times, n=100)
    return [
        Figure(BARE, one, "a second"),
        Figure(f"bare SQLite, {KEYS} keys a transaction", many, "a second", BARE),
        *(Figure(name, peer.speed, "a second") for name, peer in peers.items()),
        Figure(OURS, ours.speed, "a second", BARE, aim=0.35),
        *(Figure(f"{OURS}, beside {name}", ours.speed, "a second", name, aim=AIMS[name]) for name in peers),
        Figure(f"{OURS}, two processes on one store", both, "a second", OURS),
        Figure("processor time of a webhook", ours.cost, "ms", aim=0.25),
        *(Figure(f"processor time of a webhook, {name}", peer.cost, "ms") for name, peer in peers.items()),
        Figure("time to 200, one at a time, p50", statistics.median(quiet) * 1000, "ms"),
        Figure(f"time to 200, {CONNECTIONS} at once, p50", percentiles[49] * 1000, "ms"),
        Figure(f"time to 200, {CONNECTIONS} at once, p99", percentiles[98] * 1000, "ms"),
    ]


MEASUREMENT = Measurement(measure, short={"webhooks": 20, "alone": 2, "commits": 10, "to_django": 2})
