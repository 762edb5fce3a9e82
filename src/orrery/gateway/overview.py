"""The gateway's panel on the owner's page: its state, since when, its restarts and its probe."""

from datetime import timedelta

from orrery.gateway.health import GatewayHealth, ago
from orrery.gateway.records import LastPing
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
from orrery.ports.panels import Panel, Tone, utc_text

TITLE = "Gateway"

_COLUMNS = ("State", "Since", "Restarts", "Probe", "Last ping")
_ANSWERS = {"": "-", "none": "no answer"}


class Overview:
    """Reads the store only."""

    def __init__(self, health: GatewayHealth, clock: Clock) -> None:
        self._health = health
        self._clock = clock

    async def panel(self) -> Panel:
        look = await self._health.look()
        last = look.last
        rows = (self._cells(last),) if last and last.at else ()
        columns = _COLUMNS if rows else ()
        return Panel(TITLE, look.finding.why, _tone(look.finding), look.finding.todo, columns, rows)

    def _cells(self, last: LastPing) -> tuple[str, ...]:
        now = self._clock.now()
        at = last.at or now
        state = f"{last.state} ({last.sub_state})" if last.sub_state else last.state
        return state, _since(last), str(last.restarts), _ANSWERS.get(last.probe, last.probe), ago(at, now)


def _tone(finding: Finding) -> Tone:
    if finding.state == "broken":
        return "attention" if finding.early else "bad"
    return "plain" if finding.state == "off" else "good"


def _since(last: LastPing) -> str:
    if last.trouble_since:
        return utc_text(last.trouble_since)
    if last.at is None or last.active_seconds is None:
        return "-"
    return utc_text(last.at - timedelta(seconds=last.active_seconds))
