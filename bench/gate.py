"""The access gate for a browser that it knows, beside the public read and the least that a web server can answer.

The servers are on one core and the load on another, over 64 connections.
"""

import asyncio
from datetime import timedelta
from pathlib import Path

from bench.load import as_many_as_possible
from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import LOAD_CORE
from bench.sides import READ, Side, counting_service, nginx_return_204
from orrery.app.composition import opened
from orrery.app.settings.reader import load
from orrery.checkout.build import CheckoutDomain
from orrery.checkout.site.cookie import BrowserCookies
from orrery.checkout.sites import GATE
from orrery.ports.clock import Clock
from orrery.runtime.collection import write
from tests.support.checkout import record

VENDOR, CERT = "northwind", "cloud-navigator"
LEAST, PUBLIC, GATED = "nginx return 204", "public read", "access gate, known browser"


def measure(seconds: float = 2.0) -> Round:
    """Measure the three in turns, after each has answered for a while."""
    with scratch() as folder:
        cookies = list[str]()
        with (
            nginx_return_204(folder / "least") as least,
            counting_service(folder, lambda settings: cookies.append(asyncio.run(_opened(settings)))) as service,
        ):
            (cookie,) = cookies
            asked = [(LEAST, least, "/", ""), (PUBLIC, service, READ, ""), (GATED, service, _PATH, cookie)]
            for _, side, path, sent in asked:
                _throughput(side, path, sent, seconds / 4)
            found = {name: _throughput(side, path, sent, seconds) for name, side, path, sent in asked}
    return [
        Figure(LEAST, found[LEAST], "a second"),
        Figure(PUBLIC, found[PUBLIC], "a second", LEAST),
        Figure(GATED, found[GATED], "a second", PUBLIC, aim=0.8),
    ]


_PATH = f"{GATE}{VENDOR}/{CERT}"


def _throughput(side: Side, path: str, cookie: str, seconds: float) -> float:
    url = f"http://127.0.0.1:{side.port}{path}"
    return as_many_as_possible(url, "127.0.0.1", seconds, LOAD_CORE, side.process, cookie).speed


async def _opened(settings: Path) -> str:
    """Store a sale that a browser has opened, and return the browser's cookie."""
    async with opened(*load(settings)) as orrery:
        checkout, now = orrery[CheckoutDomain], orrery[Clock].now()
        cookies = BrowserCookies.of_store(checkout.stored.index_key)
        cookie = cookies.new()
        sold = record(vendor_slug=VENDOR, cert_code=CERT, granted_at=now, expires_at=now + timedelta(days=365))
        await write(checkout.stored.store, [checkout.stored.access.put(sold, sold.session_id)])
        await checkout.browsers.open_first(sold.session_id, cookies.browser_of(cookie) or "")
    return f"orrery-local={cookie.decode()}"


MEASUREMENT = Measurement(measure, short={"seconds": 0.1}, programs=("nginx", "wrk"))
