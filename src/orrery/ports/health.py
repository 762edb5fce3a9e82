"""The findings of checks, and the problems that they show: one list for every view (decision 59)."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

from orrery.syntax.money import money

PartState = Literal["ok", "broken", "off"]

Severity = Literal[2, 3, 4, 5]
"""The priorities of decision 54: 5 money, access, secrets or the gateway in danger, 4 act today, 3 have a look."""

URGENT: Final = 5

ACT_TODAY: Final = 4

_ON = " on "

_COMMAND = re.compile(r"`(orrery [^`]+)`")


@dataclass(frozen=True, slots=True)
class Concern:
    """Whom a problem concerns: the amount in its smallest unit, a masked address, a page at the processor."""

    product: str = ""
    amount: int | None = None
    currency: str = ""
    address: str = ""
    link: str = ""

    def __str__(self) -> str:
        """Return it for people: `49.00 USD, northwind/exam, a…@example.org`."""
        return self._listed(self.address)

    @property
    def in_a_push(self) -> str:
        """The same without the address: other companies' servers handle a push (decision 12)."""
        return self._listed("")

    def _listed(self, address: str) -> str:
        amount = "" if self.amount is None else money(self.amount, self.currency)
        return ", ".join(filter(None, (amount, self.product, address, self.link)))


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one part, the reason, and what to do. `off`: the part is not configured.

    The service is not ready while an `essential` part is broken: each check decides whether its part is one. What
    only a command looks at is not. `cause` names the part that this one follows from: while both are broken it is
    one fault, with a push about the cause only. `settled`: the part has judged its state over time, so that pushes
    about its beginning and its end need no further wait. `early`: the part is broken, and not for long enough for
    a push. `severity` is 5 for an essential part, else what the check decides. `items` are what it is about, such
    as the ids of sessions, a deadline, or the `magnitudes` of a count: a new one is a change, and is pushed. What
    has a `concern` is about one payment: its push is separate, and there is no push about its end.
    `of_settings`: it follows from the settings and the secrets: the service logs it at its start, and
    `orrery config check` shows it before. `of_machine`: it is about the machine or the process that checks, and
    not about what the nodes share. `node` is the node that such a finding is about.
    """

    part: str
    state: PartState
    why: str = ""
    todo: str = ""
    essential: bool = field(kw_only=True)
    cause: str = ""
    settled: bool = False
    early: bool = False
    severity: Severity = ACT_TODAY
    items: tuple[str, ...] = ()
    concern: Concern | None = None
    of_settings: bool = False
    of_machine: bool = False
    node: str = ""

    def on(self, node: str, *, several: bool) -> "Finding":
        """Return the same about a node; where there are several, the part has its name."""
        return replace(self, part=f"{self.part}{_ON}{node}" if several else self.part, node=node)

    @property
    def plain(self) -> str:
        """The part without the name of its node."""
        return self.part.removesuffix(f"{_ON}{self.node}") if self.node else self.part

    @property
    def otherwise(self) -> str:
        """The part as it is called while fewer nodes, or more, are there."""
        return self.plain if self.plain != self.part else f"{self.part}{_ON}{self.node}"

    @property
    def priority(self) -> Severity:
        """The severity of the problem that it is while it is broken."""
        return 5 if self.essential else self.severity

    @property
    def heading(self) -> str:
        """The part for a title: what it concerns, in place of an id at the end of its name."""
        kind, _, item = self.part.partition(":")
        what = self.concern and replace(self.concern, link="").in_a_push
        return f"{kind}, {what}" if item and what else self.part

    @property
    def in_a_push(self) -> str:
        """Why, what it concerns, what to do, and the command to type."""
        command = "" if _COMMAND.search(self.todo) else f"Look: `{self.command}`."
        concern = self.concern.in_a_push if self.concern else ""
        return " ".join(filter(None, (self.why, concern and f"{concern}.", self.todo, command)))

    @property
    def command(self) -> str:
        """The command to type: the first one in `todo`, or the one that shows more."""
        found = _COMMAND.search(self.todo)
        return found[1] if found else "orrery doctor"


def magnitudes(what: str, count: int) -> tuple[str, ...]:
    """Return a count as the items of a finding, one for each power of ten: past the next one it has changed."""
    return tuple(f"{what}: {10**power}" for power in range(len(str(count)))) if count else ()


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong: `finding` is broken. `key` is what `orrery ack` takes.

    `cause` is the key of the problem that it follows from, where that is in the list. `acknowledged`: the owner
    put it aside, until `until` where that is limited; it still counts.
    """

    finding: Finding
    since: datetime
    cause: str = ""
    acknowledged: bool = False
    until: datetime | None = None

    @property
    def extent(self) -> str:
        """How severe it is and what it concerns, as text that is equal only where both are."""
        items = hashlib.sha256("\n".join(self.finding.items).encode()).hexdigest()[:16]
        return f"{self.severity} {items}"

    @property
    def key(self) -> str:
        """The part, which names one problem."""
        return self.finding.part

    @property
    def severity(self) -> Severity:
        """How urgent it is."""
        return self.finding.priority

    @property
    def shown(self) -> tuple[str, str]:
        """Why, and what to do; of what is put aside, or follows from another problem, only that."""
        if self.acknowledged:
            until = f" until {self.until:%Y-%m-%d %H:%M} UTC" if self.until else ""
            return f"Acknowledged{until}.", f"`orrery ack {self.key} --end` brings it back."
        if self.cause:
            return f"It follows from {self.cause}.", ""
        concern = f" It concerns: {self.finding.concern}." if self.finding.concern else ""
        return f"{self.finding.why}{concern}", self.finding.todo

    @property
    def is_open(self) -> bool:
        """Whether it needs attention by itself: it is not acknowledged, and follows from no other."""
        return not self.acknowledged and not self.cause


def count_line(problems: Sequence[Problem]) -> str:
    """Return how many need attention, without those that follow from another, and how many are put aside."""
    wanting = sum(one.is_open for one in problems)
    aside = sum(one.acknowledged for one in problems)
    verb = "needs" if wanting == 1 else "need"
    attention = f"{wanting} {verb} attention" if wanting else "Nothing needs attention"
    return f"{attention}, {aside} acknowledged" if aside else attention


def as_row(problem: Problem) -> dict[str, object]:
    """Return a problem for `--json`: a time is one, and an amount is in its currency's smallest unit."""
    found = problem.finding
    return {
        "key": problem.key,
        "since": problem.since,
        "severity": problem.severity,
        "why": found.why,
        "todo": found.todo,
        "command": found.command,
        "concern": asdict(found.concern) if found.concern else None,
        "cause": problem.cause,
        "acknowledged": problem.acknowledged,
        "until": problem.until,
    }


@dataclass(frozen=True, slots=True)
class Round:
    """The findings of one check of all parts, and the time of its end."""

    at: datetime
    findings: Sequence[Finding]


def secret_part(name: str) -> str:
    """Return the name of a secret's part in findings."""
    return f"secret {name}"


def of_secret(
    part: str,
    name: str,
    what: str,
    *,
    present: bool,
    essential: bool,
    why: str = "It is missing.",
    of_settings: bool = False,
) -> Finding:
    """Return whether a part has its secret; `what` goes into the file."""
    if present:
        return Finding(part, "ok", essential=essential, of_machine=True)
    todo = f"Put {what} into the secret file {name}, and restart. `orrery secrets check` looks at it."
    cause = secret_part(name)
    return Finding(
        part, "broken", why, todo, cause=cause, of_settings=of_settings, essential=essential, of_machine=True
    )
