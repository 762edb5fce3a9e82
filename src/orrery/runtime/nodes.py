"""The nodes of a deployment: the services that share its store, each with a name.

    begun ──the first record──▶ heard of ──a signal to stop──▶ stopped
                                   └──60 s without a pulse──▶ silent, a problem until it is back or forgotten

A node writes its record when it changes, and each half minute. All times in it are the store's, as far as the node
knows by how much its clock differs.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pydantic import AwareDatetime

from orrery.errors import Invalid, NotFound, StoreError
from orrery.ports.clock import Clock
from orrery.ports.health import Finding, Round
from orrery.ports.panels import Panel, utc_text
from orrery.ports.store import Check, Conflict, Delete, Store
from orrery.record import Code, Id, Record, RecordPart, Sentence
from orrery.runtime.collection import FOR_EVER, Changes, Collection, commit, compare_and_set, write

EVERY = timedelta(seconds=10)
"""How often a node looks whether its record is still right, and the most often that it writes it."""

PULSE = timedelta(seconds=30)
"""How often it writes a record in which nothing has changed."""

SILENT = timedelta(seconds=60)
"""After this time without a pulse a node that has not stopped is a problem."""

KEPT = timedelta(days=1)
"""How long a node is known after it was heard of last."""

MOST_APART = timedelta(seconds=2)
"""How far the clocks of a node and of the store may differ: leases are judged by the node's."""

RELEASE = "release"
"""The release, among what the nodes should have in common."""

Presence = Literal["here", "away", "gone"]
"""Whether a node is heard of, has stopped or is silent, or is not known, as one that was forgotten."""

COLUMNS = ("node", "release", "state", "since", "heard_of", "clock_ahead")


class NodeFinding(RecordPart):
    """What is broken on a node's machine; the fields are those of `Finding`."""

    part: Code
    why: Sentence
    todo: Sentence
    severity: Literal[2, 3, 4, 5]
    cause: Code = ""
    early: bool = False
    items: tuple[Code, ...] = ()


class Node(Record):
    """A node as it was when it wrote last.

    `holder` is its process; `ahead` how many seconds its clock is, for certain, before the store's. `not_ready` is
    why it is not ready, or empty. `common` are digests of what the nodes should have in common.
    """

    name: Code
    holder: Id
    began: AwareDatetime
    heard: AwareDatetime
    ahead: float = 0.0
    stopped: bool = False
    not_ready: Sentence = ""
    common: Mapping[Code, Id] = {}
    findings: tuple[NodeFinding, ...] = ()

    @property
    def release(self) -> str:
        return self.common.get(RELEASE, "")

    def is_silent(self, now: datetime) -> bool:
        """Return whether it has stopped without saying so."""
        return not self.stopped and abs(now - self.heard) >= SILENT

    def is_live(self, now: datetime) -> bool:
        return not self.stopped and not self.is_silent(now)

    @property
    def is_apart(self) -> bool:
        """Whether its clock and the store's differ by more than they may."""
        return abs(self.ahead) > MOST_APART.total_seconds()

    def state(self, now: datetime) -> str:
        """Return how it is, in words."""
        if self.stopped or self.is_silent(now):
            return "stopped" if self.stopped else "silent"
        return f"not ready: {self.not_ready}" if self.not_ready else "ready"

    def row(self, now: datetime) -> dict[str, object]:
        """Return what is shown of it, by the names of `COLUMNS`."""
        shown = self.name, self.release, self.state(now), self.began, self.heard, self.ahead
        return dict(zip(COLUMNS, shown, strict=True))


@dataclass(frozen=True, slots=True)
class NodeIdentity:
    """This process among the nodes: its name, and what it should have in common with the others."""

    name: str
    holder: str
    common: Callable[[], Mapping[str, str]]


