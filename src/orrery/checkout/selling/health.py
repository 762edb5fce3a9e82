"""What visitors meet while they buy: how session creation goes, and whether each of them has a separate address.

Both are noted in the store once they last, where `orrery doctor` and other processes see them and a restart finds
them; the watch of all parts pushes their beginning and their end (docs/decisions/0037).

    well ──5 failures in a row, or 2 at least 3 minutes apart──▶ outage ──10 minutes without a failure──▶ well
      └─────one session that is not what was asked for───────────▶

A success ends a row of failures, but no outage. Rows are counted of all products together and of each: one product
that cannot be bought must not hide behind the sales of the others. They are counted at each node, in memory, since
a fault may be one node's; and from the second failure on at all of them, in the store
(docs/decisions/0094).

Behind an untrusted proxy all buyers share one address and one rate limit. The first request that shows a proxy
stores it at once. A request that the limit refuses writes nothing (decision 14): what it shows is kept in memory,
and stored by a job.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from ipaddress import ip_address, ip_network

from pydantic import IPvAnyAddress

from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.errors import SessionMismatch
from orrery.checkout.outage_records import KEEP_PROXY, CreationOutage, FailureRow, ProxySighting
from orrery.logs import log
from orrery.ports.health import URGENT, Finding
from orrery.ports.processor import ProcessorError, ProcessorRefused, ProcessorUnreachable
from orrery.runtime.due import is_ahead
from orrery.runtime.lasting import Lasting
from orrery.syntax.lines import one_line
from orrery.tls import advice

IN_A_ROW = 5
"""Failures in a row that are an outage (docs/decisions/0037)."""

APART = timedelta(minutes=3)
"""Two failures so far apart, with no success between, are an outage too: there may be few visitors (the same)."""

OVER_AFTER = timedelta(minutes=10)
"""An outage ends after this time without a failure (the same)."""

WRITTEN_EVERY = timedelta(seconds=10)
"""How often an outage is written while it lasts."""

MISMATCH_OVER_AFTER = timedelta(hours=24)
"""The same where sessions are not what was asked for: that does not pass by itself, and visitors may be few."""

MANY_REFUSED = 10
"""This many refusals of one private address are more than one person causes by clicking again."""

REFUSED_WITHIN = timedelta(hours=1)
"""The window in which refusals are counted: the longer one of the rate limit (decision 14)."""

NOTED_EVERY = timedelta(minutes=10)
"""How often a proxy is noted."""

_ASK = "`orrery doctor` asks the processor now."

_CREATION, _ADDRESSES = "session creation", "client addresses"

_ALL = ""
"""The key for all products together."""

_LONGEST_REASON = 300
"""Characters of the processor's message that are repeated."""


@dataclass(slots=True)
class _FailureStreak:
    """Failures in a row; `begun` is the clock's monotonic time."""

    since: datetime
    begun: float
    count: int = 0

    def is_outage(self, now: float) -> bool:
        return self.count >= IN_A_ROW or (self.count > 1 and now - self.begun >= APART.total_seconds())


_NO_OUTAGE = CreationOutage(
    since=datetime.fromtimestamp(0, UTC),
    last_failure_at=datetime.fromtimestamp(0, UTC),
    failures=0,
    product=None,
    why="",
    todo="",
)


