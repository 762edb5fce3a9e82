"""Acknowledged webhooks a second with full durability, beside bare SQLite on the same disk.

Every webhook is a new, signed `checkout.session.completed` of a session that was offered: it becomes an event, an
access record, its index keys and two notifications in one durable commit before it is answered.
"""

import asyncio
import hmac
import json
import statistics
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from bench.bare_sqlite import Bare
from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import LOAD_CORE, SECRET, bound_to, prepare, processor_seconds, serving
from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore
from orrery.checkout.records import Offer
from orrery.ports.store import Put

CONNECTIONS = 64
"""Deliveries under way at once."""
KEYS = 13
"""As many keys as the commit of a paid session writes."""
BARE = "bare SQLite, one key a transaction"


async def offer_sessions(store_path: Path, sessions: list[str]) -> None:
    """Store what was offered, as the checkout operation would have."""
    store = await SqliteStore.open(store_path, SystemClock())
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


def request(session: str, port: int) -> bytes:
    """Return one signed webhook as it goes over the wire."""
    now = int(time.time())  # noqa: TID251  the signature's time
    body = json.dumps(
        {
            "id": f"evt_{session}",
            "object": "event",
            "api_version": "2026-08-26.dahlia",
            "created": now,
            "livemode": False,
            "type": "checkout.session.completed",
            "data": {"object": _session(session, now)},
        }
    ).encode()
    signature = hmac.digest(SECRET.encode(), f"{now}.".encode() + body, "sha256").hex()
    head = (
        f"POST /guided/api/webhook HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Stripe-Signature: t={now},v1={signature}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _session(session: str, now: int) -> dict[str, object]:
    return {
        "id": session,
        "object": "checkout.session",
        "status": "complete",
        "payment_status": "paid",
        "created": now,
        "livemode": False,
        "amount_total": 4900,
        "currency": "usd",
        "customer_details": {"email": f"{session}@example.org", "name": "Bench", "address": {"country": "NZ"}},
        "payment_intent": f"pi_{session}",
        "custom_fields": [{"key": "marketing_consent", "dropdown": {"value": "yes"}, "type": "dropdown"}],
        "metadata": {"productType": "cert", "certCode": "cloud-navigator", "vendorSlug": "northwind"},
        "payment_method_types": ["card", "link"],
        "payment_method_options": {"card": {"request_three_d_secure": "automatic"}},
        "custom_text": {"submit": {"message": "Instant access: one year of practice questions. " * 4}},
    }


async def deliver(requests: list[bytes], port: int, connections: int) -> tuple[float, list[float]]:
    """Send all `requests` over `connections`; return the acknowledged ones a second and each one's seconds."""
    waiting, times = iter(requests), list[float]()

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for one in waiting:
            begin = time.perf_counter()
            writer.write(one)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            body = await reader.readexactly(length)
            if b'"granted"' not in body:
                raise RuntimeError(f"Not granted: {body!r}")
            times.append(time.perf_counter() - begin)
        writer.close()

    begin = time.perf_counter()
    await asyncio.gather(*(connection() for _ in range(connections)))
    return len(requests) / (time.perf_counter() - begin), times


def measure(webhooks: int = 2_000, alone: int = 200, commits: int = 1_000) -> Round:
    """Measure bare SQLite, webhooks one at a time, and many at once."""
    sessions = [f"cs_test_bench{number}" for number in range(webhooks + alone)]
    with scratch() as folder:
        settings = prepare(folder / "service")
        asyncio.run(offer_sessions(folder / "service" / "orrery.db", sessions))
        with closing(Bare(folder / "bare.db")) as bare:
            one, many = bare.measure("one", 1, commits), bare.measure("many", KEYS, commits)
        with serving(settings) as service, bound_to(LOAD_CORE):
            requests = [request(session, service.port) for session in sessions]
            _, quiet = asyncio.run(deliver(requests[:alone], service.port, 1))
            before = processor_seconds(service.process.pid)
            speed, times = asyncio.run(deliver(requests[alone:], service.port, CONNECTIONS))
            cost = processor_seconds(service.process.pid) - before
    return [
        Figure(BARE, one, "a second"),
        Figure(f"bare SQLite, {KEYS} keys a transaction", many, "a second", BARE),
        Figure(f"webhook to 200, {CONNECTIONS} at once", speed, "a second", BARE, aim=0.35),
        Figure("processor time of a webhook", cost / webhooks * 1000, "ms", aim=0.25),
        Figure("time to 200, one at a time, p50", statistics.median(quiet) * 1000, "ms"),
        Figure(f"time to 200, {CONNECTIONS} at once, p50", statistics.median(times) * 1000, "ms"),
        Figure(f"time to 200, {CONNECTIONS} at once, p99", statistics.quantiles(times, n=100)[98] * 1000, "ms"),
    ]


MEASUREMENT = Measurement(measure, short={"webhooks": 20, "alone": 2, "commits": 10})
