"""The one list of problems (decision 59): `doctor`, `/owner`, `today`, `/metrics` and `--json` are views of it.

A problem is a part that a check finds broken, by the part's name. What the finding cannot know is stored: since
when, what the watch pushed, and whether the owner acknowledged it (docs/decisions/0089-one-list-of-problems.md).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import get_args

from pydantic import AwareDatetime, NonNegativeInt

from orrery.errors import Invalid, NotFound, StoreError
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.health import URGENT, Finding, Problem, Severity
from orrery.ports.store import Conflict, Store
from orrery.record import Code, Record, RecordPart
from orrery.runtime.collection import FOR_EVER, Changes, Collection, commit, compare_and_set
from orrery.runtime.due import is_ahead

OUTAGE = "outage:"

LONGEST, LONGEST_URGENT = timedelta(days=7), timedelta(hours=24)
"""How long a time of acknowledgement may be; where money or access is in danger none lasts longer than a day."""


def longest_of(severity: int) -> timedelta:
    """Return how long a problem may be put aside."""
    return LONGEST_URGENT if severity == URGENT else LONGEST


class Acknowledgement(RecordPart):
    """What the owner put aside: a problem of this severity, about these items, until then or until it changes.

    `asked`: only a check that asks a vendor finds it, so that no health round knows whether it is over.
    """

    at: AwareDatetime
    until: AwareDatetime
    severity: NonNegativeInt
    items: tuple[Code, ...] = ()
    asked: bool = False

    def lasts(self, now: datetime) -> bool:
        """Return whether its time is not over."""
        return is_ahead(self.until, now, longest_of(self.severity))

    def covers(self, finding: Finding, now: datetime) -> bool:
        """Return whether it still holds: less of the same is no change, and neither are other figures."""
        return self.lasts(now) and finding.priority <= self.severity and {*finding.items} <= {*self.items}


class PartOutage(Record):
    """A part that is broken, or was within the last ten minutes.

    `told_at` is when it was pushed first, `urgent` whether urgently, `items` what the last push was about.
    `cause` is the part whose outage this one follows from; until that outage is over, this one causes no push.
    `concerns_one`: it is about one payment, whose own story has an end, so that no push tells of this one's.
    `node` is the node whose machine it is about.
    """

    part: Code
    since: AwareDatetime
    told_at: AwareDatetime | None = None
    urgent: bool = False
    items: tuple[Code, ...] = ()
    concerns_one: bool = False
    cause: Code = ""
    well_since: AwareDatetime | None = None
    acknowledged: Acknowledgement | None = None
    node: Code = ""

    def aside(self, finding: Finding, now: datetime) -> Acknowledgement | None:
        """Return the acknowledgement, while it holds for what the check finds."""
        return self.acknowledged if self.acknowledged and self.acknowledged.covers(finding, now) else None


def outages_of(store: Store, clock: Clock) -> Collection[PartOutage]:
    """Return what is stored of problems."""
    return Collection(store, clock, PartOutage, OUTAGE, life=FOR_EVER)


class Problems:
    """Makes the list of what the checks find, and puts aside what the owner acknowledged."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        findings: Callable[[], Awaitable[Sequence[Finding]]],
        of_store: Callable[[], PartOutage | None] = lambda: None,
    ) -> None:
        """`of_store` returns the outage of the store, which only memory holds."""
        self._store, self._clock, self._findings, self._of_store = store, clock, findings, of_store
        self._outages = outages_of(store, clock)
        self._known: Mapping[str, PartOutage] = {}
        self.last: Sequence[Problem] = ()
        """The list of the last health round."""

    async def note_round(self, findings: Sequence[Finding]) -> Sequence[Finding]:
        """Keep the list of a health round, so that a view costs nothing; return its findings."""
        self.last = await self.among(findings)
        return findings

    def by_severity(self) -> dict[str, int]:
        """Return how many there are of each severity, acknowledged ones among them."""
        return {str(one): sum(each.severity == one for each in self.last) for one in get_args(Severity)}

    async def all(self) -> list[Problem]:
        """Check every part without asking anybody outside; return what is wrong, the most urgent first."""
        return await self.among(await self._findings())

    async def among(self, findings: Sequence[Finding]) -> list[Problem]:
        """Return the problems of these findings; while the store fails, the last that was read of it counts."""
        with suppress(StoreError):  # its own problem is in the list
            self._known = {one.part: one for one in (await self._outages.all()).values()}
        memory = self._of_store()
        known = {**self._known, **({memory.part: memory} if memory else {})}
        broken = {one.part: one for one in findings if one.state == "broken"}
        known |= {part: known[before] for part, before in renamed(broken.values(), known).items()}
        causes = explaining(broken, known, self._clock.now())
        found = [self._problem(one, known, causes) for one in broken.values()]
        return sorted(found, key=lambda one: (one.acknowledged, bool(one.cause), -one.severity))

    def _problem(self, finding: Finding, known: Mapping[str, PartOutage], causes: Mapping[str, int]) -> Problem:
        now, outage = self._clock.now(), known.get(finding.part)
        since, cause = outage.since if outage else now, cause_of(finding, [finding.cause], causes)
        if aside := aside_of(finding, known, now):
            return Problem(finding, since, cause, acknowledged=True, until=aside.until)
        return Problem(finding, since, cause)

    async def knows(self, key: str, found: Sequence[Problem]) -> bool:
        """Return whether a whole key, or without one each that was put aside, is among what was found."""
        if key:
            return any(one.key == key for one in found)
        aside = {one.part for one in (await self._outages.all()).values() if one.acknowledged}
        return aside <= {one.key for one in found}

    async def acknowledge(
        self,
        key: str,
        time: timedelta | None,
        found: Sequence[Problem] = (),
        *,
        asked: bool = False,
        seen: str = "",
    ) -> Problem:
        """Put a problem aside until it changes, or for a time; raise `NotFound`, `Invalid` and `StoreError`.

        `found` is the list that it is in, where that was just made; `asked`: it is the one of `orrery doctor`,
        because only that knows it. `seen` is the `extent` that was shown.
        """
        found = found or await self.all()
        problem = _of_key(key, found)
        if seen and seen != problem.extent:
            raise Invalid(f"{problem.key} has changed since it was shown. Look at it again.")
        longest = longest_of(problem.severity)
        if time and time > longest:
            most = "24 h" if longest == LONGEST_URGENT else f"{longest.days} days"
            raise Invalid(f"{problem.key} can be acknowledged for {most} at most.")
        now = self._clock.now()
        aside = Acknowledgement(
            at=now,
            until=now + (time or longest),
            severity=problem.severity,
            items=problem.finding.items,
            asked=asked,
        )
        return await self._store_aside(problem, aside, found)

    async def end(self, key: str, found: Sequence[Problem] = ()) -> Problem:
        """End the acknowledgement of a problem; raise `NotFound` and `StoreError`."""
        found = found or await self.all()
        return await self._store_aside(_of_key(key, found), None, found)

    async def _store_aside(
        self, problem: Problem, aside: Acknowledgement | None, found: Sequence[Problem]
    ) -> Problem:
        """Store it; what was pushed before is over, so that the problem is pushed again when it comes back.

        The list that was `found` shows it at once.
        """

        async def attempt() -> Conflict | None:
            before, unchanged = await self._outages.replaceable(problem.key)
            before = before or PartOutage(part=problem.key, since=problem.since)
            after = before.change(acknowledged=aside, told_at=None, urgent=False)
            outcome = await commit(self._store, Changes([self._outages.put(after, problem.key)], [unchanged]))
            return outcome if isinstance(outcome, Conflict) else None

        await compare_and_set(attempt, f"What is known of {problem.key} changes all the time; nothing was done.")
        log.info("acknowledged" if aside else "acknowledgement ended", problem=problem.key)
        self.last = await self.among([one.finding for one in found])
        return _of_key(problem.key, self.last)