class CreationHealth:
    """Counts visitors' failed and successful requests, and stores the outage for all processes."""

    def __init__(self, stored: CheckoutRecords) -> None:
        self._clock = stored.clock
        self._outage = Lasting(stored.creation_outage, WRITTEN_EVERY)
        self._rows: dict[str, _FailureStreak] = {}
        self._failed_at = float("-inf")
        self._unwritten: Counter[str] = Counter()
        self._uncounted: Counter[str] = Counter()
        """What is in no stored row yet, by row."""
        self._stored_rows: frozenset[str] = frozenset()
        """Which rows the store had when it was read last, at the latest by the last health round."""

    async def succeeded(self, product: str) -> None:
        """Note that a visitor got a session for a product; a store that fails is only logged."""
        ended = _ALL, product
        for row in ended:
            _ = self._rows.pop(row, None)
            del self._uncounted[row]
        if not self._stored_rows.isdisjoint(ended):
            await self._note(lambda last: last and last.change(rows=_left(last, ended)))

    async def failed(self, product: str, error: ProcessorError) -> None:
        """Note that a visitor got none because the processor failed; a store that fails too is only logged."""
        self._count(product)
        await self._note(lambda last: self._after(last, product, error))

    async def _note(self, make: Callable[[CreationOutage | None], CreationOutage | None]) -> None:
        unwritten, uncounted = Counter[str](), Counter[str]()

        def noted(last: CreationOutage | None) -> CreationOutage | None:
            nonlocal unwritten, uncounted
            # With what failed while the store was read.
            unwritten, uncounted = self._unwritten.copy(), self._uncounted.copy()
            self._read(after := make(last) or last)
            return after if after is not last else None

        if await self._outage.note(noted):
            self._unwritten -= unwritten
            self._uncounted -= uncounted
        if self._stored_rows:
            self._outage.noted_at = None  # they may be an outage at the next failure

    async def local(self) -> list[Finding]:
        """Return the finding about session creation."""
        return await self._outage.finding(self._finding)

    def _finding(self, last: CreationOutage | None) -> Finding:
        self._read(last)
        if last is None or not last.failures:
            return Finding(_CREATION, "ok", settled=True, essential=True)
        period = f"{last.failures} request{'s' * (last.failures > 1)} to start a payment failed"
        since, until = f"{last.since:%Y-%m-%d %H:%M}", f"{last.last_failure_at:%H:%M} UTC"
        if not _lasts(last, self._clock.now()):
            why = f"{period} from {since} to {until}, and none since then."
            return Finding(_CREATION, "ok", why, settled=True, essential=True)
        product = f" All were for {last.product}." if last.product else ""
        why = f"The checkout fails: {period} since {since} UTC, the last at {until}.{product} {last.why}"
        # An odd session of one product is no reason to take the others off the air, nor is a fault of one node.
        quiet = self._clock.monotonic() - self._failed_at >= OVER_AFTER.total_seconds()
        essential = not last.mismatch and not quiet
        return Finding(_CREATION, "broken", why, last.todo, settled=True, essential=essential, severity=URGENT)

    def _count(self, product: str) -> None:
        now, at = self._clock.monotonic(), self._clock.now()
        if self._outage.noted_at is not None and now - self._failed_at >= OVER_AFTER.total_seconds():
            self._rows, self._unwritten, self._uncounted, self._outage.noted_at = {}, Counter(), Counter(), None
        self._failed_at = now
        self._unwritten[product] += 1
        for name in (_ALL, product):
            self._rows.setdefault(name, _FailureStreak(at, now)).count += 1
            self._uncounted[name] += 1

    def _grown(self, rows: Sequence[FailureRow]) -> dict[str, FailureRow]:
        """Return the rows of all nodes with what failed here since."""
        grown = {row.product: row for row in rows}
        for name, more in self._uncounted.items():
            new = FailureRow(product=name, since=self._here(name).since, count=0)
            row = grown.get(name, new)
            grown[name] = row.change(count=row.count + more)
        return grown

    def _here(self, name: str) -> _FailureStreak:
        # A visitor may have got a session while the store was read.
        return self._rows.get(name) or _FailureStreak(self._clock.now(), self._clock.monotonic())

    def _longer(self, name: str, stored: Mapping[str, FailureRow]) -> _FailureStreak:
        """Return the row of failures at this node, or at all of them where that is longer."""
        here, row = self._here(name), stored.get(name)
        if row is None or row.count <= here.count:
            return here
        passed = abs(self._clock.now() - row.since)
        return _FailureStreak(row.since, self._clock.monotonic() - passed.total_seconds(), row.count)

    def _read(self, last: CreationOutage | None) -> None:
        self._stored_rows = frozenset(row.product for row in last.rows) if last else frozenset()

    def _after(self, last: CreationOutage | None, product: str, error: ProcessorError) -> CreationOutage | None:
        """Return the outage with the counts that are not stored yet; without one the rows, or None."""
        now, (why, todo) = self._clock.now(), _reason(error)
        at, at_once = self._clock.monotonic(), isinstance(error, SessionMismatch)
        stored = self._grown(last.rows if last else ())
        one, both = self._longer(product, stored), self._longer(_ALL, stored)
        rows = [row for row in (both, one) if row.is_outage(at)]
        if last is not None and _lasts(last, now):
            still_odd = last.mismatch and not rows
            if still_odd and not at_once:
                why, todo = last.why, last.todo
            return last.change(
                mismatch=still_odd,
                last_failure_at=now,
                failures=last.failures + self._unwritten.total(),
                product=last.product if {*self._unwritten} <= {last.product} else None,
                why=why,
                todo=todo,
                rows=(),
            )
        row = max(rows, key=lambda row: row.count, default=one if at_once else None)
        if row is None:
            is_first = max(one.count, both.count) <= 1
            return None if is_first else (last or _NO_OUTAGE).change(rows=tuple(stored.values()))
        return CreationOutage(
            mismatch=not rows,
            since=row.since,
            last_failure_at=now,
            failures=max(1, row.count),
            product=product if row.count == one.count else None,
            why=why,
            todo=todo,
        )


def _left(last: CreationOutage, ended: Sequence[str]) -> tuple[FailureRow, ...]:
    return tuple(row for row in last.rows if row.product not in ended)


def _lasts(outage: CreationOutage, now: datetime) -> bool:
    # After a clock was put back the last failure may be years ahead.
    return abs(now - outage.last_failure_at) < (MISMATCH_OVER_AFTER if outage.mismatch else OVER_AFTER)


