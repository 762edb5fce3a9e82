"""The heartbeat as a GET request, which most watchers of scheduled jobs accept.

A lost packet must not raise a false alarm: the request is tried three times within the minute.
"""

import stamina

from orrery.outside import Answer, NoAddress, NoAnswer, Outside, Unreadable
from orrery.ports.notifier import DeliveryFailed
from orrery.trust import WELL_KNOWN, Trust

SECONDS = 10.0
"""How long one request may take."""


def _passes(error: Exception) -> bool:
    return isinstance(error, NoAnswer) and not isinstance(error, (NoAddress, Unreadable))


class HttpHeartbeat:
    """Fetches one address."""

    def __init__(self, url: str, trust: Trust = WELL_KNOWN) -> None:
        self._url = url
        self._watcher = Outside("The watcher", SECONDS, trust)

    async def send(self) -> None:
        """Fetch the address once."""
        try:
            answer = await self._fetch()
        except NoAnswer as error:
            raise DeliveryFailed(str(error), permanent=False) from None
        if not answer.is_success:
            raise DeliveryFailed(f"The watcher answered {answer.status_code}.", permanent=False)

    @stamina.retry(on=_passes, attempts=3, timeout=2 * SECONDS)
    async def _fetch(self) -> Answer:
        return await self._watcher.ask("GET", self._url)
