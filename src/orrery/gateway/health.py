"""Whether the gateway works, by its pings: silence and bad pings are findings (docs/decisions/0060).

good ──bad ping──▶ broken, early ──the grace since the last good ping──▶ broken ──good pings──▶ good
  └──silence of the grace──▶ broken
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from orrery.errors import StoreError
from orrery.gateway.causes import UNKNOWN, diagnosis, kind_of
from orrery.gateway.pings import GatewayPlan, Pings
from orrery.gateway.records import LastPing
from orrery.gateway.settings import MINIMUM_GRACE
from orrery.ports.clock import Clock
from orrery.ports.health import URGENT, Finding, of_secret

PART = "gateway"
SECRET = "gateway_ping_token"  # noqa: S105  a name, no secret

_PINGS = "What came: `orrery gateway pings`."

AFTER_START = timedelta(seconds=MINIMUM_GRACE)
"""How long a site that has just started listens before silence causes a push: it may have been away itself."""


@dataclass(frozen=True, slots=True)
class JudgedPing:
    """The last ping, if there is a record of it, and the finding from it."""

    last: LastPing | None
    finding: Finding


class GatewayHealth:
    """The check of the gateway. It is not essential: the site works without it."""

    def __init__(self, pings: Pings, clock: Clock, plan: GatewayPlan) -> None:
        self._pings = pings
        self._clock = clock
        self._plan = plan
        self._began = clock.monotonic()

    async def check(self) -> list[Finding]:
        """Return the finding; nothing when the store fails, which has its own finding."""
        try:
            return [(await self.look()).finding]
        except StoreError:
            return []

    async def look(self) -> JudgedPing:
        """Read the last ping and judge it."""
        if not self._plan.expects:
            return JudgedPing(None, Finding(PART, "off", "No guest pings this site.", essential=False))
        if not self._plan.has_token:
            what = "the token of the pings"
            return JudgedPing(None, of_secret(PART, SECRET, what, present=False, essential=False, why=_NO_TOKEN))
        found = await self._pings.last.find()
        now = self._clock.now()
        record = found.record if found else LastPing(expected_since=now - self._runs())
        last = record.moved(self._pings.jump(record))
        return JudgedPing(last, self._finding(last, now))

    def _runs(self) -> timedelta:
        return timedelta(seconds=self._clock.monotonic() - self._began)

    def _finding(self, last: LastPing, now: datetime) -> Finding:
        if last.at is None:
            return self._without_a_ping(last, now)
        if self._is_silence(last.at, now):
            return self._silent(last, last.at)
        if last.trouble:
            lasts = abs(now - (last.trouble_since or now))
            found = diagnosis(last.ping, lasts, self._plan.token_script)
            is_early = abs(now - (last.good_at or last.expected_since)) < self._plan.grace
            return self._broken(found.cause, found.fix, is_early=is_early)
        state = "paused by its operator" if last.state == "paused" else last.state
        state += " and slow" if kind_of(last.ping) == "slow" else ""
        return Finding(
            PART, "ok", f"The gateway is {state}; the last ping came {ago(last.at, now)}.", essential=False
        )

    def _without_a_ping(self, last: LastPing, now: datetime) -> Finding:
        why = f"No ping yet; one is expected since {_clock_time(last.expected_since)}."
        todo = f"Install the guest on the gateway's machine, with this site's address and the token. {_PINGS}"
        if self._is_silence(last.expected_since, now):
            return Finding(PART, "broken", why, todo, essential=False)
        return Finding(PART, "ok", why, todo, essential=False)

    def _silent(self, last: LastPing, at: datetime) -> Finding:
        cause = diagnosis(last.ping, token_script=self._plan.token_script).cause
        before = f"By the last one: {cause}" if cause else "The last one was good."
        why = f"No ping since {_clock_time(at)}: whether the gateway works is unknown. {before}"
        return self._broken(why, UNKNOWN.fix)

    def _broken(self, why: str, todo: str, *, is_early: bool = False) -> Finding:
        is_early = is_early or self._runs() < AFTER_START
        return Finding(PART, "broken", why, f"{_PINGS} {todo}", essential=False, severity=URGENT, early=is_early)

    def _is_silence(self, since: datetime, now: datetime) -> bool:
        # After a clock was put back, `since` may be years ahead: that must not silence anything.
        return abs(now - since) > self._plan.grace


_NO_TOKEN = "The secret of the pings is missing: whether the gateway works is unknown."  # noqa: S105  a sentence


def ago(at: datetime, now: datetime) -> str:
    """Return how long ago a ping came."""
    seconds = max(0, int((now - at).total_seconds()))
    return f"{seconds} s ago" if seconds < MINIMUM_GRACE else f"{seconds // 60} min ago"


def _clock_time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