def aside_of(finding: Finding, known: Mapping[str, PartOutage], now: datetime) -> Acknowledgement | None:
    """Return the acknowledgement that holds for a finding, by what is stored of the parts."""
    outage = known.get(finding.part)
    return outage.aside(finding, now) if outage else None


def renamed(broken: Iterable[Finding], known: Mapping[str, PartOutage]) -> dict[str, str]:
    """Return the parts that are known by the name that they had while fewer nodes, or more, were there."""
    new = [one for one in broken if one.node and one.part not in known and one.otherwise in known]
    # A release of before noted no node: what it knew of several machines becomes that of the first.
    first = {one.otherwise: one.part for one in reversed(new) if known[one.otherwise].node in ("", one.node)}
    return {part: before for before, part in first.items()}


def explaining(broken: Mapping[str, Finding], known: Mapping[str, PartOutage], now: datetime) -> dict[str, int]:
    """Return the parts that others may follow from, with their severity: what is put aside explains nothing."""
    return {part: one.priority for part, one in broken.items() if not aside_of(one, known, now)}


def cause_of(finding: Finding, named: Iterable[str], causes: Mapping[str, int]) -> str:
    """Return the first part of these that a finding follows from: what matters less explains nothing."""
    return next((one for one in named if causes.get(one, 0) >= finding.priority), "")


def named(key: str, found: Sequence[Problem]) -> Problem:
    """Return the problem of a key, or the only one that it is a part of; raise `NotFound` and `Invalid`."""
    matching = [one for one in found if key.casefold() in one.key.casefold()]
    if len(matching) > 1 and not any(one.key == key for one in matching):
        listed = "; ".join(one.key for one in matching)
        raise Invalid(f"Several problems are called so. Name one of them: {listed}.")
    return matching[0] if len(matching) == 1 else _of_key(key, found)


def _of_key(key: str, found: Sequence[Problem]) -> Problem:
    for one in found:
        if one.key == key:
            return one
    listed = "; ".join(one.key for one in found) or "none"
    raise NotFound(f"There is no problem {key!r}. Those that there are: {listed}.")
