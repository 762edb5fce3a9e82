"""Notifies the owner of each outage once, and once of its end (decision 41).

    well ──broken──▶ suspected ──still or again broken──▶ pushed ──well for 10 minutes──▶ well ("works again")
                         └──────well for 10 minutes────▶ well

A finding that its part has already judged over time (`Finding.settled`) counts at the first look, broken or well;
one that its part calls too early (`Finding.early`) stays suspected.
An outage is stored and changes in one commit with its push: a restart neither repeats the one nor loses the
other. An outage of the store itself is kept in memory, and its push needs no store (decision 73). Each process
checks, because each has only its own failing jobs; a part is well when all find it well.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from orrery.errors import RecordUnreadable, StoreUnavailable
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.health import ACT_TODAY, URGENT, Finding, Severity
from orrery.ports.notifier import DeliveryFailed, Notifier, OutgoingMessage, Priority
from orrery.ports.store import Absent, Check, Conflict, Delete, Store
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, commit, compare_and_set, sortable, write
from orrery.runtime.nodes import Presence, silence_of
from orrery.runtime.planned_pause import Pause, PlannedPauses
from orrery.runtime.problems import OUTAGE, PartOutage, cause_of, explaining, outages_of, renamed
from orrery.runtime.store_probe import STORE

EVERY = timedelta(seconds=10)
_TICK = 1.0
"""Seconds between two looks at whether this process runs."""
"""How often the findings are checked (decision 52)."""

PUSHED_AFTER = timedelta(seconds=30)
"""How long after its first finding an outage causes a push, if the part is then still or again broken."""

OVER_AFTER = timedelta(minutes=10)
"""How long a part must be well until its outage is over, so that what comes and goes is one outage."""

DEADLINE = timedelta(seconds=10)
"""How long a check waits for the push service, and then for the store."""

_NO_CAUSES: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class CheckTime:
    """When a check runs, when checks began, and the planned pause that runs.

    Time without checks does not count as time without an outage.
    """

    at: datetime
    began: datetime
    pause: Pause | None = None


def broken(
    outage: PartOutage | None, finding: Finding, look: CheckTime, causes: Mapping[str, int] = _NO_CAUSES
) -> PartOutage:
    """Return the outage of a part that is broken; `causes` are the parts that may explain it, as `explaining`."""
    outage = outage or PartOutage(part=finding.part, since=look.at)
    cause = cause_of(finding, (finding.cause, outage.cause), causes)
    outage = outage.change(
        part=finding.part,
        node=finding.node,
        cause=cause,
        acknowledged=outage.aside(finding, look.at),
        well_since=None,
    )
    is_due = finding.settled or _lasts(outage.since, PUSHED_AFTER, look.at)
    is_planned = look.pause is not None and look.pause.explains(finding, outage.since)
    if not is_due or cause or finding.early or outage.acknowledged or is_planned:
        return outage
    return outage.change(
        told_at=outage.told_at or look.at,
        urgent=outage.urgent or finding.priority == URGENT,
        items=finding.items,
        concerns_one=finding.concern is not None,
    )


def well(outage: PartOutage, finding: Finding | None, look: CheckTime) -> PartOutage | None:
    """Return the outage of a part that is not broken, or None when it is over."""
    if finding and finding.settled:
        return None
    aside = outage.acknowledged
    if finding is None and aside and aside.asked and aside.lasts(look.at):
        return outage
    if outage.well_since is None:
        return outage.change(well_since=look.at)
    return None if _lasts(max(outage.well_since, look.began), OVER_AFTER, look.at) else outage


def _lasts(since: datetime, time: timedelta, now: datetime) -> bool:
    # After a clock was put back, `since` may be years ahead: that must not silence anything.
    return abs(now - since) >= time


class StoreOutage:
    """The outage of the store, in memory: one push, straight to the push service, until that has accepted it.

    `ended` is the outage that is over and was due for a push; the outbox reports its end.
    """

    def __init__(self, push: Notifier | None) -> None:
        self._push = push
        self._accepted = False
        self.now: PartOutage | None = None
        self.ended: PartOutage | None = None

    async def see(self, finding: Finding, look: CheckTime) -> None:
        """Note what a health round found of the store."""
        if finding.state == "broken":
            self.now = broken(self.now, finding, look)
            if self.now.told_at and not self._accepted:
                await self._send(self.now, finding)
        elif self.now:
            before, self.now = self.now, well(self.now, finding, look)
            if self.now is None:
                self.ended, self._accepted = before if before.told_at else self.ended, False

    async def _send(self, outage: PartOutage, finding: Finding) -> None:
        if self._push is None:
            return
        text = f"Broken since {outage.since:%Y-%m-%d %H:%M} UTC. {finding.in_a_push}"
        draft = _push(_BROKEN, {STORE: text}, outage.since, URGENT)
        try:
            async with asyncio.timeout(DEADLINE.total_seconds()):
                await self._push.send(
                    OutgoingMessage(draft.id, draft.title, draft.body, "", draft.priority, draft.tags)
                )
            self._accepted = True
        except (DeliveryFailed, TimeoutError) as error:
            log.warning("push about the store not accepted", why=str(error))


@dataclass(frozen=True, slots=True)
class _Change:
    """The change of one part's outage; `kept` makes the stored record `after` of `before`."""

    part: str
    before: PartOutage | None
    after: PartOutage | None
    kept: Changes

    @property
    def begins(self) -> bool:
        """Whether a push is due about the part: it broke, is urgent now, or concerns something new."""
        if not self.after or not self.after.told_at:
            return False
        before, after = self.before, self.after
        is_known = before and before.told_at and before.urgent == after.urgent
        return not is_known or not before or not {*after.items} <= {*before.items}

    @property
    def ended(self) -> PartOutage | None:
        """The outage, where a push about its end is due."""
        over = self.before if self.after is None else None
        return over if over and over.told_at and not over.concerns_one else None


