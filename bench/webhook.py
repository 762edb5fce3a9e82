"""Acknowledged webhooks a second with full durability, beside bare SQLite on the same disk.

Every webhook is a new, signed `checkout.session.completed` of a session that was offered: it becomes an event, an
access record, its index keys and two notifications in one durable commit before it is answered. Asserts nothing.
"""

import asyncio
import hmac
import json
import os
import statistics
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from bench.service import LOAD_CORE, SECRET, bind_to, prepare, serving
from bench.store import Bare
from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore
from orrery.checkout.records import Offer
from orrery.ports.store import Put
from orrery.runtime.console.terminal import new_console

ROUNDS = 5
WEBHOOKS = 2_000
"""Webhooks in one round."""
CONNECTIONS = 64
"""Deliveries under way at once."""
KEYS = 13
"""As many keys as the commit of a paid session writes."""


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


def measure(folder: Path) -> dict[str, list[float]]:
    """Measure every side `ROUNDS` times, in turn; return speeds a second, and latencies in ms."""
    found: dict[str, list[float]] = {"one": [], "many": [], "webhooks": [], "p50": [], "p99": [], "p50 alone": []}
    sessions = [f"cs_test_bench{number}" for number in range(ROUNDS * (WEBHOOKS + 200))]
    settings = prepare(folder / "service")
    asyncio.run(offer_sessions(folder / "service" / "orrery.db", sessions))
    left = iter(sessions)
    with serving(settings) as service, closing(Bare(folder / "bare.db")) as bare:
        for number in range(ROUNDS):
            found["one"].append(bare.measure(f"one{number}", 1))
            found["many"].append(bare.measure(f"many{number}", KEYS))
            bind_to(LOAD_CORE)
            alone = [request(next(left), service.port) for _ in range(200)]
            found["p50 alone"].append(statistics.median(asyncio.run(deliver(alone, service.port, 1))[1]) * 1000)
            crowd = [request(next(left), service.port) for _ in range(WEBHOOKS)]
            speed, times = asyncio.run(deliver(crowd, service.port, CONNECTIONS))
            found["webhooks"].append(speed)
            found["p50"].append(statistics.median(times) * 1000)
            found["p99"].append(statistics.quantiles(times, n=100)[98] * 1000)
            os.sched_setaffinity(0, _all_cores)
    return found


_all_cores = os.sched_getaffinity(0)


def share(side: list[float], other: list[float]) -> float:
    """Return the median of the rounds' ratios: the two of a round ran on the same machine."""
    return statistics.median(one / two for one, two in zip(side, other, strict=True))


def table(found: dict[str, list[float]]) -> Table:
    """Return medians, as shares of bare SQLite."""
    median = {side: statistics.median(values) for side, values in found.items()}
    made = Table(title="Webhooks acknowledged with full durability", caption=f"median of {ROUNDS} rounds")
    for heading in ("side", "a second", "share of one key", "share of as many keys"):
        made.add_column(heading, justify="left" if heading == "side" else "right")
    rows = (
        ("bare SQLite, one key", "one"),
        (f"bare SQLite, {KEYS} keys", "many"),
        (f"webhook to 200, {CONNECTIONS} at once", "webhooks"),
    )
    for side, name in rows:
        shares = [share(found[name], found[other]) for other in ("one", "many")]
        made.add_row(side, f"{median[name]:,.0f}", *(f"{one:.2f}" for one in shares))
    made.add_row("time to 200, one at a time, p50", f"{median['p50 alone']:.1f} ms", "", "")
    made.add_row(
        f"time to 200, {CONNECTIONS} at once, p50 / p99", f"{median['p50']:.1f} / {median['p99']:.1f} ms", "", ""
    )
    return made


def main() -> None:
    """Measure beside the current directory's disk, and print the table."""
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as directory:
        found = measure(Path(directory))
    new_console(soft_wrap=False).print(table(found))


if __name__ == "__main__":
    main()
