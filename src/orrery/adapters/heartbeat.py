"""The heartbeat as a GET request, which most watchers of scheduled jobs accept.

A lost packet must not raise a false alarm: the request is tried three times within the minute.
"""

import httpx2
import stamina

from orrery.bounded import BOUNDED
from orrery.ports.notifier import DeliveryFailed
from orrery.tls import unreachable
from orrery.trust import WELL_KNOWN, Trust

SECONDS = 10.0
"""How long one request may take."""


class HttpHeartbeat:
    """Fetches one address."""

    def __init__(self, url: str, trust: Trust = WELL_KNOWN) -> None:
        self._url = url
        self._trust = trust

    async def send(self) -> None:
        """Fetch the address once."""
        try:
            answer = await self._fetch()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise DeliveryFailed(unreachable("The watcher", error), permanent=False) from None
        if not answer.is_success:
            raise DeliveryFailed(f"The watcher answered {answer.status_code}.", permanent=False)

    @stamina.retry(on=httpx2.TransportError, attempts=3, timeout=2 * SECONDS)
    async def _fetch(self) -> httpx2.Response:
        async with httpx2.AsyncClient(event_hooks=BOUNDED, timeout=SECONDS, verify=self._trust.web) as client:
            return await client.get(self._url)