class Nodes:
    """What is known of the nodes, and the record of this one. A command knows them, and is none."""

    JOB = "node"

    def __init__(self, store: Store, clock: Clock, own: NodeIdentity) -> None:
        self._store, self._clock, self._own = store, clock, own
        self._records = Collection(store, clock, Node, "node:", life=FOR_EVER, derived=True)
        self._began: datetime | None = None
        self._seen: datetime | None = None
        self._jumped_at = float("-inf")
        self._over = set[str]()
        self.name = own.name
        self.known: Mapping[str, Node] = {}
        """All that `look` has found, by their names."""
        self.ahead = timedelta(0)
        """How far this machine's clock is before the store's."""
        self.namesake = False
        """Whether another service that runs has the name of this one."""

    async def read(self) -> None:
        """Read the nodes and the store's time; raise `StoreError`."""
        await self.look((await self._store.inspect()).ahead)

    async def look(self, ahead: timedelta) -> None:
        """Read the nodes; a store that fails has its own finding, and leaves what was known."""
        # As it is in the record: nodes that compare unlike figures would each take another for the right one.
        before, self.ahead = self.ahead, timedelta(seconds=round(ahead.total_seconds(), 1))
        jumped = abs(self.ahead - before) > MOST_APART or (abs(before) > MOST_APART) != self.is_apart
        if self._began and jumped and self.is_steady():
            self._jumped_at = self._clock.monotonic()
        self._began = self._began or self.now()
        with suppress(StoreError):
            found, now = (await self._records.all()).values(), self.now()
            # By the store's time: by a clock that is days ahead no other would be known, nor any by one behind.
            self.known = {one.name: one for one in found if abs(now - one.heard) < KEPT}
            self._over = {one.name for one in found} - {*self.known, self.name}

    def now(self) -> datetime:
        """Return the store's time."""
        return self._clock.now() - self.ahead

    @property
    def others(self) -> list[Node]:
        return [one for name, one in self.known.items() if name != self.name]

    @property
    def are_several(self) -> bool:
        """Whether there is another node that has not stopped."""
        return any(not one.stopped for one in self.others)

    def live(self) -> list[Node]:
        """Return the nodes that are heard of, the oldest first."""
        return sorted((one for one in self.known.values() if one.is_live(self.now())), key=lambda one: one.began)

    def holding_another(self, name: str, digest: str) -> tuple[str, ...]:
        """Return the other nodes that run with another value of what they should have in common."""
        digests = {one.name: one.common[name] for one in self._live_others() if name in one.common}
        return tuple(node for node, theirs in digests.items() if theirs != digest[: len(theirs) or None])

    def presence(self, name: str) -> Presence:
        """Return whether a node is there: of one that is not, nothing is known but what it found last."""
        node = self.known.get(name)
        if name == self.name or (node and node.is_live(self.now())):
            return "here"
        return "away" if node else "gone"

    @property
    def is_apart(self) -> bool:
        """Whether this machine's clock and the store's differ by more than they may."""
        return abs(self.ahead) > MOST_APART

    def gives_way(self) -> bool:
        """Return whether this node takes no lease: its clock is wrong, and a node whose clock is right is there.

        Alone it goes on: no other would do the jobs, and no lease is taken from another.
        """
        return self.is_apart and bool(self._right())

    def can_be_replaced(self) -> bool:
        """Return whether the clock is wrong and a node whose clock is right is ready; not right after a jump."""
        return self.is_apart and self.is_steady() and any(not one.not_ready for one in self._right())

    def is_steady(self) -> bool:
        """Return whether no clock has jumped lately.

        After a jump of the store's, a record is older or newer than it seems until its node writes again. Of a
        clock that jumps all the time, that is taken for the first half minute.
        """
        return self._clock.monotonic() - self._jumped_at >= PULSE.total_seconds()

    def agreeing(self) -> list[Node]:
        """Return the nodes that are heard of, if there are several and all clocks agree; the same at each node."""
        all_ahead = [self._seconds, *(one.ahead for one in self._live_others())]
        agree = len(all_ahead) > 1 and max(all_ahead) - min(all_ahead) <= MOST_APART.total_seconds()
        return self.live() if agree else []

    def as_wrong(self) -> list[Node]:
        """Return the other nodes whose clocks agree with this one, which is apart from the store's."""
        near = MOST_APART.total_seconds()
        return [one for one in self._live_others() if one.is_apart and abs(one.ahead - self._seconds) <= near]

    @property
    def _seconds(self) -> float:
        return self.ahead.total_seconds()

    def _right(self) -> list[Node]:
        return [one for one in self._live_others() if not one.is_apart]

    def _live_others(self) -> list[Node]:
        return [one for one in self.live() if one.name != self.name]

    async def pulse(self, last: Round) -> None:
        """Write the record of this node after a health round, where it changed or is old."""
        found, unchanged = await self._records.replaceable(self.name)
        if found and self._is_of_another(found):
            return
        new, now = self._record(last), self.now()
        is_kept = found and abs(now - found.heard) < PULSE and new.change(heard=found.heard) == found
        if not is_kept:
            _ = await self._write(new, unchanged)

    async def leave(self) -> None:
        """Note that this node has stopped, and was not lost; a cancelled pulse may be written meanwhile."""

        async def attempt() -> Conflict | None:
            found, unchanged = await self._records.replaceable(self.name)
            if found is None or found.holder != self._own.holder:
                return None
            return await self._write(found.change(stopped=True, heard=self.now(), findings=()), unchanged)

        await compare_and_set(attempt, "The record of this node changes all the time.")

    async def forget(self, name: str) -> Node:
        """Delete a node that was retired; raise `NotFound`, `StoreError`, and `Invalid` for one that runs."""
        if (node := self.known.get(name)) is None:
            raise NotFound(f"There is no node {name}. Those that there are: {', '.join(sorted(self.known))}.")
        if node.is_live(self.now()):
            raise Invalid(f"{name} runs: it was heard of at {utc_text(node.heard)}. Stop it first.")
        await write(self._store, [Delete(self._records.key(name))])
        return node

    async def panel(self) -> Panel | None:
        """Return a line for each node, where there are several."""
        if not self.others:
            return None
        now = self.now()
        rows = tuple(
            (one.name, one.release, one.state(now), *map(utc_text, (one.began, one.heard)), f"{one.ahead:+.1f} s")
            for one in self.all()
        )
        heads = tuple(one.replace("_", " ") for one in COLUMNS)
        return Panel("Nodes", f"{len(self.live())} of {len(rows)} run", "good", "", heads, rows)

    def all(self) -> list[Node]:
        """Return all that are known, by their names."""
        return [one for _, one in sorted(self.known.items())]

    def _is_of_another(self, found: Node) -> bool:
        """Return whether a record may be that of another service.

        A process that was killed leaves its record: that is taken over once it is silent. One that is renewed
        meanwhile is of a `namesake`, which was first.
        """
        self.namesake = False
        if found.holder == self._own.holder or not found.is_live(self.now()):
            self._seen = None
            return False
        self._seen = self._seen or found.heard
        self.namesake = found.heard != self._seen
        return True

    def _record(self, last: Round) -> Node:
        broken = [one for one in last.findings if one.state == "broken"]
        own = [one for one in broken if one.node == self.name]
        return Node(
            name=self.name,
            holder=self._own.holder,
            began=self._began or self.now(),
            heard=self.now(),
            ahead=self._seconds,
            not_ready="; ".join(f"{one.part}: {one.why}" for one in broken if one.essential),
            common=dict(self._own.common()),
            findings=tuple(_stored(one) for one in own),
        )

    async def _write(self, node: Node, unchanged: Check) -> Conflict | None:
        over = [Delete(self._records.key(one)) for one in self._over]
        outcome = await commit(self._store, Changes([self._records.put(node, self.name), *over], [unchanged]))
        return outcome if isinstance(outcome, Conflict) else None


def _stored(finding: Finding) -> NodeFinding:
    return NodeFinding(
        part=finding.plain,
        why=finding.why,
        todo=finding.todo,
        severity=finding.priority,
        cause=finding.cause,
        early=finding.early,
        items=finding.items,
    )


def silence_of(name: str) -> str:
    """Return the part that is broken while a node is silent."""
    return f"node {name}"


def ordered(nodes: Sequence[Node]) -> str:
    """Return names for a sentence."""
    return " and ".join(one.name for one in nodes)