class OutageWatch:
    """Enqueues pushes about parts that broke and parts that work again."""

    JOB = "watch"

    def __init__(
        self,
        store: Store,
        clock: Clock,
        findings: Callable[[], Awaitable[Sequence[Finding]]],
        push: Notifier | None = None,
        presence: Callable[[str], Presence] = lambda _: "here",
        gives_way: Callable[[], bool] = lambda: False,
    ) -> None:
        """`push` is the push service, for what needs no store; `presence` knows the nodes.

        A process that `gives_way` leaves the outages to others: by its clock, what was put aside would be over.
        """
        self._presence, self._gives_way = presence, gives_way
        self._store = store
        self._of_store = StoreOutage(push)
        self._clock = clock
        self._outages, self._pauses = outages_of(store, clock), PlannedPauses(store, clock)
        self._findings = findings
        self._began = clock.now()
        self._known = set[str]()

    def of_store(self) -> PartOutage | None:
        """Return the outage of the store, which no store holds."""
        return self._of_store.now

    async def hand_over(self, store: Store) -> None:
        """Leave the outage of the store in one that works again: the next process reports its end."""
        outage = self._of_store.now
        if outage and outage.told_at:
            await write(store, [outages_of(store, self._clock).put(outage, STORE)])

    async def notify(self) -> None:
        """Check once; enqueue at most one push about parts that broke and one about parts that work again."""
        findings, frozen = await self._look()
        if frozen:
            return  # what it found is old
        for finding in (one for one in findings if one.part == STORE):
            await self._of_store.see(finding, CheckTime(self._clock.now(), self._began))
        if self._gives_way():
            return

        async def attempt() -> Conflict | None:
            now = self._clock.now()
            found = await self._changes(findings, CheckTime(now, self._began, await self._pauses.running()))
            if not found and not self._of_store.ended:
                return None
            enqueued = Changes(outbox.enqueue(_pushes(found, findings, now, self._of_store.ended), now))
            outcome = await commit(self._store, sum((one.kept for one in found), enqueued))
            return outcome if isinstance(outcome, Conflict) else None

        try:
            async with asyncio.timeout(DEADLINE.total_seconds()):
                await compare_and_set(attempt, "The store is too busy to note what is broken.")
        except TimeoutError:
            raise StoreUnavailable("The store does not answer.") from None
        self._of_store.ended = None

    async def _look(self) -> tuple[Sequence[Finding], bool]:
        """Return what is found, and whether this process was frozen meanwhile.

        A store that hangs makes a round long, too. Only a gap between two ticks of the process is a freeze.
        """
        frozen, last = False, self._clock.monotonic()
        looking = asyncio.ensure_future(self._findings())
        try:
            while not looking.done():
                _ = await asyncio.wait([looking], timeout=_TICK)
                now = self._clock.monotonic()
                frozen, last = frozen or now - last > 2 * EVERY.total_seconds(), now
        finally:
            _ = looking.cancel()
            _ = await asyncio.wait([looking])
        return looking.result(), frozen

    async def _changes(self, findings: Sequence[Finding], look: CheckTime) -> list[_Change]:
        """Return the changes of the stored outages; an outage that a newer version wrote stays as it is."""
        by_part = {one.part: one for one in findings}
        bad = {part: one for part, one in by_part.items() if one.state == "broken"}
        known: dict[str, tuple[PartOutage | None, Check]] = {}
        async for entry in self._outages.entries():
            part = entry.key.removeprefix(OUTAGE)
            try:
                known[part] = self._outages.replaceable_in(entry)
            except RecordUnreadable as error:
                log.warning("the owner is not notified of this part", part=part, why=str(error))
                _ = bad.pop(part, None)
        formerly = renamed(bad.values(), {part: one for part, (one, _) in known.items() if one})
        known |= {part: known.pop(before) for part, before in formerly.items()}
        stored = {part: one for part, (one, _) in known.items() if one}
        # Until its outage is over: a part that follows from it may take longer to work again.
        over = {part: URGENT if one.urgent else ACT_TODAY for part, one in stored.items() if one.told_at}
        causes = {part: severity for part, severity in over.items() if part not in bad}
        causes |= {STORE: URGENT} if self._of_store.now else {}
        causes |= explaining(bad, stored, look.at)
        ended = self._known - known.keys()
        changes: list[_Change] = []
        for part in {**bad, **known}:
            finding = bad.get(part)
            if finding and (part == STORE or part in ended):
                continue  # only memory holds it; or another node has found the end since this one looked
            before, unchanged = known.get(part, (None, Absent(self._outages.key(part))))
            after: PartOutage | None = None
            if finding:
                after = broken(before, finding, look, causes)
            elif before:
                before, after = self._not_broken(before, by_part.get(part), look)
            if after != before:
                write = self._outages.put(after, part) if after else Delete(self._outages.key(part))
                kept = Changes([write], [unchanged]) + self._as_of_now(part, formerly.get(part))
                changes.append(_Change(part, before, after, kept))
        self._known = known.keys() - {one.part for one in changes if one.after is None}
        return changes

    def _not_broken(
        self, outage: PartOutage, finding: Finding | None, look: CheckTime
    ) -> tuple[PartOutage, PartOutage | None]:
        """Return an outage before and after; that of a node that was forgotten ends without a push.

        It ends as late as any: a node whose record is missing may be there, and find the part broken again.
        """
        presence = self._presence(outage.node) if outage.node else "here"
        is_kept = presence == "away" and outage.part != silence_of(outage.node)
        after = outage if is_kept else well(outage, finding, look)
        return outage.change(told_at=None) if presence == "gone" and after is None else outage, after

    def _as_of_now(self, part: str, before: str | None) -> Changes:
        """Return what takes the place of an outage that was kept under another name of its part."""
        if before is None:
            return Changes()
        return Changes([Delete(self._outages.key(before))], [Absent(self._outages.key(part))])


