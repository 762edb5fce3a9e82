"""The workers' sign of life (issue item 8): given only while all is well, so that silence means trouble."""

from collections.abc import Mapping

from orrery.ports.heartbeat import Heartbeat


class Heart:
    """Beats while no other job fails."""

    JOB = "heartbeat"

    def __init__(self, heartbeat: Heartbeat, failing: Mapping[str, str]) -> None:
        self._heartbeat = heartbeat
        self._failing = failing

    async def beat(self) -> None:
        """Give one sign of life, or none while something fails."""
        if not self._failing.keys() - {self.JOB}:
            await self._heartbeat.beat()
