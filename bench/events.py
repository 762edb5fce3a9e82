"""Signed events of paid sessions, and their delivery over many connections."""

import asyncio
import hmac
import json
import time

from bench.service import SECRET

WEBHOOK = "/guided/api/webhook"


def request(session: str, port: int, path: str = WEBHOOK) -> bytes:
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
            "data": {"object": session_of(session, now)},
        }
    ).encode()
    signature = hmac.digest(SECRET.encode(), f"{now}.".encode() + body, "sha256").hex()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Stripe-Signature: t={now},v1={signature}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def session_of(session: str, now: int) -> dict[str, object]:
    """Return a paid session as the processor writes it."""
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


async def deliver(
    requests: list[bytes], port: int, connections: int, *more_ports: int
) -> tuple[float, list[float]]:
    """Send all `requests` over `connections`, which go to the ports in turn.

    Returns the acknowledged ones a second and each one's seconds; raises for one that was not acknowledged.
    """
    waiting, times, ports = iter(requests), list[float](), (port, *more_ports)

    async def connection(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for one in waiting:
            begin = time.perf_counter()
            writer.write(one)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            body = await reader.readexactly(length)
            if not head.startswith(b"HTTP/1.1 200") or (b"json" in head and b'"granted"' not in body):
                raise RuntimeError(f"Not granted: {head!r} {body!r}")
            times.append(time.perf_counter() - begin)
        writer.close()

    begin = time.perf_counter()
    await asyncio.gather(*(connection(ports[number % len(ports)]) for number in range(connections)))
    return len(requests) / (time.perf_counter() - begin), times