def at_once(store: Store, clock: Clock, finding: Finding) -> Changes:
    """Return the changes that push a settled finding now: what causes it may be over before a round sees it."""
    now, outages = clock.now(), outages_of(store, clock)
    outage = broken(None, finding, CheckTime(now, now))
    return Changes([outages.put(outage, finding.part), *outbox.enqueue([_broken_push([finding], now)], now)])


def parts_of(row: outbox.Notification) -> list[str]:
    """Return the parts that a push of a watch is about, and none for any other notification."""
    what, _, about = row.title.partition(": ")
    if row.channel != "push" or what not in {_BROKEN, _WORKS}:
        return []
    return [line.partition(": ")[0] for line in row.body.splitlines()] if about.endswith(_MORE) else [about]


async def pushes(stored: outbox.Outbox) -> AsyncIterator[outbox.Notification]:
    """Yield the pushes of watches that are still stored."""
    for what in (_BROKEN, _WORKS):
        async for row in stored.rows(within=_id_of(f"{what}-")):
            yield row


_BROKEN, _WORKS, _MORE = "Broken", "Works again", (" more", " parts")
"""An earlier release wrote how many parts, and named none in the title."""


def _pushes(
    changes: Sequence[_Change], findings: Sequence[Finding], now: datetime, of_store: PartOutage | None
) -> list[outbox.OutboxDraft]:
    """Return the pushes about changes, and the one about the end of an outage `of_store`."""
    by_part = {one.part: one for one in findings}
    begun = sorted((by_part[one.part] for one in changes if one.begins), key=lambda one: -one.priority)
    over = [one.ended for one in changes if one.ended] + ([of_store] if of_store else [])
    # What concerns one payment is a separate push: a dispute has a deadline (decision 49).
    alone = [[one] for one in begun if one.concern]
    together = [one for one in begun if not one.concern]
    return [*(_broken_push(group, now) for group in (together, *alone) if group), *_over_push(over, by_part, now)]


