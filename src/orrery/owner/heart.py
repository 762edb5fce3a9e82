"""The workers' heartbeat (issue item 8): sent only while nothing fails, so that a missing one means a fault."""

from collections.abc import Awaitable, Callable, Mapping

from orrery.ports.heartbeat import Heartbeat


class Heart:
    """Beats while no other job fails and no notification is stuck, since a push that is stuck tells nobody."""

    JOB = "heartbeat"

    def __init__(
        self, heartbeat: Heartbeat, failing: Mapping[str, str], stuck: Callable[[], Awaitable[int]]
    ) -> None:
        self._heartbeat = heartbeat
        self._failing = failing
        self._stuck = stuck

    async def beat(self) -> None:
        """Send one heartbeat, or none while something fails."""
        if not self._failing.keys() - {self.JOB} and not await self._stuck():
            await self._heartbeat.beat()