def _reason(error: ProcessorError) -> tuple[str, str]:
    """Return the likely cause in a sentence, and what to do."""
    why = one_line(str(error), _LONGEST_REASON)
    if isinstance(error, SessionMismatch):
        todo = "Compare checkout.processor_url and the product's price with the processor's dashboard; then type "
        return f"{why} No visitor was sent there.", f"{todo}`orrery checkout preflight`."
    if isinstance(error, ProcessorRefused):
        if error.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            return why, "Check the API key with `orrery secrets check`."
        named = one_line(error.param or error.code or error.kind or "", _LONGEST_REASON)
        why = f"The processor refuses the session: {why}" + (f" ({named})" if named else "")
        return why, "Correct in the settings what it names, then type `orrery checkout preflight`."
    status = error.status if isinstance(error, ProcessorUnreachable) else None
    if status is None:
        network = f"Check this machine's network and name resolution, then the processor's status page. {_ASK}"
        return why, advice(error, network)
    if status == HTTPStatus.OK:
        todo = "Check checkout.processor_url, checkout.api_version and any proxy on the way; type `orrery doctor`."
        return why, todo
    return why, f"Look at the processor's status page; each visitor's request is tried again. {_ASK}"


class ProxyHealth:
    """Finds addresses that many buyers share. `trusted` are the networks of [server] trusted_proxies."""

    JOB = "note untrusted proxies"

    def __init__(self, stored: CheckoutRecords, trusted: Sequence[str]) -> None:
        self._clock = stored.clock
        self._sighting = Lasting(stored.proxy, NOTED_EVERY)
        self._trusted = [ip_network(network) for network in trusted]
        self._forwards: str | None = None
        self._refused: Counter[str] = Counter()
        self._counted_from = 0.0

    def forwards(self, address: str) -> bool:
        """Note a proxy that is not trusted; return whether there was none to be stored."""
        before, self._forwards = self._forwards, address
        return before is None

    async def show(self, address: str) -> None:
        """Note a proxy, and store it unless that was just done."""
        if self.forwards(address):
            await self.write()

    def refused(self, address: str) -> None:
        """Note that the rate limit refused an address of a private network: one person, or all behind a proxy."""
        now = self._clock.monotonic()
        if now - self._counted_from >= REFUSED_WITHIN.total_seconds():
            self._refused.clear()
            self._counted_from = now
        self._refused[address] += 1

    async def write(self) -> None:
        """Store what was noted, unless that was just done."""
        often = (one for one, count in self._refused.items() if count >= MANY_REFUSED)
        suspect, counted = self._forwards or next(often, None), self._refused.copy()
        if suspect is None:
            return
        address, refused = ip_address(suspect), counted[suspect]
        if await self._sighting.note(lambda known: self._seen(known, address, refused)):
            self._forwards = None
            self._refused -= counted

    async def local(self) -> list[Finding]:
        """Return whether each buyer has a separate address."""
        return await self._sighting.finding(self._finding)

    def _finding(self, sighting: ProxySighting | None) -> Finding:
        if sighting is None or self._is_over(sighting):
            return Finding(_ADDRESSES, "ok", essential=False, settled=True, of_machine=True)
        # Which proxies are trusted, is in each machine's settings.
        return Finding(_ADDRESSES, "broken", *_described(sighting), essential=False, settled=True, of_machine=True)

    def _is_over(self, sighting: ProxySighting) -> bool:
        """Return whether the sighting is too old, or of a proxy that was not trusted then, and is now."""
        if not is_ahead(sighting.seen_at + KEEP_PROXY, self._clock.now(), KEEP_PROXY):
            return True
        return sighting.forwards and any(sighting.address in network for network in self._trusted)

    def _seen(self, known: ProxySighting | None, address: IPvAnyAddress, refused: int) -> ProxySighting:
        now, forwards = self._clock.now(), self._forwards is not None
        if known is not None and known.address == address and not self._is_over(known):
            forwards = forwards or known.forwards
            return known.change(forwards=forwards, refused=known.refused + refused, seen_at=now)
        log.warning("untrusted proxy", address=str(address), forwards=forwards, refused=refused)
        return ProxySighting(address=address, forwards=forwards, refused=refused, seen_at=now)


def _described(sighting: ProxySighting) -> tuple[str, str]:
    """Return what is wrong with a sighting's address, and what to do."""
    address, refused = sighting.address, sighting.refused
    if not sighting.forwards:
        why = f"The rate limit refused {refused} requests from {address}, an address of a private network."
        add = "add its address to [server] trusted_proxies, type `orrery config check`, and restart."
        return why, f"If it is a proxy, let it send X-Forwarded-For, {add}"
    more = f" The limit refused {refused} requests." if refused else ""
    why = f"The proxy {address} is not trusted: all buyers behind it share one rate limit.{more}"
    return (
        why,
        f"Add {address} to [server] trusted_proxies if it is yours, `orrery config check`, and restart.",
    )