def _broken_push(begun: Sequence[Finding], now: datetime) -> outbox.OutboxDraft:
    push = _push(_BROKEN, {one.part: one.in_a_push for one in begun}, now, begun[0].priority)
    return replace(push, title=f"{_BROKEN}: {begun[0].heading}") if len(begun) == 1 else push


def _over_push(
    over: Sequence[PartOutage], by_part: Mapping[str, Finding], now: datetime
) -> list[outbox.OutboxDraft]:
    texts: dict[str, str] = {}
    for one in over:
        finding = by_part.get(one.part)
        gone = " It is no longer configured." if finding and finding.state == "off" else ""
        what = f" {finding.why}" if finding and finding.settled else ""
        since, until = f"{one.since:%Y-%m-%d %H:%M}", f"{one.well_since or now:%H:%M}"
        texts[one.part] = f"Broken since {since} UTC, well since {until}.{gone}{what}"
    return [_push(_WORKS, texts, now, 2)] if texts else []


def _id_of(text: str) -> str:
    return text.lower().replace(" ", "-")


_PRIORITIES: Mapping[Severity, Priority] = {5: "urgent", 4: "high", 3: "default", 2: "low"}


def _push(what: str, texts: Mapping[str, str], now: datetime, severity: Severity) -> outbox.OutboxDraft:
    first, *more = texts
    return outbox.OutboxDraft(
        id=_id_of(f"{what}-{first}-{sortable(now)}"),
        channel="push",
        title=f"{what}: {first} and {len(more)} more" if more else f"{what}: {first}",
        body="\n".join(f"{part}: {text}" for part, text in texts.items()) if more else texts[first],
        priority=_PRIORITIES[severity],
        tags=("rotating_light" if what == _BROKEN else "white_check_mark",),
    )
