"""The workers' heartbeat: sent only while nothing fails, so that a missing one means a fault."""

from collections.abc import Awaitable, Callable, Mapping

from orrery.ports.heartbeat import Heartbeat


class HeartbeatJob:
    """Sends heartbeats while no other job fails and no notification is stuck, which no push could report."""

    JOB = "heartbeat"

    def __init__(
        self, heartbeat: Heartbeat, failing: Mapping[str, str], stuck: Callable[[], Awaitable[int]]
    ) -> None:
        self._heartbeat = heartbeat
        self._failing = failing
        self._stuck = stuck

    async def run(self) -> None:
        """Send one heartbeat, or none while something fails."""
        if not self._failing.keys() - {self.JOB} and not await self._stuck():
            await self._heartbeat.send()
